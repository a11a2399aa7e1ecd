"""One form for texts that mean the same, for comparing them."""

import unicodedata


def fold(text: str) -> str:
    """The text in NFKC and case-folded: two texts that differ only in form become equal.

    Half-width and full-width forms, decomposed file names (NFD) and ligatures are unified.
    The length may change, so positions in the result are not positions in `text`.
    """
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
