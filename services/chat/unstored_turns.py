"""Answers that could not be stored when they ended, such as on a full disk."""

import threading
from collections import deque

from domain import Principal, Turn
from domain.errors import DamagedLedgerError, NotFoundError, StorageError
from domain.logs import get_logger
from storage.ledger.conversation_store import Conversations

_log = get_logger("questions")


class UnstoredTurns:
    """Stores finished turns, and keeps those that can't be stored until it succeeds.

    Without this, a turn would remain in the state `running` as long as this process runs.
    """

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
        self._lock = threading.Lock()
        self._turns = deque[tuple[Principal, Turn]]()

    def store(self, principal: Principal, turn: Turn) -> None:
        """Store a finished turn.

        Raises:
            StorageError: It can't be stored now; `store_rest` will try again.
            NotFoundError: The conversation was permanently deleted.
        """
        try:
            self._conversations.finish_turn(principal, turn)
        except StorageError:
            self._turns.append((principal, turn))
            raise

    def store_rest(self) -> None:
        """Store the turns that could not be stored before, oldest first.

        If one still can't be stored, it and the later ones remain. A turn of a conversation that
        is gone or damaged is dropped.
        """
        with self._lock:
            while self._turns:
                try:
                    self._conversations.finish_turn(*self._turns[0])
                except (NotFoundError, DamagedLedgerError) as error:
                    _log.warning("answer dropped", reason=type(error).__name__)
                except StorageError:
                    return
                self._turns.popleft()
