"""Why a passage was found: its ranks and scores, and its text with the matched words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from domain import Explanation, Filter, Move, ScorePart
from services.library.document_style import Style
from ui.documents.highlight import mark_html
from ui.documents.highlight import passage_html as text_html
from ui.documents.rendering import Highlight, Span
from ui.shared.safe_html import escape, lang
from ui.text import words

SYNTAX = re.compile(r"^#{1,6} .*$|\*\*|^[|: -]+$", re.MULTILINE)
EDGES = re.compile(r"^\|[ \t]*|[ \t]*\|$", re.MULTILINE)
BARS = re.compile(r"[ \t]*(?<!\\)\|[ \t]*")
CJK = re.compile("[가-힣ぁ-ヿ一-鿿]")
SNIPPET, LEAD = 180, 40  # length in characters, and how many precede the first matched word


def explanation_html(explanation: Explanation) -> str:
    """HTML with the rank, score, and share per list, the reranking, matched words, and filter."""
    return (
        f'<div class="fn-why">{_lists(explanation)}{_move(explanation.move)}'
        f"{_words(explanation.matched_words)}{_filter(explanation.condition)}</div>"
    )


def passage_html(text: str, matched: Sequence[str], style: Style = Style.MARKDOWN) -> str:
    """The whole passage with the matched words marked."""
    inside = text_html(text, [Highlight(*span) for span in matched_spans(text, matched)], style)
    return f'<div class="fn-passage fn-text"{lang(text)}>{inside}</div>'


def snippet_html(text: str, matched: Sequence[str]) -> str:
    """The part of the passage with the most matched words, without Markdown syntax."""
    text = BARS.sub(" · ", EDGES.sub("", SYNTAX.sub("", text))).strip() or text
    spans = matched_spans(text, matched)
    start = _densest(text, spans)
    stop = min(start + SNIPPET, len(text))
    inside = [(a - start, b - start) for a, b in spans if start <= a and b <= stop]
    before, after = "… " if start else "", " …" if stop < len(text) else ""
    snippet = mark_html(text[start:stop], inside)
    return f'<div class="fn-snippet"{lang(text)}>{before}{snippet}{after}</div>'


def _densest(text: str, spans: Sequence[Span]) -> int:
    """The start of the snippet: shortly before the matched word that most others closely follow."""
    if len(text) <= SNIPPET or not spans:
        return 0
    room = SNIPPET - LEAD
    first = max(spans, key=lambda one: sum(one[0] <= other[0] < one[0] + room for other in spans))
    start = max(0, first[0] - LEAD)
    space = text.find(" ", start, first[0])
    return start if start == 0 or space < 0 else space + 1


def matched_spans(text: str, matched: Sequence[str]) -> list[Span]:
    """The spans of the words in the text, ignoring case; only CJK ones match in longer words."""
    if not matched:
        return []
    longest_first = sorted(matched, key=len, reverse=True)
    pattern = "|".join(map(_pattern, longest_first))
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


def _pattern(word: str) -> str:
    return re.escape(word) if CJK.search(word) else rf"(?<!\w){re.escape(word)}(?!\w)"


def _lists(explanation: Explanation) -> str:
    heads = (words.LIST, words.RANK, words.SCORE, words.SHARE)
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    rows = "".join(_list(part, explanation.score) for part in explanation.parts)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _list(part: ScorePart, total: float) -> str:
    name = words.RANKERS.get(part.ranker, part.ranker)
    rank = words.NOT_IN_LIST if part.rank is None else str(part.rank)
    score = "" if part.score is None else f"{part.score:.3f}"
    return (
        f"<tr><td>{escape(name)}</td><td>{escape(rank)}</td><td>{score}</td>"
        f"<td>{_bar(part.share, total)}</td></tr>"
    )


def _bar(share: float, total: float) -> str:
    """The share as a number, and as a bar relative to the total score."""
    percent = min(max(100 * share / total, 0), 100) if total > 0 else 0
    return (
        f'<span class="fn-share"><span class="fn-bar"><span style="width:{percent:.0f}%"></span>'
        f"</span>{share:.3f}</span>"
    )


def _move(move: Move | None) -> str:
    if move is None:
        return ""
    if move.skipped:
        return _line(
            words.RERANK, words.RERANK_SKIPPED.format(reason=words.translated(move.skipped))
        )
    text = words.RERANK_SAME if move.rank == move.rank_before else words.RERANK_MOVED
    return _line(
        words.RERANK,
        text.format(before=move.rank_before, after=move.rank, score=f"{move.score or 0:.3f}"),
    )


def _words(matched: Sequence[str]) -> str:
    if not matched:
        return _line(words.MATCHED_WORDS, words.NO_MATCHED_WORDS)
    once = {word.casefold(): word for word in reversed(matched)}.values()
    chips = " ".join(f"<mark{lang(word)}>{escape(word)}</mark>" for word in reversed(once))
    return f"<p><strong>{escape(words.MATCHED_WORDS)}</strong> {chips}</p>"


def _filter(condition: Filter) -> str:
    conditions = [f"{field} {_condition(value)}" for field, value in condition.items()]
    return _line(words.FILTER, " · ".join(conditions) or words.NO_FILTER)


def _condition(value: Any) -> str:
    """A condition of the filter as text: `= md`, `in md, pdf` or `>= 2026-01-01`."""
    if not isinstance(value, Mapping):
        return f"= {value}"
    return " ".join(f"{words.OPERATORS.get(name, name)} {_plain(of)}" for name, of in value.items())


def _plain(value: Any) -> str:
    listed = isinstance(value, Sequence | set | frozenset) and not isinstance(value, str)
    return ", ".join(map(str, value)) if listed else str(value)


def _line(label: str, text: str) -> str:
    return f"<p><strong>{escape(label)}</strong> {escape(text)}</p>"
