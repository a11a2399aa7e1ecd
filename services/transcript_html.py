"""A conversation as one HTML file that needs nothing else, to read or to print."""

from collections.abc import Sequence
from html import escape
from pathlib import Path

from domain import Citation, CitationState, Conversation, Source, Turn
from language.script import script_of
from services.citation_summary import MEANING, describe
from services.safe_markdown import markdown_to_html
from services.transcript_facts import ToldStep, facts, place, state_of, told_steps, verdict, when

_STYLE = Path(__file__).with_name("transcript.css")
_LANGUAGES = {"korean": ' lang="ko"', "japanese": ' lang="ja"', "chinese": ' lang="zh"'}


def to_html(conversation: Conversation, turns: Sequence[Turn]) -> str:
    """The turns in order: question, what was searched or done, answer, sources, settings.

    Whatever comes from documents or people is escaped; opening the file fetches nothing.
    """
    title = escape(" ".join(conversation.title.split()) or "Conversation")
    body = "\n".join(_turn(n, turn) for n, turn in enumerate(turns, start=1))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{_STYLE.read_text(encoding="utf-8")}</style>
</head>
<body>
<header>
<h1{_lang(conversation.title)}>{title}</h1>
<p class="when">{when(conversation.created_at)}</p>
<p class="when">{MEANING}</p>
</header>
{body}
</body>
</html>
"""


def _turn(n: int, turn: Turn) -> str:
    parts = [
        f'<article id="turn-{n}">',
        f"<h2{_lang(turn.question)}>{escape(turn.question.strip())}</h2>",
        _searched_for(turn),
        *_steps(turn),
        _answer(n, turn),
        _line("state", state_of(turn)),
        *_evidence(n, turn),
        _facts(turn),
        "</article>",
    ]
    return "\n".join(part for part in parts if part)


def _searched_for(turn: Turn) -> str:
    asked, searched = turn.question, turn.standalone_question
    told = searched and searched != asked
    return _line("searched", f"Searched for: {searched}") if told else ""


def _steps(turn: Turn) -> list[str]:
    told = told_steps(turn)
    return ["<h3>Steps</h3>", "<ol>", *map(_step, told), "</ol>"] if told else []


def _step(step: ToldStep) -> str:
    asked = f"<b{_lang(step.asked)}>{escape(step.asked)}</b>"
    return f"<li>{_line('said', step.said)}{asked} {_line('where', step.back)}</li>"


def _answer(n: int, turn: Turn) -> str:
    known = {source.n for source in turn.sources}

    def marker(cited: int) -> str:
        return f'<a href="#source-{n}-{cited}">[{cited}]</a>' if cited in known else ""

    html = markdown_to_html(turn.answer, marker, heading=3)
    return f'<div class="answer"{_lang(turn.answer)}>{html}</div>' if html else ""


def _evidence(n: int, turn: Turn) -> list[str]:
    if not turn.sources and not turn.citations:
        return []
    cited = {citation.n for citation in turn.citations}
    known = {source.n for source in turn.sources}
    first = [_source(n, turn, source) for source in turn.sources if source.n in cited]
    lost = [_citation(one) for one in turn.citations if one.n not in known]
    others = [_source(n, turn, source) for source in turn.sources if source.n not in cited]
    parts = ["<h3>Sources</h3>", _line("verdict", verdict(turn)), *first, *_list(lost)]
    return parts + (["<h3>Also found</h3>", *others] if others else [])


def _source(n: int, turn: Turn, source: Source) -> str:
    where = " · ".join([*place(source), source.location])
    citations = [_citation(one) for one in turn.citations if one.n == source.n]
    return "\n".join(
        [
            f'<section id="source-{n}-{source.n}">',
            f"<h4>[{source.n}] {_link(source)}</h4>",
            _line("where", where),
            *_list(citations),
            "</section>",
        ]
    )


def _link(source: Source) -> str:
    title = escape(source.name)
    if not source.location.startswith(("http://", "https://")):
        return title
    return f'<a href="{escape(source.location)}" rel="noreferrer">{title}</a>'


def _citation(citation: Citation) -> str:
    number = f"[{citation.n}] " if citation.state is CitationState.NO_SUCH_SOURCE else ""
    quote = f" <q{_lang(citation.quote)}>{escape(citation.quote)}</q>" if citation.quote else ""
    kind = "" if citation.state is CitationState.VERIFIED else ' class="bad"'
    badge = f"<b{kind}>{number}{escape(describe(citation))}</b>"
    return f"<li>{badge}{quote}</li>"


def _list(items: Sequence[str]) -> list[str]:
    return ["<ul>", *items, "</ul>"] if items else []


def _facts(turn: Turn) -> str:
    rows = "".join(f"<dt>{escape(name)}</dt><dd>{escape(told)}</dd>" for name, told in facts(turn))
    return f"<dl>{rows}</dl>"


def _line(kind: str, text: str) -> str:
    return f'<p class="{kind}"{_lang(text)}>{escape(text)}</p>' if text else ""


def _lang(text: str) -> str:
    return _LANGUAGES.get(script_of(text), "")
