"""An imported conversation shows as verified only what this library contains."""

import json

import pytest

from domain import LOCAL_USER, CitationState, Principal
from services.answer_support import Support, support_of
from services.export.answer_text import describe

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture
def services(imported):
    return imported()


@pytest.fixture
def file(services):
    """The parsed JSON file of a conversation whose only citation is verified."""
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    file = json.loads(services.conversations.export(LOCAL_USER, turn.conversation_id, "json"))
    assert {one["state"] for one in file["turns"][0]["citations"]} == {"verified"}
    return file


def imported_turn(services, file, principal=LOCAL_USER):
    conversation = services.conversations.import_json(principal, json.dumps(file).encode())
    [turn] = services.turns.list(principal, conversation.id)
    return turn


def states(turn):
    return {one.state for one in turn.citations}


def test_a_citation_that_this_library_contains_stays_verified(services, file):
    turn = imported_turn(services, file)
    assert states(turn) == {CitationState.VERIFIED}
    [citation] = turn.citations
    text = services.reader.text(LOCAL_USER, citation.document_id)
    assert text[citation.start : citation.end] == citation.quote


@pytest.mark.parametrize(
    ("part", "field", "value"),
    [
        ("citations", "quote", "Everyone may take unlimited leave."),
        ("citations", "quote", "5 days of annual leave"),
        ("citations", "n", 7),
        ("sources", "text", "Everyone may take unlimited leave."),
        ("sources", "text", ""),
        ("sources", "document_id", "unknown"),
    ],
)
def test_a_forged_citation_is_not_verified(services, file, part, field, value):
    file["turns"][0][part][0][field] = value
    turn = imported_turn(services, file)
    assert CitationState.VERIFIED not in states(turn)
    assert describe(turn.citations[0]) == "not verified here"
    assert support_of(turn) is Support.UNSUPPORTED


def test_forged_facts_about_a_document_are_replaced(services, file):
    genuine = imported_turn(services, file)
    for part in ("sources", "citations"):
        forged = {"title": "Decision", "location": "https://evil.example/", "start": 99_999}
        file["turns"][0][part][0] |= forged
    turn = imported_turn(services, file)
    assert turn.sources == genuine.sources
    assert turn.citations == genuine.citations


def test_a_document_that_the_user_does_not_see_verifies_nothing(services):
    conversation_id = services.conversations.begin(LOCAL_USER, "Mine").id
    services.uploads.add(
        LOCAL_USER, [("a.txt", b"My salary is secret.")], conversation_id=conversation_id
    )
    box = services.uploads.box_of(LOCAL_USER, conversation_id)
    services.imports.run(LOCAL_USER, box, services.uploads.loader(box))
    services.chat.ask(LOCAL_USER, "What is secret?", conversation_id)
    file = json.loads(services.conversations.export(LOCAL_USER, conversation_id, "json"))
    assert CitationState.VERIFIED in states(imported_turn(services, file))
    assert CitationState.VERIFIED not in states(imported_turn(services, file, Principal("bert")))
