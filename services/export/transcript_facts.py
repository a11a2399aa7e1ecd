"""Texts that Markdown and HTML transcripts share."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from domain import RetrievedPassage, Scope, SearchChoice, Step, StepState, Turn, TurnState
from services.answer_support import offers_nearest
from services.export.answer_text import count_citations, summarize

_CHARACTERS = 300  # longer arguments and results of tools are cut off

_STATES = {
    TurnState.RUNNING: "This answer is not finished.",
    TurnState.INCOMPLETE: "This answer is incomplete.",
    TurnState.STOPPED: "This answer was stopped.",
    TurnState.FAILED: "There is no answer.",
}


def when(moment: datetime) -> str:
    """The time in UTC, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def state_of(turn: Turn) -> str:
    """How the answer ended; "" if it is complete."""
    return " ".join(filter(None, (_STATES.get(turn.state, ""), turn.error)))


def verdict(turn: Turn) -> str:
    """Says how many quotes were found, and how many sentences have no source."""
    if offers_nearest(turn):
        return "Closest passages. They may not answer the question."
    if not turn.citations:
        return "This answer cites no source."
    summary = summarize(count_citations(turn.citations))
    n = turn.unsupported_sentences
    return f"{summary} Sentences without a source: {n}." if n else summary


def place(source: RetrievedPassage) -> list[str]:
    """The heading path, page, and document version of the passage, without missing parts."""
    page = f"page {source.page}" if source.page else ""
    version = f"version {source.version}" if source.version else ""
    return [part for part in (" › ".join(source.heading_path), page, version) if part]


class StepText(NamedTuple):
    """The texts of a step: the model's words before it, the tool call, and its outcome."""

    said: str
    call: str
    outcome: str


def step_texts(turn: Turn) -> list[StepText]:
    """The agent's steps in order, with each text shortened to a few lines."""
    return [StepText(_cut(step.said), _call(step), _outcome(step)) for step in turn.steps]


def _call(step: Step) -> str:
    arguments = ", ".join(f"{name}: {_plain(value)}" for name, value in step.arguments.items())
    return _cut(f"{step.tool} ({arguments})" if arguments else step.tool)


def _outcome(step: Step) -> str:
    """The source numbers of the passages found, or else the beginning of the result."""
    if step.state is StepState.RUNNING:
        return "not finished"
    took = f" ({step.milliseconds:,.0f} ms)" if step.milliseconds >= 1 else ""
    if step.sources and step.state is StepState.DONE:
        return "passages " + " ".join(f"[{n}]" for n in step.sources) + took
    return (_cut(step.result) or "nothing") + took


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}…"


def facts(turn: Turn) -> Iterator[tuple[str, str]]:
    """The names and values of the turn's other details."""
    yield "Asked", when(turn.created_at)
    if turn.model:
        yield "Model", turn.model
    yield "Search", ", ".join(_search(turn.search)) or "as set"
    if turn.timings_ms:
        yield "Milliseconds", _figures(turn.timings_ms.items())
    if turn.usage:
        yield "Tokens", _figures(turn.usage.items())


def _figures(figures: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in figures)


def _search(search: SearchChoice) -> Iterator[str]:
    if search.by_agent:
        yield "by the agent"
    if search.mode:
        yield f"mode {search.mode}"
    if search.k is not None:
        yield f"{search.k} passages"
    if search.score_threshold is not None:
        yield f"threshold {search.score_threshold:g}"
    yield from _scope(search.scope)


def _scope(scope: Scope) -> Iterator[str]:
    for name in ("sources", "collections", "formats", "labels"):
        if values := getattr(scope, name):
            yield f"{name} {' or '.join(values)}"
    if scope.since:
        yield f"since {scope.since}"
    if scope.until:
        yield f"until {scope.until}"
