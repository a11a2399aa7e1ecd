"""Finds quotes in their source texts, and looks up those of an answer in the documents."""

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property

from chains.citations.support import find_support
from chains.citations.visible_text import VisibleText
from domain import Citation, CitationState, RetrievedPassage
from domain.language.script import CJK, IS_CJK
from domain.language.tokens import content_tokens

# 가능 must not be found inside 불가능, nor 可能 inside 不可能.
_NEGATING_PREFIXES = "불비미무몰不非無未"
_NUMERALS = "〇零一二三四五六七八九十百千万億兆십백천만억조"
# A list such as "3만 5만" or "2024 200" is not one number, and 제3조 means "Article 3".
_SPACE_IN_NUMBER = re.compile(
    r"""
    (?<=\d[만万])[^\S\n](?:\d{1,4}|\d,\d{3})(?![\d,만万억億년年월月])
  | (?<=\d[억億])[^\S\n][\d,]{1,5}[천千]?[만万]
  | (?<=\d[조兆])(?<!제\d조)(?<!제\d\d조)[^\S\n][\d,]{1,5}[천千]?[억億]
  | (?<=\d)(?<!\d{4})[\u00a0\u202f]\d{3}(?!\d)
    """,
    re.VERBOSE,
)


def cuts_a_word(visible: VisibleText, form_span: tuple[int, int], span: tuple[int, int]) -> bool:
    """Whether `visible.form[slice(*form_span)]`, at `span` in the text, cuts through a word.

    Korean, Japanese, and Chinese text is not split into words. There, it is only checked that no
    negating prefix precedes the span and that it is not part of a longer numeral. A numeral may
    contain spaces: 3억 2,000만.
    """
    form, (start, end) = visible.form, form_span
    before, after = form[max(0, start - 2) : start], form[end : end + 2]
    if unicodedata.combining(form[start]) or unicodedata.combining(after[:1] or " "):
        return True
    if any(_SPACE_IN_NUMBER.match(visible.text, at) for at in (span[0] - 1, span[1])):
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
    return character == "_" or (character.isalnum() and not IS_CJK.match(character))


def _is_numeral(character: str) -> bool:
    return character.isdecimal() or (character != "" and character in _NUMERALS)


def _begins_inside(before: str, first: str) -> bool:
    previous, further = before[-1:], before[-2:-1]
    if _is_numeral(first) and _is_numeral(previous):
        return True
    if _is_word(first):
        if previous == "-":
            return first.isdecimal() or _is_word(further)
        if first.isdecimal() and previous and previous in ".,:/^":
            return further.isdecimal() or (previous == "." and not further.isalnum())
        return _is_word(previous)
    return _is_negated(previous, first)


def _is_negated(previous: str, first: str) -> bool:
    """Whether the previous character negates the word that begins with the first one."""
    if previous == "부":  # 不 is read 부 before ㄷ and ㅈ (부적합), and 불 elsewhere
        return (ord(first) - ord("가")) // 588 in (3, 12)
    return previous != "" and previous in _NEGATING_PREFIXES and first.isalnum()


def _ends_inside(last: str, after: str) -> bool:
    following, further = after[:1], after[1:2]
    if _is_numeral(last):
        if _is_numeral(following):
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
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CLOSING = " '.,;:!?。、「」"
_SENTENCE_END = re.compile(r"[.!?] |[。！？]|다\.")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nor|without|cannot|except|unless)\b|n't\b"
    r"|않|없|못|아니|불가|금지|제외|ない|なかった|ません|なし|なく|不可|禁止|除"
)


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """The span of the text that contains the quote.

    White space, Unicode form, typographic marks, and Markdown syntax, escaped or not, are ignored
    (see `VisibleText`), and so is closing punctuation that the text lacks. Case, words, numbers,
    and inner punctuation must match. A quote may not begin or end inside a word or number: "5 days"
    is not a quote from "15 days", nor "can" from "cannot". An ellipsis may replace up to 300
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
        for needle in _needles(words):
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


def _needles(words: str) -> dict[str, None]:
    r"""The normal forms to look for: as written, then without escapes.

    A model may write `**x**` as `\*\*x\*\*` to show the marks of the document.
    """
    texts = dict.fromkeys((words, _ESCAPED.sub(r"\1", words)))
    forms = [VisibleText(text).form for text in texts]
    return dict.fromkeys(needle for form in forms for needle in (form, _without_outer_marks(form)))


def _without_outer_marks(form: str) -> str:
    return form.removeprefix("...").rstrip(_CLOSING).lstrip(" '「")


def _hides_negation(skipped: str) -> bool:
    """Whether text skipped by an ellipsis negates the sentence before or after it."""
    stretches = _SENTENCE_END.split(skipped)
    return any(map(_NEGATION.search, (stretches[0], stretches[-1])))


NEAR_CHARS = 500_000
"""Characters before and after the passage that are searched for a quote.

