from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain import Conversation, Principal, SearchChoice, SearchMode, Turn, TurnState
from errors import NotFoundError
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import open_database

ANNA, BERT = Principal("anna"), Principal("bert")
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def database(tmp_path):
    return open_database(tmp_path)


@pytest.fixture
def conversations(database):
    return ConversationList(database)


def conversation(n, principal=ANNA):
    at = NOON + timedelta(minutes=n)
    search = SearchChoice(mode=SearchMode.BM25)
    return Conversation(f"c{n}", principal.user_id, f"Number {n}", at, at, f"t{n}b", search)


def turns(n):
    first = Turn(f"t{n}a", f"c{n}", f"First {n}?", TurnState.COMPLETE, NOON, answer="Yes.")
    second = replace(first, id=f"t{n}b", question=f"Second {n}?", parent_id=first.id)
    return [first, second, replace(second, id=f"t{n}c", question="Instead?")]


@pytest.fixture
def filled(conversations):
    for n in (2, 0, 3, 1):
        conversations.add(ANNA, conversation(n), turns(n))
    return conversations


def test_pages_follow_each_other_from_the_newest(filled):
    first = filled.page(ANNA, limit=3)
    rest = filled.page(ANNA, limit=3, offset=3)
    assert [one.title for one in [*first, *rest]] == [f"Number {n}" for n in (3, 2, 1, 0)]
    assert filled.count(ANNA) == 4
    assert filled.count(BERT) == 0


def test_what_was_added_is_whole_with_all_branches_in_their_order(filled, database):
    assert filled.whole(ANNA, "c1") == (conversation(1), turns(1))
    assert Conversations(database).turns(ANNA, "c1") == turns(1)[:2]


def test_what_is_added_belongs_to_who_adds_it(conversations):
    conversations.add(BERT, conversation(1), turns(1))
    assert conversations.whole(BERT, "c1")[0].user_id == "bert"
    with pytest.raises(NotFoundError):
        conversations.whole(ANNA, "c1")


def test_words_are_looked_for_in_all_turns_together(filled):
    def found(*words):
        return [one.id for one in filled.holding(ANNA, words)]

    assert found("first", "number", "2") == ["c2"]
    assert found("INSTEAD") == ["c3", "c2", "c1", "c0"]
    assert found("first", "third") == []
    assert filled.holding(BERT, ["first"]) == []


def test_purging_takes_the_turns_and_nothing_that_is_kept(filled, database):
    filled.delete(ANNA, "c1", NOON)
    filled.delete(ANNA, "c2", NOON + timedelta(seconds=1))
    assert filled.purge(NOON) == 0
    assert filled.purge(NOON + timedelta(seconds=1)) == 1
    with pytest.raises(NotFoundError):
        filled.restore(ANNA, "c1")
    filled.restore(ANNA, "c2")
    assert filled.count(ANNA) == 3
    filled.add(ANNA, conversation(1), turns(1))  # none of its turns is left behind
    assert filled.whole(ANNA, "c1")[1] == turns(1)


@pytest.mark.parametrize("whose", [ANNA, BERT])
def test_only_an_own_conversation_is_changed(filled, whose):
    filled.delete(ANNA, "c1", NOON)
    gone = "c1" if whose is ANNA else "c2"
    for change in (
        lambda: filled.rename(whose, gone, "Mine"),
        lambda: filled.remember(whose, gone, SearchChoice()),
        lambda: filled.delete(whose, gone, NOON),
        lambda: filled.whole(whose, gone),
    ):
        with pytest.raises(NotFoundError):
            change()
    assert filled.whole(ANNA, "c2")[0] == conversation(2)
