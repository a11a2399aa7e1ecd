"""Texts that Markdown and HTML transcripts share."""

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from domain import (
    RetrievedPassage,
    Scope,
    SearchChoice,
    Step,
    StepState,
    Turn,
    TurnState,
)
from domain.messages import Message, _, join_messages
from services.export.answer_text import findings

_CHARACTERS = 300  # longer arguments and results of tools are cut off
_VERSION_CHARACTERS = 24  # enough for a number or a time
_CHECKSUM_CHARACTERS = 12

_STATES = {
    TurnState.RUNNING: _("This answer is not finished."),
    TurnState.INCOMPLETE: _("This answer is incomplete."),
    TurnState.STOPPED: _("This answer was stopped."),
    TurnState.FAILED: _("There is no answer."),
}


def when(moment: datetime) -> str:
    """The time in UTC, to the second."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def state_of(turn: Turn) -> str:
    """How the answer ended; "" if it is complete."""
    # Stored messages without values are plain text.
    error = turn.error if isinstance(turn.error, Message) else Message(turn.error)
    return join_messages(filter(None, (_STATES.get(turn.state, ""), error)), separator=" ")


def verdict(turn: Turn) -> str:
    """The findings about the evidence, as one message; "" if there are none."""
    return join_messages((text for _finding, text in findings(turn)), separator=" ")


def place(source: RetrievedPassage) -> list[str]:
    """The heading path, page, and document version of the passage, without missing parts.

    A long version, such as the checksum of a file, is cut.
    """
    page = _("page {page}").format(page=source.page) if source.page else ""
    short = _short_version(source.version)
    version = _("version {version}").format(version=short) if short else ""
    return [part for part in (" › ".join(source.heading_path), page, version) if part]


def _short_version(version: str) -> str:
    is_short = len(version) <= _VERSION_CHARACTERS
    return version if is_short else f"{version[:_CHECKSUM_CHARACTERS]}…"


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
        return _("not finished")
    took = f" ({step.milliseconds:,.0f} ms)" if step.milliseconds >= 1 else ""
    if step.sources and step.state is StepState.DONE:
        numbers = " ".join(f"[{n}]" for n in step.sources) + took
        return _("passages {numbers}").format(numbers=numbers)
    return (_cut(step.result) or "—") + took


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}…"


def facts(turn: Turn) -> Iterator[tuple[str, str]]:
    """The names and values of the turn's other details."""
    yield _("Asked"), when(turn.created_at)
    if turn.model:
        yield _("Model"), turn.model
    yield _("Search"), join_messages(_search(turn.search), ", ") or _("as set")
    if turn.timings_ms:
        yield _("Milliseconds"), _figures(turn.timings_ms.items())
    if turn.usage:
        yield _("Tokens"), _figures(turn.usage.items())


def _figures(figures: Iterable[tuple[str, float]]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value:,}" for name, value in figures)


def _search(search: SearchChoice) -> Iterator[str]:
    if search.by_agent:
        yield _("by the agent")
    if search.mode:
        yield _("mode {mode}").format(mode=search.mode)
    if search.k is not None:
        yield _("{k} passages").format(k=search.k)
    if search.score_threshold is not None:
        yield _("threshold {threshold}").format(threshold=f"{search.score_threshold:g}")
    yield from _scope(search.scope)


def _scope(scope: Scope) -> Iterator[str]:
    templates = {
        "sources": _("sources {names}"),
        "collections": _("collections {names}"),
        "formats": _("formats {names}"),
        "labels": _("labels {names}"),
    }
    for field, template in templates.items():
        if values := getattr(scope, field):
            yield template.format(names=" / ".join(values))
    if scope.since:
        yield _("since {day}").format(day=scope.since)
    if scope.until:
        yield _("until {day}").format(day=scope.until)