This covers all but huge documents entirely.
"""


def citation_of(passage: RetrievedPassage, state: CitationState, quote: str) -> Citation:
    """A citation of the passage, without the position of the quote."""
    return Citation(
        n=passage.n,
        state=state,
        quote=quote,
        title=passage.title,
        location=passage.location,
        document_id=passage.document_id,
        passage_id=passage.passage_id,
        version=passage.version,
        page=passage.page,
        heading_path=passage.heading_path,
        passage_text=passage.text,
    )


class Evidence:
    """Looks up quotes in a retrieved passage and in the stored document around it."""

    def __init__(
        self, passage: RetrievedPassage, document_text: Callable[[str], str | None]
    ) -> None:
        self._passage = passage
        self._document_text = document_text
        self._by_quote: dict[str, Citation | None] = {}

    def check(self, quote: str, statement: str) -> Citation:
        """The citation of a marker with this quote, or with this statement if it has no quote.

        A quote that proves nothing, because it is too short or a heading, must occur in the passage
        or its headings, and the statement is checked in its place.
        """
        if not quote:
            return self._supporting(statement)
        if citation := self.cite(quote):
            return citation
        return self._supporting(statement) if self._contains(quote) else self._missing(quote)

    def cite(self, quote: str) -> Citation | None:
        """The verified citation of the quote, None if it is not found or proves nothing.

        It is the same for each call.
        """
        if quote not in self._by_quote:
            self._by_quote[quote] = self._find_quote(quote) if proves_something(quote) else None
        return self._by_quote[quote]

    def _contains(self, words: str) -> bool:
        """Whether the passage or one of its headings contains the words."""
        headings = map(QuoteFinder, (self._passage.title, *self._passage.heading_path))
        return any(finder.find_words(words) for finder in (self._in_passage, *headings))

    def _find_quote(self, quote: str) -> Citation | None:
        span = self._in_passage.find_statement(quote)
        if span:
            return self._span_citation(*span)
        text, start = self._surroundings
        span = self._in_surroundings.find_statement(quote)
        if span is None:
            return None
        return replace(
            citation_of(self._passage, CitationState.VERIFIED, text[slice(*span)]),
            start=start + span[0],
            end=start + span[1],
        )

    def _supporting(self, statement: str) -> Citation:
        headings = " \n".join((self._passage.title, *self._passage.heading_path))
        span = find_support(statement, self._passage.text, headings)
        citation = self._span_citation(*span) if span else self._missing("")
        return replace(citation, quoted_by_answer=False)

    def _span_citation(self, start: int, end: int) -> Citation:
        """The citation of a span of the passage; its offsets are -1 if the document has changed."""
        passage = self._passage
        citation = citation_of(passage, CitationState.VERIFIED, passage.text[start:end])
        if self._offset < 0:
            return citation
        return replace(citation, start=self._offset + start, end=self._offset + end)

    def _missing(self, quote: str) -> Citation:
        return citation_of(self._passage, CitationState.NOT_FOUND, quote)

    @cached_property
    def _in_passage(self) -> QuoteFinder:
        return QuoteFinder(self._passage.text)

    @cached_property
    def _in_surroundings(self) -> QuoteFinder:
        return QuoteFinder(self._surroundings[0])

    @cached_property
    def _text(self) -> str:
        return self._document_text(self._passage.document_id) or ""

    @cached_property
    def _offset(self) -> int:
        passage, start = self._passage.text, self._passage.start
        if not passage:
            return -1
        if self._text.startswith(passage, start):
            return start
        return self._text.find(passage)  # the document has changed

    @cached_property
    def _surroundings(self) -> tuple[str, int]:
        start = max(0, self._offset - NEAR_CHARS)
        return self._text[start : start + len(self._passage.text) + 2 * NEAR_CHARS], start
