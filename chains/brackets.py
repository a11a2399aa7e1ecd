"""A document's own brackets, which must not be read as citation markers."""

import re
import unicodedata
from collections.abc import Iterable, Mapping

_LOOKALIKES = {"[]": ("⟦⟧", "⟬⟭"), "［］": ("〚〛", "〘〙"), "【】": ("〖〗", "⦗⦘")}
"""By pair of brackets those that a model is shown for them, the first that its sources lack."""

FORMS: Mapping[str, str] = {
    lookalike: unicodedata.normalize("NFKC", bracket)
    for brackets, pairs in _LOOKALIKES.items()
    for pair in pairs
    for bracket, lookalike in zip(brackets, pair, strict=True)
}
"""Every look-alike, and the bracket it stands for in its normal form."""

_LIKE_A_MARKER = re.compile(r"([\[［【]\s*\d(?:[^\[\]［］【】\n]*[\]］】])?)")
_MARKDOWN = re.compile(r"[\\`*\[\]]|(?<!\w)_|_(?!\w)")


def lookalikes(texts: Iterable[str]) -> dict[int, str]:
    """The table for `str.translate` from brackets to look-alikes that none of the texts holds.

    Where they hold all that there are, it is one of theirs.
    """
    used = set().union(*texts)
    free = (_free(pairs, used) for pairs in _LOOKALIKES.values())
    return dict(zip(map(ord, "".join(_LOOKALIKES)), "".join(free), strict=True))


def restoration(texts: Iterable[str]) -> dict[int, str]:
    """The table that undoes `neutralize` in what a model wrote from these texts.

    Look-alikes that the texts hold themselves stay what they are.
    """
    used = set().union(*texts)
    return str.maketrans(
        {
            lookalike: bracket
            for brackets, pairs in _LOOKALIKES.items()
            for pair in pairs
            if used.isdisjoint(pair)
            for bracket, lookalike in zip(brackets, pair, strict=True)
        }
    )


def neutralize(text: str, table: Mapping[int, str]) -> str:
    """The text with look-alikes for those brackets that could be read as a citation marker.

    A model that copies such a text writes no marker: `[42]` becomes `⟦42⟧`.
    """
    parts = _LIKE_A_MARKER.split(text)
    return "".join(part.translate(table) if n % 2 else part for n, part in enumerate(parts))


def escape(text: str) -> str:
    """Words of a document as they stand in the Markdown of an answer: brackets mean nothing."""
    return _MARKDOWN.sub(r"\\\g<0>", text)


def _free(pairs: tuple[str, ...], used: set[str]) -> str:
    return next((pair for pair in pairs if used.isdisjoint(pair)), pairs[-1])
