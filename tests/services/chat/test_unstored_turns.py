"""An answer that can't be stored when it ends, such as on a full disk."""

import pytest

from domain import LOCAL_USER, TurnState
from domain.errors import DamagedLedgerError, NotFoundError, StorageError
from storage.ledger.conversation_store import Conversations

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture
def services(imported):
    return imported()


@pytest.fixture
def full_disk(monkeypatch):
    """Function that answers a question whose turn can't be stored, and returns the turn."""

    def answer(services, conversation_id=None):
        def fail(self, principal, turn):
            turns.append(turn)
            raise StorageError("the disk is full")

        turns = []
        with monkeypatch.context() as full:
            full.setattr(Conversations, "finish_turn", fail)
            with pytest.raises(StorageError, match="full"):
                services.chat.ask(LOCAL_USER, QUESTION, conversation_id)
        return turns[-1]

    return answer


def test_it_is_stored_before_the_next_question(services, full_disk):
    first = full_disk(services)
    assert services.turns.get(LOCAL_USER, first.conversation_id, first.id).state == "running"
    other = services.chat.ask(LOCAL_USER, QUESTION)
    assert other.conversation_id != first.conversation_id
    stored = services.turns.get(LOCAL_USER, first.conversation_id, first.id)
    assert stored == first
    assert (stored.state, bool(stored.answer)) == (TurnState.COMPLETE, True)


def test_it_is_kept_while_the_disk_stays_full(services, full_disk):
    first = full_disk(services)
    second = full_disk(services, first.conversation_id)
    services.chat.ask(LOCAL_USER, QUESTION, first.conversation_id)
    turns = services.turns.list(LOCAL_USER, first.conversation_id)
    assert [turn.state for turn in turns] == [TurnState.COMPLETE] * 3
    assert turns[:2] == [first, second]


@pytest.mark.parametrize(
    "error", [NotFoundError("no conversation"), DamagedLedgerError("a damaged row", [])]
)
def test_a_turn_that_can_never_be_stored_does_not_block_questions(
    services, full_disk, monkeypatch, error
):
    full_disk(services)

    def gone(self, principal, turn):
        raise error

    with monkeypatch.context() as removed:
        removed.setattr(Conversations, "finish_turn", gone)
        services.chat._unstored.store_rest()
    assert services.chat.ask(LOCAL_USER, QUESTION).state is TurnState.COMPLETE
