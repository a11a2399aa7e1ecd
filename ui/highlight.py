"""Where a quote stands in its passage, and the passage with it marked."""

import re
import unicodedata
from collections.abc import Sequence, Set

from ui.html import escape

Span = tuple[int, int]
NEAR = 90  # characters shown before and after a quote
REACH = 30  # how far to look for white space to cut at
FOLDED_FROM = 60  # a remainder shorter than this is not worth folding
ELLIPSIS = re.compile(r"\.{3,}|[…‥]+")
PUNCTUATION = ".,;:!?。、！？)）」』"
CODE = re.compile(r"^(?:```|~~~| {4}|\t)", re.MULTILINE)
WRAPPED = re.compile(r"(?<=[^\n|#]{30})\n(?=[^\W\d_]|[\"'“‘「『（(])")
WHITE_SPACE = re.compile(r"\s+")


def find_quote(quote: str, passage: str) -> Span | None:
    """Where a quote that was found in the document stands in the passage, to mark it there.

    Only letters and digits count, whatever their case and Unicode form, and an ellipsis stands
    for anything: the quote was checked before, here it is only shown. The first place that
    does not begin within a word is taken. None where the quote is not in the passage.
    """
    text, origins = _letters(passage)
    parts = [letters for part in ELLIPSIS.split(quote) if (letters := _letters(part)[0])]
    begins = {at for at, origin in enumerate(origins) if _begins_word(passage, origin)}
    places: list[Span] = []
    for part in parts:
        place = _place(part, text, places[-1][1] if places else 0, begins)
        if place is None:
            return None
        places.append(place)
    if not places:
        return None
    end = origins[places[-1][1] - 1] + 1
    return origins[places[0][0]], _with_closing(quote, passage, end)


def _place(part: str, text: str, after: int, begins: Set[int]) -> Span | None:
    pattern = re.compile(f"(?={re.escape(part)})")
    starts = [match.start() for match in pattern.finditer(text, after)]
    start = next((at for at in starts if at in begins), next(iter(starts), None))
    return None if start is None else (start, start + len(part))


def _begins_word(passage: str, at: int) -> bool:
    return at == 0 or not passage[at - 1].isalnum() or not passage[at].isascii()


def _with_closing(quote: str, passage: str, end: int) -> int:
    """The end moved behind the punctuation that closes both the quote and its place."""
    closing = quote[len(quote.rstrip(PUNCTUATION)) :]
    while end < len(passage) and passage[end] in closing:
        end += 1
    return end


def _letters(text: str) -> tuple[str, list[int]]:
    """The text's letters and digits in one form, and where each comes from."""
    folded: list[str] = []
    origins: list[int] = []
    for index, letter in enumerate(text):
        for part in unicodedata.normalize("NFKD", letter).casefold():
            if part.isalnum():
                folded.append(part)
                origins.append(index)
    return "".join(folded), origins


def excerpt_html(passage: str, spans: Sequence[Span]) -> str:
    """The passage, escaped, with the spans in `<mark>` and what is far from them in `fn-far`.

    The style sheet folds the far parts until the reader asks for the whole passage. Spans may
    overlap and be in any order; without any, what stands at the beginning is near.
    """
    near = [_window(passage, span) for span in spans or [(0, 0)]]
    text = _unwrapped(passage)
    pieces, end = [], 0
    for start, stop in _merged(near, gap=FOLDED_FROM):
        pieces += [_far_html(text[end:start]), _near_html(text, (start, stop), spans)]
        end = stop
    return "".join([*pieces, _far_html(text[end:])])


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
