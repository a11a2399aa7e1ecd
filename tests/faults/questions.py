"""Clients that ask through the two APIs all the time, and what they count as a failure.

A question that fails in a way that may pass is asked again at the other API: at once, as a load
balancer does, and then after the seconds of Retry-After, or one second, until a minute has passed.
"""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx

from benchmarks.threads import running_threads

CLIENTS = 4
RETRY_S = 60.0
"""How long a client repeats a question."""
_ATTEMPT_S = 15.0
"""How long a client waits for an answer, such as that of a process that is paused."""
_PAUSE_S = 0.3


@dataclass
class Question:
    """A question, why its attempts failed, and the turn that answered it."""

    code: str
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)
    turn: Mapping[str, Any] | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether it was answered without the document that has been in the library all along."""
        return self.turn is not None and self.code not in str(self.turn["answer"])


class Clients:
    """Threads that ask for the codes of gates, each in a conversation of its own."""

    def __init__(self, urls: Sequence[str], key: str, codes: Mapping[str, str]) -> None:
        """Create the clients; `codes` are the answers by the name of the gate."""
        self.questions: list[Question] = []
        self._urls, self._codes = urls, codes
        self._headers = {"Authorization": f"Bearer {key}"}
        self._ended = threading.Event()

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Ask until the end of the block; questions that have begun are finished."""
        clients = [partial(self._ask_on, n) for n in range(CLIENTS)]
        with running_threads(clients, self._ended):
            yield

    def failed(self, attempts: int | None = None) -> list[Question]:
        """The questions without an answer in so many attempts; None for as many as there were."""
        if attempts is None:
            return [one for one in self.questions if one.turn is None]
        return [one for one in self.questions if len(one.failures) >= attempts]

    def messages(self) -> Counter[str]:
        """Why attempts failed, and how often."""
        return Counter(message for one in self.questions for message in one.failures)

    def _ask_on(self, number: int) -> None:
        drawn = random.Random(number)
        with httpx.Client(headers=self._headers, timeout=_ATTEMPT_S, trust_env=False) as http:
            while not self._ended.wait(_PAUSE_S):
                gate = drawn.choice(sorted(self._codes))
                self.questions.append(self._ask(http, gate, drawn.randrange(len(self._urls))))

    def _ask(self, http: httpx.Client, gate: str, first: int) -> Question:
        question, began = Question(self._codes[gate]), time.monotonic()
        body = {"question": f"What is the access code of the {gate} gate?"}
        while True:
            url = self._urls[(first + len(question.failures)) % len(self._urls)]
            wait_s = self._attempt(http, url, body, question)
            question.seconds = time.monotonic() - began
            if wait_s is None or question.seconds > RETRY_S:
                return question
            if len(question.failures) > 1:
                time.sleep(wait_s)

    def _attempt(
        self, http: httpx.Client, url: str, body: Mapping[str, str], question: Question
    ) -> float | None:
        """Try once; returns after how many seconds to try again, None for never."""
        try:
            answer = http.post(f"{url}/api/v1/ask", json=body)
        except httpx.TransportError as error:
            question.failures.append(f"no answer: {type(error).__name__}")
            return 1.0
        if answer.status_code != 200:
            question.failures.append(_message(answer))
            retry_s = answer.headers.get("retry-after")
            return None if retry_s is None else float(retry_s)
        turn = answer.json()
        if turn["state"] != "complete":
            question.failures.append(f"{turn['state']}: {turn['error']}")
            return 1.0
        question.turn = turn
        return None


def _message(answer: httpx.Response) -> str:
    """The status and the problem's text; a status alone if there is no text."""
    try:
        detail = str(answer.json()["detail"])
    except (ValueError, KeyError, TypeError):
        detail = ""
    return f"{answer.status_code}: {detail}".removesuffix(": ")
