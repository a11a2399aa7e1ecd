"""A conversation as Markdown, with the evidence of every answer."""

import re
from collections.abc import Sequence

from domain import Citation, CitationState, Conversation, Source, Turn
from services.answer_text import plain_answer
from services.citation_summary import MEANING, describe
from services.transcript_facts import ToldStep, facts, place, state_of, told_steps, verdict, when

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~!$&])")
_LINE_START = re.compile(r"^([-+=]|\d+(?=[.)]))")
_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]+`)", re.DOTALL)
_MARKUP = re.compile(r"<(?=[a-zA-Z/!?])|!(?=\[)|(?<=\])[(:]")
_FOLLOWED = {"html_block", "html_inline", "image", "link_open"}


def to_markdown(conversation: Conversation, turns: Sequence[Turn]) -> str:
    """The turns in order: question, what was searched or done, answer, sources, settings.

    Text of documents and people stands as it is, its Markdown not followed. An answer's own
    Markdown is, but for HTML, links and images: opening the file fetches nothing, and an answer
    leads nowhere but to its sources.
    """
    title = _text(conversation.title) or "Conversation"
    head = f"# {title}\n\n{when(conversation.created_at)}\n\n{MEANING}\n"
    return "\n".join([head, *(_turn(n, turn) for n, turn in enumerate(turns, start=1))])


def _turn(n: int, turn: Turn) -> str:
    parts = [
        f"## Question {n}",
        _quoted(turn.question),
        _searched_for(turn),
        *_steps(turn),
        f"### Answer {n}",
        _answer(turn.answer),
        _state(turn),
        *_evidence(turn),
        "### Details",
        "\n".join(f"- {_text(name)}: {_text(value)}" for name, value in facts(turn)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _searched_for(turn: Turn) -> str:
    asked, searched = turn.question, turn.standalone_question
    return f"Searched for: {_text(searched)}" if searched and searched != asked else ""


def _steps(turn: Turn) -> list[str]:
    told = told_steps(turn)
    lines = (f"{n}. {_step(step)}" for n, step in enumerate(told, start=1))
    return ["### Steps", "\n".join(lines)] if told else []


def _step(step: ToldStep) -> str:
    said = f"“{_text(step.said)}” " if step.said else ""
    return f"{said}**{_text(step.asked)}**: {_text(step.back)}"


def _answer(text: str) -> str:
    """Its Markdown without HTML, links and images; code is left alone, there they do nothing."""
    pieces = _CODE.split(text.strip())
    written = "".join(
        piece if index % 2 else _without_markup(piece) for index, piece in enumerate(pieces)
    )
    # What looks like code may be none: an escaped sign, or one that nothing closes.
    return _text_of_lines(plain_answer(text)) if _follows_markup(written) else written


def _without_markup(text: str) -> str:
    return _MARKUP.sub(r"\\\g<0>", text)


def _follows_markup(markdown: str) -> bool:
    from markdown_it import MarkdownIt  # slow, and only transcripts need it

    blocks = MarkdownIt("commonmark").parse(markdown)
    tokens = [*blocks, *(token for block in blocks for token in block.children or ())]
    return any(token.type in _FOLLOWED for token in tokens)


def _text_of_lines(text: str) -> str:
    """Every line as it is, whatever Markdown it holds."""
    return "  \n".join(map(_text, text.strip().splitlines()))


def _state(turn: Turn) -> str:
    told = state_of(turn)
    return f"**{_text(told)}**" if told else ""


def _evidence(turn: Turn) -> list[str]:
    if not turn.sources and not turn.citations:
        return []
    cited = {citation.n for citation in turn.citations}
    known = {source.n for source in turn.sources}
    first = [_source(turn, source) for source in turn.sources if source.n in cited]
    lost = [_citation(one) for one in turn.citations if one.n not in known]
    others = [_source(turn, source) for source in turn.sources if source.n not in cited]
    parts = ["### Sources", verdict(turn), "\n".join([*first, *lost])]
    return parts + (["Also found:", "\n".join(others)] if others else [])


def _source(turn: Turn, source: Source) -> str:
    where = " · ".join(map(_text, place(source)))
    lines = [f"- \\[{source.n}\\] {_link(source)}{f' · {where}' if where else ''}"]
    lines += [f"  {_citation(one)}" for one in turn.citations if one.n == source.n]
    return "\n".join(lines)


def _link(source: Source) -> str:
    title = _text(source.name)
    if not source.location.startswith(("http://", "https://")):
        return f"**{title}** ({_text(source.location)})"
    target = re.sub(r"[\s<>\\]", lambda match: f"%{ord(match[0]):02X}", source.location)
    return f"[{title}](<{target}>)"


def _citation(citation: Citation) -> str:
    quote = f": “{_text(citation.quote)}”" if citation.quote else ""
    warning = "" if citation.state is CitationState.VERIFIED else "⚠ "
    number = f"\\[{citation.n}\\] " if citation.state is CitationState.NO_SUCH_SOURCE else ""
    return f"- {warning}{number}{describe(citation)}{quote}"


def _quoted(text: str) -> str:
    """Every line as a line of its own."""
    return "  \n".join(f"> {_text(line)}" for line in text.strip().splitlines())


def _text(text: str) -> str:
    """The text in one line as it is, whatever Markdown it holds."""
    line = _SPECIAL.sub(r"\\\1", " ".join(text.split()))
    return _LINE_START.sub(_escaped_start, line)


def _escaped_start(match: re.Match[str]) -> str:
    return f"{match[0]}\\" if match[0].isdigit() else f"\\{match[0]}"
