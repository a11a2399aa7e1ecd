"""A conversation as Markdown, with the evidence for each answer."""

import re
from collections.abc import Sequence

from domain import (
    Citation,
    CitationState,
    Conversation,
    RetrievedPassage,
    Turn,
    is_on_web,
    public_location,
)
from services.export.answer_text import MEANING, describe, safe_answer
from services.export.transcript_facts import (
    StepText,
    facts,
    place,
    state_of,
    step_texts,
    verdict,
    when,
)

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!$&])")
_LINE_START = re.compile(r"^([-+=]|\d+(?=[.)]))")


def to_markdown(conversation: Conversation, turns: Sequence[Turn]) -> str:
    """Render each turn in order: question, search or steps, answer, sources, and settings.

    Text from documents and people is escaped. Answers keep their Markdown, except for HTML, links,
    and images: opening the file fetches nothing, and the only links are those to sources.
    """
    title = _text(conversation.title) or "Conversation"
    head = f"# {title}\n\n{when(conversation.created_at)}\n\n{MEANING}\n"
    return "\n".join([head, *(_turn(n, turn) for n, turn in enumerate(turns, start=1))])


def _turn(n: int, turn: Turn) -> str:
    parts = [
        f"## Question {n}",
        _block_quote(turn.question),
        _searched_for(turn),
        *_steps(turn),
        f"### Answer {n}",
        safe_answer(turn.answer.strip()),
        _state(turn),
        *_evidence(turn),
        "### Details",
        "\n".join(f"- {_text(name)}: {_text(value)}" for name, value in facts(turn)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _searched_for(turn: Turn) -> str:
    question, searched = turn.question, turn.standalone_question
    return f"Searched for: {_text(searched)}" if searched and searched != question else ""


def _steps(turn: Turn) -> list[str]:
    texts = step_texts(turn)
    lines = (f"{n}. {_step(step)}" for n, step in enumerate(texts, start=1))
    return ["### Steps", "\n".join(lines)] if texts else []


def _step(step: StepText) -> str:
    text = f"“{_text(step.said)}” " if step.said else ""
    return f"{text}**{_text(step.call)}**: {_text(step.outcome)}"


def _state(turn: Turn) -> str:
    state = state_of(turn)
    return f"**{_text(state)}**" if state else ""


def _evidence(turn: Turn) -> list[str]:
    if not turn.sources and not verdict(turn):
        return []
    cited_numbers = {citation.n for citation in turn.citations}
    numbers = {source.n for source in turn.sources}
    first = [_source(turn, source) for source in turn.sources if source.n in cited_numbers]
    lost = [_citation(one) for one in turn.citations if one.n not in numbers]
    others = [_source(turn, source) for source in turn.sources if source.n not in cited_numbers]
    parts = ["### Sources", verdict(turn), "\n".join([*first, *lost])]
    return parts + (["Also found:", "\n".join(others)] if others else [])


def _source(turn: Turn, source: RetrievedPassage) -> str:
    where = " · ".join(map(_text, place(source)))
    lines = [f"- \\[{source.n}\\] {_link(source)}{f' · {where}' if where else ''}"]
    lines += [f"  {_citation(one)}" for one in turn.citations if one.n == source.n]
    return "\n".join(lines)


def _link(source: RetrievedPassage) -> str:
    title = _text(source.name)
    if not is_on_web(source.location):
        return f"**{title}** ({_text(public_location(source.location))})"
    target = re.sub(r"[\s<>\\]", lambda match: f"%{ord(match[0]):02X}", source.location)
    return f"[{title}](<{target}>)"


def _citation(citation: Citation) -> str:
    quote = f": “{_text(citation.quote)}”" if citation.quote else ""
    warning = "" if citation.state is CitationState.VERIFIED else "⚠ "
    number = f"\\[{citation.n}\\] " if citation.state is CitationState.NO_SUCH_SOURCE else ""
    return f"- {warning}{number}{describe(citation)}{quote}"


def _block_quote(text: str) -> str:
    """A block quote with the line breaks of the text."""
    return "  \n".join(f"> {_text(line)}" for line in text.strip().splitlines())


def _text(text: str) -> str:
    """The text on one line, escaped for Markdown."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _LINE_START.sub(_escaped_start, line)


def _escaped_start(match: re.Match[str]) -> str:
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"
