"""An imported conversation shows as verified only what this library contains."""

import json

import pytest

from domain import LOCAL_USER, Citation, CitationState, Principal
from services.answer_support import Support, support_of
from services.export.answer_text import describe
from services.export.imported_evidence import _Known, _position

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
        forged |= {"page": 7, "heading_path": ["Decisions of the board"]}
        file["turns"][0][part][0] |= forged
    file["turns"][0]["sources"][0] |= {"score": 1.0, "hits": [["x", 0, 1]]}
    turn = imported_turn(services, file)
    assert turn.sources == genuine.sources
    assert turn.citations == genuine.citations
    assert {(one.score, one.why, one.hits) for one in turn.sources} == {(None, None, ())}


def test_a_passage_does_not_get_the_id_of_another_one(services, file):
    sources = file["turns"][0]["sources"]
    sources[0]["passage_id"] = sources[1]["passage_id"]
    sources[1]["text"] = "Forged."
    turn = imported_turn(services, file)
    assert [one.passage_id for one in turn.sources[:2]] == ["", ""]


@pytest.mark.parametrize("state", ["verified", "not found"])
def test_a_source_that_is_not_confirmed_leads_nowhere(services, file, state):
    for part in ("sources", "citations"):
        file["turns"][0][part][0]["location"] = "https://evil.example/"
    file["turns"][0]["sources"][0]["text"] = "Everyone may take unlimited leave."
    file["turns"][0]["citations"][0]["state"] = state
    turn = imported_turn(services, file)
    [citation], source = turn.citations, turn.sources[0]
    assert {source.document_id, source.location} == {""}
    assert {citation.document_id, citation.location} == {""}


def test_a_quote_is_found_where_the_document_states_it():
    quote = Citation(1, CitationState.VERIFIED, "25 days of annual leave")
    other = "125 days of annual leave cost much. " + "Other words. " * 40
    text = f"{other * 3}Leave is 25 days of annual leave."
    assert _position(quote, _Known(None, text)) == text.rindex(quote.quote)
    assert _position(quote, _Known(None, other * 200)) == -1


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
