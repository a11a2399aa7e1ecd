from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain import Conversation, Principal, SearchChoice, SearchMode, Turn, TurnState
from domain.errors import NotFoundError
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

ANNA, BERT = Principal("anna"), Principal("bert")
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


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
def four_conversations(conversations):
    for n in (2, 0, 3, 1):
        conversations.add(ANNA, conversation(n), turns(n))
    return conversations


def test_conversations_are_listed_page_by_page_from_the_newest(four_conversations):
    first = four_conversations.page(ANNA, limit=3)
    rest = four_conversations.page(ANNA, limit=3, offset=3)
    assert [item.title for item in [*first, *rest]] == [f"Number {n}" for n in (3, 2, 1, 0)]
    assert four_conversations.count(ANNA) == 4
    assert four_conversations.count(BERT) == 0


def test_an_added_conversation_contains_all_branches_in_order(four_conversations, database):
    assert four_conversations.whole(ANNA, "c1") == (conversation(1), turns(1))
    assert Conversations(database).turns(ANNA, "c1") == turns(1)[:2]


def test_an_added_conversation_belongs_to_the_calling_user(conversations):
    conversations.add(BERT, conversation(1), turns(1))
    assert conversations.whole(BERT, "c1")[0].user_id == "bert"
    with pytest.raises(NotFoundError):
        conversations.whole(ANNA, "c1")


def test_words_are_searched_in_all_turns_of_a_conversation(four_conversations):
    def matching_ids(*words):
        return [item.id for item in four_conversations.page(ANNA, words, limit=50)]

    assert matching_ids("first", "number", "2") == ["c2"]
    assert matching_ids("INSTEAD") == ["c3", "c2", "c1", "c0"]
    assert matching_ids("first", "third") == []
    assert four_conversations.page(BERT, ["first"], limit=50) == []


def test_matches_are_counted_and_listed_page_by_page(four_conversations):
    first = four_conversations.page(ANNA, ["instead"], limit=3)
    rest = four_conversations.page(ANNA, ["instead"], limit=3, offset=3)
    assert [item.id for item in [*first, *rest]] == ["c3", "c2", "c1", "c0"]
    assert four_conversations.count(ANNA, ["instead"]) == 4
    assert four_conversations.count(ANNA, ["first", "2"]) == 1
    assert four_conversations.count(BERT, ["instead"]) == 0


def test_a_new_title_replaces_the_old_one_in_the_search(four_conversations):
    four_conversations.rename(ANNA, "c1", "Ｌｅａｖｅ １００%")
    assert [item.id for item in four_conversations.page(ANNA, ["leave", "0%"], limit=9)] == ["c1"]
    assert four_conversations.count(ANNA, ["number", "1"]) == 0


def test_an_answer_is_found_as_soon_as_it_is_stored(four_conversations, database):
    store = Conversations(database)
    turn = store.start_first_turn(ANNA, "Leave", "How many days?")
    assert four_conversations.count(ANNA, ["leave", "days"]) == 1
    assert four_conversations.count(ANNA, ["fifteen"]) == 0
    for answer in ("Fif", "Fifteen"):
        store.finish_turn(ANNA, replace(turn, answer=answer, state=TurnState.COMPLETE))
    assert four_conversations.count(ANNA, ["fifteen", "leave"]) == 1


def test_purging_removes_only_old_deleted_conversations_and_their_turns(
    four_conversations, database
):
    four_conversations.delete(ANNA, "c1", NOON)
    four_conversations.delete(ANNA, "c2", NOON + timedelta(seconds=1))
    assert four_conversations.purge(NOON) == 0
    assert four_conversations.purge(NOON + timedelta(seconds=1)) == 1
    with pytest.raises(NotFoundError):
        four_conversations.restore(ANNA, "c1")
    four_conversations.restore(ANNA, "c2")
    assert four_conversations.count(ANNA) == 3
    # Adding it again succeeds because its turns were removed, too.
    four_conversations.add(ANNA, conversation(1), turns(1))
    assert four_conversations.whole(ANNA, "c1")[1] == turns(1)


@pytest.mark.parametrize("principal", [ANNA, BERT])
def test_only_existing_conversations_of_the_user_can_be_changed(four_conversations, principal):
    four_conversations.delete(ANNA, "c1", NOON)
    missing_id = "c1" if principal is ANNA else "c2"
    for change in (
        lambda: four_conversations.rename(principal, missing_id, "Mine"),
        lambda: four_conversations.remember(principal, missing_id, SearchChoice()),
        lambda: four_conversations.delete(principal, missing_id, NOON),
        lambda: four_conversations.whole(principal, missing_id),
    ):
        with pytest.raises(NotFoundError):
            change()
    assert four_conversations.whole(ANNA, "c2")[0] == conversation(2)
