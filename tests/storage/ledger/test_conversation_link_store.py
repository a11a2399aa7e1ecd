from datetime import UTC, datetime, timedelta

import pytest

from domain import Principal
from domain.errors import NotFoundError
from storage.ledger.audit_store import AuditFilter, AuditLog
from storage.ledger.conversation_link_store import ConversationLinks
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

ANNA, BERT = Principal("anna"), Principal("bert")


@pytest.fixture
def database(tmp_path):
    return open_ledger(tmp_path)


@pytest.fixture
def links(database):
    return ConversationLinks(database)


@pytest.fixture
def conversation_id(database):
    return Conversations(database).start_first_turn(ANNA, "Leave", "How much?").conversation_id


def actions(database):
    return [event.action for event in AuditLog(database).list(AuditFilter(), 9)]


def test_a_conversation_has_one_link_which_can_be_read_again(links, conversation_id, database):
    assert links.find(ANNA, conversation_id) is None
    link = links.add(ANNA, conversation_id, "token-1")
    assert links.add(ANNA, conversation_id, "token-2") == link
    assert links.find(ANNA, conversation_id) == link
    assert actions(database) == ["conversation.shared"]


def test_whoever_has_the_token_gets_the_conversation_with_all_turns(
    links, conversation_id, database
):
    second = Conversations(database).start_turn(ANNA, conversation_id, "Why?")
    other = Conversations(database).start_turn(ANNA, conversation_id, "Who?", parent_id=None)
    Conversations(database).show(ANNA, conversation_id, second.id)
    links.add(ANNA, conversation_id, "token-1")
    conversation, turns, shown = links.follow("token-1")
    assert (conversation.user_id, conversation.title) == ("anna", "Leave")
    assert [turn.question for turn in turns] == ["How much?", "Why?", "Who?"]
    assert shown == [turns[0].id, second.id]
    assert other.id not in shown


def test_a_removed_link_no_longer_works(links, conversation_id, database):
    links.add(ANNA, conversation_id, "token-1")
    links.remove(ANNA, conversation_id)
    links.remove(ANNA, conversation_id)
    with pytest.raises(NotFoundError) as removed:
        links.follow("token-1")
    with pytest.raises(NotFoundError) as unknown:
        links.follow("never")
    assert str(removed.value) == str(unknown.value)
    assert actions(database) == ["conversation.unshared", "conversation.shared"]


def test_only_the_owner_sees_and_changes_the_link(links, conversation_id):
    links.add(ANNA, conversation_id, "token-1")
    for call in (links.find, links.remove, lambda *of: links.add(*of, "token-2")):
        with pytest.raises(NotFoundError):
            call(BERT, conversation_id)
    assert links.follow("token-1").conversation.id == conversation_id


def test_the_link_of_a_deleted_conversation_works_again_only_once_it_is_restored(
    links, conversation_id, database
):
    links.add(ANNA, conversation_id, "token-1")
    conversations, now = ConversationList(database), datetime.now(UTC)
    conversations.delete(ANNA, conversation_id, now)
    assert links.list("anna") == []
    with pytest.raises(NotFoundError):
        links.follow("token-1")
    conversations.restore(ANNA, conversation_id)
    assert [link.token for link in links.list("anna")] == ["token-1"]
    assert links.follow("token-1").shown
    conversations.delete(ANNA, conversation_id, now)
    conversations.purge(now + timedelta(seconds=1))
    links.add(ANNA, Conversations(database).create(ANNA, "Other").id, "token-1")
