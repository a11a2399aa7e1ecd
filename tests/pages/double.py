"""A chat service for page tests that plays a script instead of searching."""

import dataclasses
import threading
import time
from collections.abc import Generator, Iterator
from datetime import UTC, datetime, timedelta

from domain import (
    EXTRACTIVE,
    Answerer,
    Citation,
    CitationState,
    Conversation,
    Principal,
    RetrievedPassage,
    SearchChoice,
    Turn,
    TurnState,
)
from domain.errors import AppError, InputError, NotFoundError
from services.chat.conversation_service import Age, Groups
from services.events import (
    Event,
    PassagesRetrieved,
    Searching,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from storage.ledger.conversation_store import LATEST, TurnTree

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
PASSAGE = (
    "New employees get 25 days of annual leave a year, in addition to the eight public\n"
    "holidays. Annual leave grows with the years you have been with us."
)
QUOTE = "New employees get 25 days of annual leave a year"


def source(n: int = 1, text: str = PASSAGE, **changes: object) -> RetrievedPassage:
    """A passage of the leave policy."""
    plain = RetrievedPassage(
        n=n,
        passage_id=f"p{n}",
        document_id=f"d{n}",
        title="Leave policy",
        location="handbook/leave-policy.md",
        text=text,
        page=2,
        heading_path=("Leave policy", "Annual leave"),
    )
    return dataclasses.replace(plain, **changes)


def citation(
    n: int = 1, state: CitationState = CitationState.VERIFIED, quote: str = QUOTE, **changes: object
) -> Citation:
    """A citation of that passage; the quote is at its start."""
    plain = Citation(n=n, state=state, quote=quote, start=0, end=len(quote))
    return dataclasses.replace(plain, **changes)


@dataclasses.dataclass
class Script:
    """How the service responds to the next question."""

    pieces: tuple[str, ...] = (f"“{QUOTE}” ", "[1]")
    sources: tuple[RetrievedPassage, ...] = (
        source(1),
        source(2, "Sick leave needs no note.", title="Sick leave"),
    )
    citations: tuple[Citation, ...] = (citation(),)
    unsupported: int = 0
    error: Exception | None = None
    at_once: bool = False  # the error comes first
    pause_s: float = 0.0


@dataclasses.dataclass
class Answerers:
    """Names the model that the test sets."""

    answerer: Answerer

    def current(self) -> Answerer:
        return self.answerer

    resolve = current


class ScriptedChat:
    """Plays `script` for every question and keeps the turns in memory."""

    def __init__(self, script: Script | None = None) -> None:
        self.answerers = Answerers(Answerer(EXTRACTIVE))
        self.script = script or Script()
        self.stored: dict[str, list[Turn]] = {}
        self.shown_turns: dict[str, str] = {}
        self.questions: list[str] = []
        self.searches: list[SearchChoice | None] = []
        self.closed = threading.Event()

    @property
    def model_label(self) -> str:
        return self.answerers.current().label

    def stream(
        self,
        principal: Principal,
        question: str,
        conversation_id: str | None = None,
        *,
        search: SearchChoice | None = None,
        parent_id: str | None = LATEST,
        standalone: str | None = None,
    ) -> Generator[Event, None, None]:
        if isinstance(self.script.error, InputError):
            raise self.script.error
        self.questions.append(question)
        self.searches.append(search)
        conversation_id = conversation_id or f"c{len(self.stored) + 1}"
        turns = self.stored.setdefault(conversation_id, [])
        turn = Turn(
            f"t{len(turns) + 1}",
            conversation_id,
            question,
            TurnState.RUNNING,
            NOW,
            standalone_question=standalone or "",
            standalone_given=bool(standalone),
            parent_id=self.tree(conversation_id).resolve(parent_id),
        )
        turns.append(turn)
        self.shown_turns[conversation_id] = turn.id
        try:
            yield TurnStarted(turn)
            for turns[-1] in self._play(turn):
                yield from self._events
        except AppError as error:
            turn = turns[-1]
            state = TurnState.INCOMPLETE if turn.answer else TurnState.FAILED
            turns[-1] = dataclasses.replace(turn, state=state, error=str(error))
            raise
        except GeneratorExit:
            if turns[-1].state is not TurnState.RUNNING:
                raise
            turns[-1] = dataclasses.replace(turns[-1], state=TurnState.STOPPED)
            self.closed.set()
            raise

    def _play(self, turn: Turn) -> Iterator[Turn]:
        script = self.script
        if script.error and script.at_once:
            raise script.error
        self._events: list[Event] = []
        standalone = turn.standalone_question or f"{turn.question} (standalone)"
        turn = dataclasses.replace(turn, standalone_question=standalone, sources=script.sources)
        self._events = [Searching(standalone), PassagesRetrieved(script.sources)]
        yield turn
        for piece in script.pieces:
            turn = dataclasses.replace(turn, answer=turn.answer + piece)
            self._events = [TextDelta(piece)]
            time.sleep(script.pause_s)
            yield turn
        if script.error:
            raise script.error
        turn = dataclasses.replace(
            turn,
            state=TurnState.COMPLETE,
            citations=script.citations,
            unsupported_sentences=script.unsupported,
            model=self.model_label,
            timings_ms={"first_token": 900.0, "total": 2345.0},
        )
        self._events = [TurnFinished(turn)]
        yield turn

    def conversations(self, principal: Principal, limit: int = 50) -> list[Conversation]:
        return [
            Conversation(id, principal.user_id, turns[0].question, NOW, NOW)
            for id, turns in reversed(self.stored.items())
        ][:limit]

    def ask_again(
        self,
        principal: Principal,
        conversation_id: str,
        turn_id: str,
        *,
        question: str | None = None,
        standalone: str | None = None,
        search: SearchChoice | None = None,
    ) -> Generator[Event, None, None]:
        turn = self.turn(conversation_id, turn_id)
        return self.stream(
            principal,
            question or turn.question,
            conversation_id,
            search=search,
            parent_id=turn.parent_id,
            standalone=standalone,
        )

    def tree(self, conversation_id: str) -> TurnTree:
        parents = {turn.id: turn.parent_id for turn in self.stored[conversation_id]}
        return TurnTree(self.shown_turns.get(conversation_id, ""), parents)

    def turn(self, conversation_id: str, turn_id: str) -> Turn:
        return next(one for one in self.stored[conversation_id] if one.id == turn_id)


class ScriptedTurns:
    """The turns of a scripted chat."""

    def __init__(self, chat: ScriptedChat) -> None:
        self._chat = chat

    def list(self, principal: Principal, conversation_id: str) -> list[Turn]:
        if conversation_id not in self._chat.stored:
            raise NotFoundError("There is no such conversation.")
        tree = self._chat.tree(conversation_id)
        return [self._chat.turn(conversation_id, one) for one in tree.branch(tree.shown_id)]

    def versions(self, principal: Principal, conversation_id: str) -> dict[str, tuple[str, ...]]:
        return self._chat.tree(conversation_id).versions()

    def show(self, principal: Principal, conversation_id: str, turn_id: str) -> None:
        newest = self._chat.tree(conversation_id).newest_below(turn_id)
        self._chat.shown_turns[conversation_id] = newest


class ScriptedConversations:
    """The conversation list of a scripted chat."""

    inactive_retention: timedelta | None = None

    def __init__(self, chat: ScriptedChat) -> None:
        self._chat = chat

    def get(self, principal: Principal, conversation_id: str) -> Conversation:
        if conversation_id not in self._chat.stored:
            raise NotFoundError("There is no such conversation.")
        return Conversation(conversation_id, principal.user_id, "", NOW, NOW)

    def grouped(
        self, principal: Principal, now: datetime, words: str = "", *, limit: int = 30
    ) -> Groups:
        conversations = self._chat.conversations(principal, limit)
        groups = Groups([(Age.TODAY, conversations)] if conversations else [])
        groups.total = len(conversations)
        return groups
