"""Where a quote stands in its passage, and the passage with it marked."""

import re
import unicodedata
from collections.abc import Sequence

from ui.html import escape

Span = tuple[int, int]
NEAR = 90  # characters shown before and after a quote
REACH = 30  # how far to look for white space to cut at
FOLDED_FROM = 60  # a remainder shorter than this is not worth folding
WHITE_SPACE = re.compile(r"\s+")


def find_quote(quote: str, passage: str) -> Span | None:
    """The span of the quote's first occurrence, white space, case and Unicode form aside.

    None where the quote is blank or not in the passage.
    """
    wanted, _ = _folded(quote)
    text, origins = _folded(passage)
    at = text.find(wanted) if wanted else -1
    if at < 0:
        return None
    return origins[at], origins[at + len(wanted) - 1] + 1


def _folded(text: str) -> tuple[str, list[int]]:
    """The text without white space in one Unicode form, and each letter's origin."""
    folded: list[str] = []
    origins: list[int] = []
    for index, letter in enumerate(text):
        for part in unicodedata.normalize("NFKD", letter).casefold():
            if not part.isspace():
                folded.append(part)
                origins.append(index)
    return "".join(folded), origins


def excerpt_html(passage: str, spans: Sequence[Span]) -> str:
    """The passage, escaped, with the spans in `<mark>` and what is far from them in `fn-far`.

    The style sheet folds the far parts until the reader asks for the whole passage. Spans may
    overlap and be in any order; without any, what stands at the beginning is near.
    """
    near = [_window(passage, span) for span in spans or [(0, 0)]]
    pieces, end = [], 0
    for start, stop in _merged(near):
        pieces += [_far_html(passage[end:start]), _near_html(passage, (start, stop), spans)]
        end = stop
    return "".join([*pieces, _far_html(passage[end:])])


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


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged
