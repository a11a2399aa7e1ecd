"""Why a passage was found, as HTML."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from domain import Explanation, Filter, Move, ScorePart
from ui import words
from ui.highlight import Span, marked_html
from ui.html import escape, lang
from ui.service_text import said

SYNTAX = re.compile(r"^#{1,6} .*$|\*\*|^[|: -]+$", re.MULTILINE)
CJK = re.compile("[가-힣ぁ-ヿ一-鿿]")
SNIPPET, LEAD = 180, 40  # characters in all, and before the first matched word


def explanation_html(explanation: Explanation) -> str:
    """Each list's rank, score and share, the reranker's move, the matched words, the filter."""
    return (
        f'<div class="fn-why">{_lists(explanation)}{_move(explanation.move)}'
        f"{_words(explanation.matched_words)}{_filter(explanation.condition)}</div>"
    )


def passage_html(text: str, matched: Sequence[str]) -> str:
    """The whole passage with the matched words marked."""
    marked = marked_html(text, matched_spans(text, matched))
    return f'<div class="fn-passage"{lang(text)}>{marked}</div>'


def snippet_html(text: str, matched: Sequence[str]) -> str:
    """The stretch of the passage with most of the matched words, without headings and stars."""
    text = SYNTAX.sub("", text).strip() or text
    spans = matched_spans(text, matched)
    start = _densest(text, spans)
    stop = min(start + SNIPPET, len(text))
    inside = [(a - start, b - start) for a, b in spans if start <= a and b <= stop]
    before, after = "… " if start else "", " …" if stop < len(text) else ""
    marked = marked_html(text[start:stop], inside)
    return f'<div class="fn-snippet"{lang(text)}>{before}{marked}{after}</div>'


def _densest(text: str, spans: Sequence[Span]) -> int:
    """Where the snippet starts: a little before the word that most others follow closely."""
    if len(text) <= SNIPPET or not spans:
        return 0
    room = SNIPPET - LEAD
    first = max(spans, key=lambda one: sum(one[0] <= other[0] < one[0] + room for other in spans))
    start = max(0, first[0] - LEAD)
    space = text.find(" ", start, first[0])
    return start if start == 0 or space < 0 else space + 1


def matched_spans(text: str, matched: Sequence[str]) -> list[Span]:
    """Where the words stand in the text, in any case; spaced words only as whole words."""
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
    """The share as a number and as a bar of its part of the whole score."""
    percent = min(max(100 * share / total, 0), 100) if total > 0 else 0
    return (
        f'<span class="fn-share"><span class="fn-bar"><span style="width:{percent:.0f}%"></span>'
        f"</span>{share:.3f}</span>"
    )


def _move(move: Move | None) -> str:
    if move is None:
        return ""
    if move.skipped:
        return _line(words.RERANK, words.RERANK_SKIPPED.format(reason=said(move.skipped)))
    moved = words.RERANK_KEPT if move.rank == move.rank_before else words.RERANK_MOVED
    return _line(
        words.RERANK,
        moved.format(before=move.rank_before, after=move.rank, score=f"{move.score or 0:.3f}"),
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
    """`= md`, `in md, pdf` or `>= 2026-01-01`, as the filter says it."""
    if not isinstance(value, Mapping):
        return f"= {value}"
    return " ".join(f"{words.OPERATORS.get(name, name)} {_plain(of)}" for name, of in value.items())


def _plain(value: Any) -> str:
    listed = isinstance(value, Sequence | set | frozenset) and not isinstance(value, str)
    return ", ".join(map(str, value)) if listed else str(value)


def _line(label: str, text: str) -> str:
    return f"<p><strong>{escape(label)}</strong> {escape(text)}</p>"
