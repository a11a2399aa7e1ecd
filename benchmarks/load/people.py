"""Simulated people who ask over the API, read the answer, and ask again."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx

from benchmarks.afresh import ROOT
from services.evaluation.sample_evaluation import load_sample_questions

QUESTIONS = ROOT / "samples" / "questions"
TIMEOUT_S = 120
_END = b"event: end\r\n"
_UNRELATED = 3
Dialog = Sequence[str]
"""The questions of a conversation, in order."""


@dataclass(frozen=True)
class AnswerTime:
    """A complete answer: when it was requested (`time.monotonic`), and how long it took."""

    at: float
    seconds: float
    first_text_s: float


@dataclass
class Answers:
    """What happened to the questions so far."""

    complete: list[AnswerTime] = field(default_factory=list)
    canceled: int = 0
    failed: Counter[str] = field(default_factory=Counter)

    def between(self, begin: float, end: float) -> list[AnswerTime]:
        """The answers to questions asked in that time."""
        return [one for one in self.complete if begin <= one.at < end]


def dialogs() -> list[Dialog]:
    """Dialogs of one to four questions in three languages.

    Follow-ups are those of the evaluation set. A quarter of the other questions become dialogs of
    three unrelated questions, as people ask them in one conversation.
    """
    questions = load_sample_questions(QUESTIONS)
    single = [one.question for one in questions if not one.history]
    dialogs: list[Dialog] = [(*one.history, one.question) for one in questions if one.history]
    quarter = len(single) // 4
    dialogs += [single[n : n + _UNRELATED] for n in range(0, quarter, _UNRELATED)]
    return [*dialogs, *((question,) for question in single[quarter:])]


@dataclass
class Crowd:
    """People with one key each who keep asking until `stop` is set.

    Args:
        url: The base URL of the API.
        secrets: The key of each person.
        think_s: Mean of the exponentially distributed pause between an answer and the next
            question.
        cancels: The share of answers that people cancel after their first event.
        answers: Receives what happened.
    """

    url: str
    secrets: Sequence[str]
    think_s: float
    cancels: float = 0.0
    answers: Answers = field(default_factory=Answers)
    stop: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self) -> None:
        """Ask until `stop` is set; the last answers are read to their end."""
        choice, people = dialogs(), enumerate(self.secrets)
        await asyncio.gather(
            *(self._live(secret, random.Random(n), choice) for n, secret in people)
        )

    async def _live(self, secret: str, chance: random.Random, choice: Sequence[Dialog]) -> None:
        headers = {"Authorization": f"Bearer {secret}"}
        async with httpx.AsyncClient(base_url=self.url, headers=headers, timeout=TIMEOUT_S) as http:
            while True:
                conversation = None
                for question in chance.choice(choice):
                    if await self._is_over_after(chance.expovariate(1 / self.think_s)):
                        return
                    is_canceled = chance.random() < self.cancels
                    conversation = await self._ask(http, question, conversation, is_canceled)

    async def _is_over_after(self, seconds: float) -> bool:
        try:
            await asyncio.wait_for(self.stop.wait(), seconds)
        except TimeoutError:
            return False
        return True

    async def _ask(
        self, http: httpx.AsyncClient, question: str, conversation: str | None, is_canceled: bool
    ) -> str | None:
        """The conversation's id; None after a failure."""
        try:
            return await self._answer(http, question, conversation, is_canceled)
        except (httpx.HTTPError, ValueError) as error:
            self.answers.failed[f"{type(error).__name__}: {error}"[:200]] += 1
            return None

    async def _answer(
        self, http: httpx.AsyncClient, question: str, conversation: str | None, is_canceled: bool
    ) -> str:
        start, first, received = time.monotonic(), None, b""
        body = {"question": question, "conversation_id": conversation}
        async with http.stream("POST", "/ask/stream", json=body) as response:
            if response.is_error:
                raise ValueError(f"{response.status_code} {(await response.aread())[:150]!r}")
            async for piece in response.aiter_raw():
                received += piece
                if first is None and b"event: token" in received:
                    first = time.monotonic()
                if is_canceled and _conversation(received):
                    self.answers.canceled += 1
                    return _conversation(received)
        if _END not in received:
            raise ValueError(f"the answer did not end: {received[-150:]!r}")
        ended = time.monotonic()
        self.answers.complete.append(AnswerTime(start, ended - start, (first or ended) - start))
        return _conversation(received)


def _conversation(received: bytes) -> str:
    """The id in the event `started`; empty if it has not arrived."""
    _, found, rest = received.partition(b'"conversation_id":')
    return rest.split(b'"')[1].decode() if found and rest.count(b'"') > 1 else ""
