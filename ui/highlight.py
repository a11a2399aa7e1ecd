"""A passage with the quotes in it marked, and what is far from them folded."""

import re
from collections.abc import Sequence

from ui.html import escape

Span = tuple[int, int]
NEAR = 90  # characters shown before and after a quote
REACH = 30  # how far to look for white space to cut at
FOLDED_FROM = 60  # a remainder shorter than this is not worth folding
CODE = re.compile(r"^(?:```|~~~| {4}|\t)", re.MULTILINE)
WRAPPED = re.compile(r"(?<=[^\n|#]{30})\n(?=[^\W\d_]|[\"'“‘「『（(])")
SYNTAX = re.compile(r"^(?:#{1,6} |\|(?: *:?-+:? *\|)+$)", re.MULTILINE)
WHITE_SPACE = re.compile(r"\s+")


def excerpt_html(passage: str, spans: Sequence[Span]) -> str:
    """The passage, escaped, with the spans in `<mark>` and what is far from them in `fn-far`.

    The style sheet folds the far parts until the reader asks for the whole passage, and draws
    Markdown's own signs faintly. Spans may overlap and be in any order; without any, what stands
    at the beginning is near.
    """
    near = [_window(passage, span) for span in spans or [(0, 0)]]
    text = _unwrapped(passage)
    pieces, end = [], 0
    for start, stop in _merged(near, gap=FOLDED_FROM):
        pieces += [_far_html(text[end:start]), _near_html(text, (start, stop), spans)]
        end = stop
    html = "".join([*pieces, _far_html(text[end:])])
    return _faint_syntax(html)


def _faint_syntax(html: str) -> str:
    return SYNTAX.sub(r'<span class="fn-syntax">\g<0></span>', html)


def reading_html(text: str, focus: Span, spans: Sequence[Span]) -> str:
    """The text, escaped, with the passage in focus and what stands around it faint.

    The spans are in `<mark>`; they may overlap, be in any order and reach out of the passage.
    """
    text = _unwrapped(text)
    begin, end = focus
    before, inside, after = (
        _faint_syntax(marked_html(text[start:stop], _clipped(spans, start, stop)))
        for start, stop in ((0, begin), (begin, end), (end, len(text)))
    )
    return f'{_around(before)}<span class="fn-focus">{inside}</span>{_around(after)}'


def _around(html: str) -> str:
    return f'<span class="fn-around">{html}</span>' if html else ""


def _clipped(spans: Sequence[Span], start: int, stop: int) -> list[Span]:
    return [
        (max(begin, start) - start, min(end, stop) - start)
        for begin, end in spans
        if begin < stop and end > start
    ]


def _unwrapped(passage: str) -> str:
    """The passage with the line ends of wrapped prose as spaces, each character in its place.

    A line end is kept after a short line, and beside tables, lists, headings and code.
    """
    return passage if CODE.search(passage) else WRAPPED.sub(" ", passage)


def _window(passage: str, span: Span) -> Span:
    """The span and what stands around it, cut at white space where there is some close by."""
    start, stop = max(0, span[0] - NEAR), min(len(passage), span[1] + NEAR)
    if start <= FOLDED_FROM:
        start = 0
    elif gap := WHITE_SPACE.search(passage, start, min(start + REACH, span[0])):
        start = gap.end()
    if stop >= len(passage) - FOLDED_FROM:
        return start, len(passage)
    gaps = list(WHITE_SPACE.finditer(passage, max(stop - REACH, span[1]), stop))
    return start, gaps[-1].start() if gaps else stop


def _far_html(text: str) -> str:
    return f'<span class="fn-far"><span>{escape(text)}</span></span>' if text else ""


def _near_html(passage: str, window: Span, spans: Sequence[Span]) -> str:
    begin, end = window
    inside = [(start - begin, stop - begin) for start, stop in spans if begin <= start < end]
    return marked_html(passage[begin:end], inside)


def marked_html(passage: str, spans: Sequence[Span]) -> str:
    """The passage, escaped, with the spans in `<mark>`; spans may overlap and be in any order."""
    pieces, end = [], 0
    for start, stop in _merged(spans):
        pieces += [escape(passage[end:start]), f"<mark>{escape(passage[start:stop])}</mark>"]
        end = stop
    return "".join([*pieces, escape(passage[end:])])


def _merged(spans: Sequence[Span], *, gap: int = 0) -> list[Span]:
    """The spans in order, those made one that overlap or lie less than `gap` apart."""
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1] + gap:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged
