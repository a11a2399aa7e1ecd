"""Finding a quote in the text it claims to come from."""

import re
import unicodedata
from collections.abc import Iterator

from chains.visible_text import VisibleText
from chains.word_edges import cuts_a_word
from language.characters import CJK
from language.tokens import content_tokens

MIN_WEIGHT = 3
"""What a quote must weigh to prove anything: a word or number counts 2, a CJK character 1."""

_GAP_CHARS = 300
_MAX_PARTS = 5
_ELLIPSIS = re.compile(r"\s*[\[(]?\s*\.\.\.\s*[\])]?\s*")
_UNIT = re.compile(rf"(?P<cjk>[{CJK}])|[^\W_{CJK}]+")
_CLOSING = " '.,;:!?。、「」"
_SENTENCE_END = re.compile(r"[.!?] |[。！？]|다\.")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|without|cannot|except|unless)\b|n't\b"
    r"|않|없|못|아니|불가|금지|제외|ない|なかった|ません|なし|なく|不可|禁止|除"
)


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where the text says the quote's words, as an exact span of the text.

    White space, Unicode form, typographic marks and Markdown decoration do not count (see
    `VisibleText`); case, words, numbers and inner punctuation do, and closing punctuation that
    the text lacks does not. A quote may not begin or end inside a word or number: "5 days" is
    no quote from "15 days", nor "can" from "cannot". An ellipsis in a quote may stand for up to
    300 characters, but not for the negation of what is left.

    Returns:
        The first such span; None where there is none or the quote is too short to prove
        anything (see `proves_something`).
    """
    return QuoteFinder(text).find(quote)


def proves_something(quote: str) -> bool:
    """Whether finding the quote would mean anything: not for one word or a lone number."""
    units = _UNIT.finditer(unicodedata.normalize("NFKC", quote))
    weight = sum(1 if unit["cjk"] else 2 for unit in units)
    return weight >= MIN_WEIGHT and bool(content_tokens(quote))


class QuoteFinder:
    """`find_quote` for many quotes from one text, which is prepared only once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._visible = VisibleText(text)

    def find(self, quote: str) -> tuple[int, int] | None:
        """The span of the quote, as `find_quote` returns it."""
        return self.find_words(quote) if proves_something(quote) else None

    def find_words(self, words: str) -> tuple[int, int] | None:
        """The span of words however few: they occur, which need not prove anything."""
        form = VisibleText(words).form
        for wanted in dict.fromkeys((form, _without_outer_marks(form))):
            if any(map(str.isalnum, wanted)):
                span = next(self._occurrences(wanted), None) or self._find_parts(wanted)
                if span:
                    return self._visible.span(*span)
        return None

    def _find_parts(self, wanted: str) -> tuple[int, int] | None:
        parts = [part for part in map(_without_outer_marks, _ELLIPSIS.split(wanted)) if part]
        if not 2 <= len(parts) <= _MAX_PARTS or not all(map(proves_something, parts)):
            return None
        for start, end in self._occurrences(parts[0]):
            last = self._find_following(parts[1:], end)
            if last:
                return start, last
        return None

    def _find_following(self, parts: list[str], after: int) -> int | None:
        """The end of the last part, where all follow in order, each near the one before."""
        for part in parts:
            found = next(self._occurrences(part, after, after + _GAP_CHARS + len(part)), None)
            if found is None or _hides_negation(self._visible.form[after : found[0]]):
                return None
            after = found[1]
        return after

    def _occurrences(
        self, wanted: str, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[int, int]]:
        form = self._visible.form
        at = form.find(wanted, start, stop)
        while at >= 0:
            end = at + len(wanted)
            span = self._visible.span(at, end)
            if span and not cuts_a_word(self._visible, (at, end), span):
                yield at, end
            at = form.find(wanted, at + 1, stop)


def _without_outer_marks(form: str) -> str:
    return form.removeprefix("...").rstrip(_CLOSING).lstrip(" '「")


def _hides_negation(skipped: str) -> bool:
    """Whether what an ellipsis skips negates the sentence before or after it."""
    stretches = _SENTENCE_END.split(skipped)
    return any(map(_NEGATION.search, (stretches[0], stretches[-1])))
