"""Finds a quote in its source text."""

import re
import unicodedata
from collections.abc import Iterator

from chains.citations.visible_text import VisibleText
from domain.language.script import CJK
from domain.language.tokens import content_tokens

_IS_CJK = re.compile(f"[{CJK}]")
# 가능 must not be found inside 불가능, nor 可能 inside 不可能.
_NEGATING_PREFIXES = "불비미무몰不非無未"
_NUMERALS = "〇零一二三四五六七八九十百千万億兆십백천만억조"


def cuts_a_word(visible: VisibleText, form_span: tuple[int, int], span: tuple[int, int]) -> bool:
    """Whether `visible.form[slice(*form_span)]`, at `span` in the text, cuts through a word.

    Korean, Japanese, and Chinese text is not split into words. There, it is only checked that no
    negating prefix precedes the span and that it is not part of a longer numeral.
    """
    form, (start, end) = visible.form, form_span
    before, after = form[max(0, start - 2) : start], form[end : end + 2]
    if unicodedata.combining(form[start]) or unicodedata.combining(after[:1] or " "):
        return True
    if not _touches(visible.text, span[0] - 1, -1):
        before = ""
    if not _touches(visible.text, span[1], 1):
        after = ""
    return _begins_inside(before, form[start]) or _ends_inside(form[end - 1], after)


def _touches(text: str, at: int, outward: int) -> bool:
    """Whether the character at `at` may belong to the same word, unlike a space or a long dash."""
    if not 0 <= at < len(text) or text[at].isspace() or text[at] in "\u2014\u2015|":
        return False
    doubled = text[at] == "-" and text[at + outward : at + outward + 1] == "-"
    return not doubled


def _is_word(character: str) -> bool:
    return character == "_" or (character.isalnum() and not _IS_CJK.match(character))


def _begins_inside(before: str, first: str) -> bool:
    previous, further = before[-1:], before[-2:-1]
    if _is_word(first):
        if previous == "-":
            return first.isdecimal() or _is_word(further)
        if first.isdecimal() and previous and previous in ".,:/":
            return further.isdecimal() or (previous == "." and not further.isalnum())
        return _is_word(previous)
    if first in _NUMERALS and (previous.isdecimal() or (previous and previous in _NUMERALS)):
        return True
    return bool(previous) and previous in _NEGATING_PREFIXES and first.isalnum()


def _ends_inside(last: str, after: str) -> bool:
    following, further = after[:1], after[1:2]
    if last.isdecimal() or last in _NUMERALS:
        if following and following in _NUMERALS:
            return True
        if following and following in ".,:/" and further.isdecimal():
            return True
    if not _is_word(last):
        return False
    if following == "-":
        return _is_word(further)
    if (last, following, further) == ("n", "'", "t"):
        return True
    return _is_word(following)


_HEADING_LINE = re.compile(r"[ \t]*#{1,6}[ \t].*")
MIN_WEIGHT = 3
"""The minimum weight of a quote that proves anything; a word weighs 2, a CJK character 1."""

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
    """The span of the text that contains the quote.

    White space, Unicode form, typographic marks, and Markdown syntax are ignored (see
    `VisibleText`), and so is closing punctuation that the text lacks. Case, words, numbers, and
    inner punctuation must match. A quote may not begin or end inside a word or number: "5 days" is
    not a quote from "15 days", nor "can" from "cannot". An ellipsis may replace up to 300
    characters, but not a negation.

    Returns:
        The first such span. None if there is none, or if the quote is too short to prove anything
        (see `proves_something`).
    """
    return QuoteFinder(text).find(quote)


def proves_something(quote: str) -> bool:
    """Whether finding the quote would prove anything; a single word or number does not."""
    units = _UNIT.finditer(unicodedata.normalize("NFKC", quote))
    weight = sum(1 if unit["cjk"] else 2 for unit in units)
    return weight >= MIN_WEIGHT and bool(content_tokens(quote))


class QuoteFinder:
    """`find_quote` for several quotes from one text, which is normalized only once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._visible = VisibleText(text)

    def find(self, quote: str) -> tuple[int, int] | None:
        """See `find_quote`."""
        return self.find_words(quote) if proves_something(quote) else None

    def find_statement(self, quote: str) -> tuple[int, int] | None:
        """Like `find`, but not within heading lines, which name a subject and state nothing."""
        span = self.find(quote)
        if span is None or not _is_heading(self._text, span):
            return span
        return QuoteFinder(_without_headings(self._text)).find(quote)

    def find_words(self, words: str) -> tuple[int, int] | None:
        """The span of the words, even if they are too few to prove anything."""
        form = VisibleText(words).form
        for needle in dict.fromkeys((form, _without_outer_marks(form))):
            if any(map(str.isalnum, needle)):
                span = next(self._occurrences(needle), None) or self._find_parts(needle)
                if span:
                    return self._visible.span(*span)
        return None

    def _find_parts(self, needle: str) -> tuple[int, int] | None:
        parts = [part for part in map(_without_outer_marks, _ELLIPSIS.split(needle)) if part]
        if not 2 <= len(parts) <= _MAX_PARTS or not all(map(proves_something, parts)):
            return None
        for start, end in self._occurrences(parts[0]):
            last = self._find_following(parts[1:], end)
            if last:
                return start, last
        return None

    def _find_following(self, parts: list[str], after: int) -> int | None:
        """The end of the last part if all parts follow in order, each close to the previous one."""
        for part in parts:
            span = next(self._occurrences(part, after, after + _GAP_CHARS + len(part)), None)
            if span is None or _hides_negation(self._visible.form[after : span[0]]):
                return None
            after = span[1]
        return after

    def _occurrences(
        self, needle: str, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[int, int]]:
        form = self._visible.form
        at = form.find(needle, start, stop)
        while at >= 0:
            end = at + len(needle)
            span = self._visible.span(at, end)
            if span and not cuts_a_word(self._visible, (at, end), span):
                yield at, end
            at = form.find(needle, at + 1, stop)


def _is_heading(text: str, span: tuple[int, int]) -> bool:
    """Whether all lines of the span are headings."""
    start, end = text.rfind("\n", 0, span[0]) + 1, text.find("\n", span[1])
    lines = text[start : end if end >= 0 else len(text)].split("\n")
    return all(map(_HEADING_LINE.fullmatch, filter(str.strip, lines)))


def _without_headings(text: str) -> str:
    """The text with spaces in place of heading lines, so that all offsets stay the same."""
    lines = (
        " " * len(line) if _HEADING_LINE.fullmatch(line) else line for line in text.split("\n")
    )
    return "\n".join(lines)


def _without_outer_marks(form: str) -> str:
    return form.removeprefix("...").rstrip(_CLOSING).lstrip(" '「")


def _hides_negation(skipped: str) -> bool:
    """Whether text skipped by an ellipsis negates the sentence before or after it."""
    stretches = _SENTENCE_END.split(skipped)
    return any(map(_NEGATION.search, (stretches[0], stretches[-1])))
