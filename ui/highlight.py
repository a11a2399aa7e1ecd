"""Where a quote stands in its passage, and the passage with it marked."""

import unicodedata
from collections.abc import Sequence

from ui.html import escape

Span = tuple[int, int]


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
