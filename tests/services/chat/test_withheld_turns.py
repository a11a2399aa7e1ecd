from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain import (
    Citation,
    CitationState,
    Principal,
    RetrievedPassage,
    Step,
    Turn,
    TurnState,
)
from services.chat.withheld_turns import WITHHELD, readable_turns
from storage.ledger.document_store import document_id
from storage.ledger.restriction_store import source_restriction
from tests.fakes.library import DictLoader, Library

ANNA = Principal("anna")


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"a.md": "Leave.", "b.md": "Network."}))
    return library


def turn(document, question="How much leave?"):
    return Turn(
        "t1",
        "c1",
        question,
        TurnState.COMPLETE,
        datetime(2026, 11, 1, tzinfo=UTC),
        standalone_question="How much leave is there?",
        answer="25 days [1].",
        sources=(RetrievedPassage(1, "p1", document, "Leave", "/docs/a.md", "25 days"),),
        citations=(Citation(1, CitationState.VERIFIED, "25 days", document_id=document),),
        steps=(Step(1, "search_documents", {}, result="25 days"),),
        reasoning="The document says 25 days.",
    )


def test_turns_with_readable_evidence_are_unchanged(library):
    turns = [turn(document_id(library.source.id, "a.md"))]
    assert readable_turns(library.access, ANNA, turns) == turns


def test_an_answer_from_an_unreadable_document_is_withheld_with_all_of_its_evidence(library):
    hidden, readable = (document_id(library.source.id, key) for key in ("a.md", "b.md"))
    library.access.restrictions.restrict_documents({hidden: [frozenset({"group:hr"})]})
    withheld, other = readable_turns(library.access, ANNA, [turn(hidden), turn(readable)])
    assert withheld.question == "How much leave?"
    assert withheld.answer == str(WITHHELD)
    assert "25" not in repr(withheld)
    assert "How much leave is there?" not in repr(withheld)
    assert other == turn(readable)


def test_a_turn_is_withheld_with_what_else_it_may_tell_of(library):
    hidden, readable = (document_id(library.source.id, key) for key in ("a.md", "b.md"))
    other = library.sources.ensure("directory", "/secret", name="Secret plans").id
    follow_up = replace(turn(readable), basis=(hidden, readable))
    listing = replace(turn(readable), basis=(library.source.id, other))
    assert readable_turns(library.access, ANNA, [follow_up, listing]) == [follow_up, listing]
    library.access.restrictions.restrict_documents({hidden: [frozenset({"group:hr"})]})
    library.access.restrictions.restrict(source_restriction(other), ["group:hr"])
    for one in readable_turns(library.access, ANNA, [follow_up, listing]):
        assert (one.answer, one.basis) == (str(WITHHELD), ())


def test_the_answer_returns_with_the_permission(library):
    hidden = document_id(library.source.id, "a.md")
    library.access.restrictions.restrict_documents({hidden: [frozenset({"group:hr"})]})
    member = Principal("anna", frozenset({"hr"}))
    assert readable_turns(library.access, member, [turn(hidden)]) == [turn(hidden)]
