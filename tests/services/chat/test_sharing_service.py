"""What the readers of a shared conversation see, and what stays hidden from them."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain import Citation, CitationState, Principal, RetrievedPassage, SearchChoice, Step, Turn
from domain import TurnState as State
from domain.errors import NotFoundError
from domain.turns import Conversation
from services.chat.sharing_service import SharingService
from storage.ledger.account_store import Accounts
from storage.ledger.conversation_link_store import ConversationLinks
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.document_store import document_id
from tests.fakes.library import DictLoader, Library
from tests.services.administration.conftest import account

ANNA, BERT = Principal("anna"), Principal("bert")
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"a.md": "Leave.", "b.md": "Network."}))
    return library


@pytest.fixture
def sharing(library):
    accounts = Accounts(library.database)
    accounts.put(account("Anna Lee"))
    links = ConversationLinks(library.database)
    return SharingService(links, library.access, accounts, "https://docs.example.com")


def answered(n, document, parent=None, **values):
    """A turn whose question, answer, and evidence name its number."""
    source = RetrievedPassage(1, f"p{n}", document, f"Title {n}", "/docs", f"Passage {n}.")
    citation = Citation(
        1, CitationState.VERIFIED, f"Passage {n}.", document_id=document, passage_text="Passage."
    )
    turn = Turn(
        f"t{n}",
        "c1",
        f"Question {n}?",
        State.COMPLETE,
        NOON,
        standalone_question=f"Standalone {n}",
        answer=f"Answer {n} [1].",
        sources=(source,),
        citations=(citation,),
        parent_id=parent,
    )
    return replace(turn, **values)


@pytest.fixture
def share(library, sharing):
    """A function that shares a conversation of Anna with these turns, and returns the token."""

    def share(*turns):
        conversation = Conversation("c1", "anna", "Question 1?", NOON, NOON, turns[-1].id)
        ConversationList(library.database).add(ANNA, conversation, turns)
        return sharing.share(ANNA, "c1").token

    return share


@pytest.fixture
def documents(library):
    return [document_id(library.source.id, key) for key in ("a.md", "b.md")]


def hide(library, document, *readers):
    library.access.restrictions.restrict_documents({document: [frozenset(readers)]})


def test_a_reader_sees_the_shown_branch_with_the_name_of_the_owner(sharing, share, documents):
    token = share(answered(1, documents[0]), answered(2, documents[1], "t1"))
    shown = sharing.follow(BERT, token)
    assert (shown.owner, shown.title, shown.withheld) == ("Anna Lee", "Question 1?", 0)
    assert [turn.answer for turn in shown.turns] == ["Answer 1 [1].", "Answer 2 [1]."]
    assert shown.turns[0].citations[0].quote == "Passage 1."


def test_nothing_that_concerns_only_the_owner_is_shown(sharing, share, documents):
    turn = answered(
        1,
        documents[0],
        reasoning="Thoughts",
        steps=(Step(1, "search_documents", {"query": "secret"}, result="Result"),),
        search=SearchChoice(by_agent=True),
        error="Failed",
        usage={"input_tokens": 3},
    )
    [shown] = sharing.follow(BERT, share(turn)).turns
    assert shown == Turn(
        "t1", "", "Question 1?", State.COMPLETE, NOON, answer="Answer 1 [1].",
        sources=turn.sources, citations=turn.citations,
    )  # fmt: skip


def test_a_turn_with_an_unreadable_document_is_withheld_with_all_that_follows(
    sharing, share, documents, library
):
    hidden, open_ = documents
    token = share(answered(1, open_), answered(2, hidden, "t1"), answered(3, open_, "t2"))
    hide(library, hidden, "user:anna")
    shown = sharing.follow(BERT, token)
    assert [turn.question for turn in shown.turns] == ["Question 1?"]
    assert (shown.title, shown.withheld) == ("", 2)
    assert not any(one in repr(shown) for one in ("Question 2", "Question 3", "Passage 2"))
    assert sharing.follow(ANNA, token).withheld == 0


def test_the_title_is_withheld_if_only_another_branch_has_an_unreadable_document(
    sharing, share, documents, library
):
    token = share(answered(1, documents[0]), answered(2, documents[1]))
    hide(library, documents[0], "user:anna")
    shown = sharing.follow(BERT, token)
    assert (shown.title, shown.withheld) == ("", 0)
    assert [turn.question for turn in shown.turns] == ["Question 2?"]


def test_an_answer_from_a_removed_document_is_withheld(sharing, share, documents, library):
    token = share(answered(1, documents[0]), answered(2, documents[1], "t1"))
    library.load(DictLoader({"a.md": "Leave."}), confirm_removals=True)
    shown = sharing.follow(BERT, token)
    assert ([turn.id for turn in shown.turns], shown.withheld) == (["t1"], 1)


def test_text_of_a_document_that_the_library_does_not_know_is_withheld(sharing, share):
    shown = sharing.follow(BERT, share(answered(1, "")))
    assert (shown.turns, shown.withheld) == ([], 1)


def test_a_citation_of_an_unknown_document_alone_is_withheld(sharing, share, documents):
    turn = answered(1, documents[0])
    unknown = replace(turn.citations[0], document_id="")
    assert sharing.follow(BERT, share(replace(turn, citations=(unknown,)))).withheld == 1


def test_a_citation_of_a_number_that_no_source_has_is_shown(sharing, share, documents):
    invented = Citation(7, CitationState.NO_SUCH_SOURCE, "")
    turn = answered(1, documents[0], citations=(invented,))
    assert sharing.follow(BERT, share(turn)).withheld == 0


@pytest.mark.parametrize("tool", ["list_sources", "tool_of_a_server"])
def test_an_answer_with_a_tool_that_records_no_sources_is_withheld(sharing, share, documents, tool):
    turn = answered(1, documents[0], steps=(Step(1, tool, {}, result="Salaries"),))
    assert sharing.follow(BERT, share(turn)).withheld == 1


def test_an_answer_that_may_tell_of_an_uncited_unreadable_document_is_withheld(
    sharing, share, documents, library
):
    open_, hidden = documents
    step = Step(1, "ask_documents", {}, result="Salaries")
    token = share(answered(1, open_, steps=(step,), basis=(open_, hidden)))
    assert sharing.follow(BERT, token).withheld == 0
    hide(library, hidden, "user:anna")
    assert sharing.follow(BERT, token).withheld == 1


def test_greetings_and_failures_are_left_out(sharing, share, documents):
    greeting = answered(1, "", sources=(), citations=(), standalone_question="")
    failure = answered(2, "", "t1", sources=(), citations=(), answer="", state=State.FAILED)
    nothing = answered(3, "", "t2", sources=(), citations=(), answer="I found nothing.")
    shown = sharing.follow(BERT, share(greeting, failure, nothing))
    assert ([turn.id for turn in shown.turns], shown.withheld) == (["t3"], 0)


def test_an_owner_without_an_account_is_named_by_the_user_id(sharing, library):
    owner = Principal("reports")
    conversation = Conversation("c2", "reports", "Empty", NOON, NOON)
    ConversationList(library.database).add(owner, conversation, [])
    shown = sharing.follow(BERT, sharing.share(owner, "c2").token)
    assert (shown.owner, shown.title, shown.turns) == ("reports", "Empty", [])


def test_the_address_names_the_token_on_the_pages(sharing, share, documents):
    token = share(answered(1, documents[0]))
    link = sharing.link(ANNA, "c1")
    assert len(token) == 43
    assert link.address == f"https://docs.example.com/?shared={token}"
    assert replace(sharing, public_url="").link(ANNA, "c1").address == ""


def test_each_new_link_has_another_token(sharing, share, documents):
    token = share(answered(1, documents[0]))
    sharing.unshare(ANNA, "c1")
    assert sharing.link(ANNA, "c1") is None
    assert sharing.share(ANNA, "c1").token != token
    with pytest.raises(NotFoundError, match="no longer shared"):
        sharing.follow(BERT, token)
