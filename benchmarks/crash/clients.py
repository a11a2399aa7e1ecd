"""Clients of the API that remember which answers it acknowledged."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import httpx

from benchmarks.crash.scene import QUESTION
from benchmarks.threads import running_threads
from bootstrap.services import Services
from domain import LOCAL_USER, TurnState

COUNT = 4
_ENDED = "the process ended before the answer was complete"


class Clients:
    """Each client asks in a conversation of its own, as long as the API answers."""

    def __init__(self, secret: str, port: int) -> None:
        self.port = port
        self.acknowledged: list[dict[str, Any]] = []
        """The turns that the API returned, in the order of their ends."""
        self._secret = secret
        self._ended = threading.Event()

    @property
    def conversations(self) -> set[str]:
        """The conversations with an acknowledged turn."""
        return {turn["conversation_id"] for turn in self.acknowledged}

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask in threads until the end of the block."""
        with running_threads([self._ask] * COUNT, self._ended):
            yield

    def _ask(self) -> None:
        headers = {"Authorization": f"Bearer {self._secret}"}
        body: dict[str, str] = {"question": QUESTION}
        with httpx.Client(
            base_url=f"http://127.0.0.1:{self.port}", headers=headers, timeout=30
        ) as http:
            while not self._ended.is_set():
                with suppress(httpx.TransportError):  # not started yet, or killed
                    turn = http.post("/api/v1/ask", json=body).raise_for_status().json()
                    self.acknowledged.append(turn)
                    body["conversation_id"] = turn["conversation_id"]
                    continue
                time.sleep(0.02)

    def faults(self, services: Services) -> list[str]:
        """Acknowledged turns that are not stored as returned, and turns in an unexpected state."""
        stored = {
            turn.id: turn
            for conversation in services.conversations.page(LOCAL_USER, limit=100).items
            for turn in services.turns.list(LOCAL_USER, conversation.id)
        }
        lost = [
            f"turn {turn['id']} was acknowledged but is not stored as it was returned"
            for turn in self.acknowledged
            if turn["id"] not in stored
            or stored[turn["id"]].answer != turn["answer"]
            or stored[turn["id"]].state != turn["state"]
        ]
        partial = [
            f"turn {turn.id} is {turn.state}: {turn.error}"
            for turn in stored.values()
            if turn.state is not TurnState.COMPLETE and not str(turn.error).startswith(_ENDED)
        ]
        return lost + partial
