"""The pieces of an answer: text, and citation markers, which may be incomplete."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

from chains.citations.quotes import proves_something
from chains.citations.visible_text import defuse


@dataclass(frozen=True, slots=True)
class Claim:
    """One passage number of a marker, with its quote, if any."""

    n: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker as written (`raw`) and its claims in order.

    `quotes` is the length of the quotation before it, except for spaces between them, if the
    answerer reported it; 0 if the quotation must be found in the text.
    """

    raw: str
    claims: tuple[Claim, ...]
    quotes: int = 0

    @property
    def shown(self) -> str:
        """The marker as displayed, with only the numbers: `[1][2]`."""
        return "".join(f"[{claim.n}]" for claim in self.claims)


MAX_NUMBER = 99
"""The largest number of a marker without a quote; larger ones are years or amounts."""
MAX_MARKER_CHARS = 1_000
"""The maximum length of a marker, and so of the text that is held back."""

OPENING = {"[": "]", "［": "］", "【": "】"}
_QUOTES = {
    '"': '"”', "“": '”"', "„": '”“"', "＂": "＂", "'": "'’", "‘": "’'",
    "「": "」", "『": "』", "«": "»", "《": "》",
}  # fmt: skip
_SEPARATORS = ",，、;；·&"
_RANGES = "-–—~〜～"
_COLONS = ":："
_SPACES = " \t\u00a0\u3000"
_CLOSING_OR_LINE_END = {mark: re.compile(rf"[\{mark}\n]") for mark in OPENING.values()}


class MoreNeededError(Exception):
    """The text so far may still become a marker."""


class NotAMarkerError(Exception):
    """The bracket is text, regardless of what follows."""


def read_marker(text: str, *, final: bool) -> Marker:
    """The marker that begins with the bracket at the beginning of the text.

    Forms: `[1]`, `[1, 2]`, `[1-3]`, `［１］`, `【1†...】`, `[1: "words"]`, `[1: "a", 2: 「b」]`.
    Not markers: `[1](target)`, `[2024]`, `[text]`, anything with a blank line.

    Args:
        text: The rest of the answer so far.
        final: Whether nothing follows the text, so that it may cut the marker off.

    Raises:
        MoreNeededError: The text ends before that is certain.
        NotAMarkerError: It is not a marker.
    """
    try:
        return _Reader(text).marker()
    except NotAMarkerError:
        return _unclosed(text)
    except MoreNeededError:
        if not final:
            raise
    try:
        return _unclosed(text)
    except NotAMarkerError:
        return _cut_off(text)


def _unclosed(text: str) -> Marker:
    """The marker whose bracket is never closed, up to the end of its first quote.

    If only a bracket inside the quote is unclosed, it is ignored and the marker is complete.

    Raises:
        NotAMarkerError: Not even one quote is complete.
    """
    near = text[:MAX_MARKER_CHARS].partition("\n\n")[0]
    try:
        return _Reader(near, in_pairs=False).marker()
    except (MoreNeededError, NotAMarkerError):
        reader = _Reader(near)
    try:
        claim = reader.first_claim()
    except MoreNeededError as error:
        raise NotAMarkerError from error
    return Marker(text[: reader.at], (claim,))


def _cut_off(text: str) -> Marker:
    """The marker that is cut off by the end of the answer; its quote omits the incomplete word.

    Raises:
        NotAMarkerError: It is not a marker.
    """
    if len(text) >= MAX_MARKER_CHARS or "\n\n" in text:
        raise NotAMarkerError
    remainder = text.rstrip(" \n" + _SEPARATORS + _RANGES + _COLONS)
    for mark in ("", *(closers[0] for closers in _QUOTES.values())):
        try:
            claims = _Reader(remainder + mark + OPENING[text[0]] + "\n").marker().claims
        except (MoreNeededError, NotAMarkerError):
            continue
        last = claims[-1]
        return Marker(text, (*claims[:-1], Claim(last.n, _without_last_word(last.quote))))
    raise NotAMarkerError


@cache
def _ends_of_quote(closers: str, closing: str) -> re.Pattern[str]:
    """Matches line ends, and closing marks after which a marker ends, continues, or is cut off."""
    next_claim = rf"[{re.escape(_SEPARATORS)}][{_SPACES}]*(?:\d|[{re.escape(''.join(_QUOTES))}]|\Z)"
    return re.compile(
        rf"\n|[{re.escape(closers)}][{_SPACES}]*(?:{re.escape(closing)}|{next_claim}|\Z)"
    )


def _without_last_word(quote: str) -> str:
    return quote.rpartition(" ")[0] if quote.isascii() else quote


class _Reader:
    def __init__(self, text: str, *, in_pairs: bool = True) -> None:
        self._text = text
        self._in_pairs = in_pairs
        self._opening, self._closing = text[0], OPENING[text[0]]
        self.at = 1

    def marker(self) -> Marker:
        claims = self._claims()
        while self._peek() in _SEPARATORS:
            self.at += 1
            claims += self._claims()
        if self._peek() != self._closing:
            raise NotAMarkerError
        self.at += 1
        raw = self._text[: self.at]
        is_bare = not any(claim.quote for claim in claims)
        if is_bare and self._closing == "]" and self._peek(inside=True) == "(":
            raise NotAMarkerError
        if any(claim.n > MAX_NUMBER and not claim.quote for claim in claims):
            raise NotAMarkerError
        return Marker(raw, tuple(claims))

    def first_claim(self) -> Claim:
        """The first number with its first quote, up to the quote's first closing mark."""
        n = self._number()
        if self._peek() not in _COLONS:
            raise NotAMarkerError
        self.at += 1
        self._skip_spaces()
        closers = _QUOTES.get(self._peek(), "")
        begin = self.at + 1
        ends = [self._text.find(closer, begin) for closer in closers]
        end = min((end for end in ends if end >= 0), default=-1)
        if end < 0 or not proves_something(self._text[begin:end]):
            raise NotAMarkerError
        self.at = end + 1
        return Claim(n, self._text[begin:end].strip())

    def _claims(self) -> list[Claim]:
        first = last = self._number()
        if self._peek() in _RANGES:
            self.at += 1
            last = self._number()
            if not first < last <= MAX_NUMBER:
                raise NotAMarkerError
        if self._peek() == "†":
            self._until_closing()
        quotes = [""]
        if self._peek() in _COLONS:
            self.at += 1
            quotes = self._quotes()
        return [Claim(n, quote) for n in range(first, last + 1) for quote in quotes]

    def _number(self) -> int:
        self._skip_spaces()
        begin = self.at
        while self._peek().isdecimal() and self.at - begin < 4:
            self.at += 1
        digits = self._text[begin : self.at]
        if not 1 <= len(digits) <= 3 or int(digits) == 0:
            raise NotAMarkerError
        self._skip_spaces()
        return int(digits)

    def _quotes(self) -> list[str]:
        self._skip_spaces()
        if self._peek() not in _QUOTES:
            words = self._until_closing()
            if not proves_something(words):
                raise NotAMarkerError
            return [words]
        quotes = [self._quote()]
        while self._peek() in _SEPARATORS and self._after(self.at + 1) in _QUOTES:
            self.at += 1
            self._skip_spaces()
            quotes.append(self._quote())
        return quotes

    def _quote(self) -> str:
        """The words up to the closing mark after which the marker continues or ends."""
        closers = _QUOTES[self._peek()]
        self.at += 1
        begin = self.at
        stops = _ends_of_quote(closers, self._closing)
        self._skip_to(stops)
        while not (self._peek(inside=True) in closers and self._ends(begin)):
            self.at += 1
            self._skip_to(stops)
        quote = self._text[begin : self.at].strip()
        self.at += 1
        self._skip_spaces()
        return quote

    def _ends(self, begin: int) -> bool:
        """Whether the quote ends here; not inside brackets of the quote, as in `x["a"]`."""
        quote = self._text[begin : self.at]
        is_open = self._in_pairs and quote.count(self._opening) > quote.count(self._closing)
        return not is_open and self._may_end(self.at + 1)

    def _may_end(self, at: int) -> bool:
        following = self._after(at)
        if following in _SEPARATORS:
            comma = self._text.index(following, at)
            following = self._after(comma + 1)
            return following.isdecimal() or following in _QUOTES
        return following == self._closing

    def _after(self, at: int) -> str:
        """The next character from `at` on that is not a space."""
        here, self.at = self.at, at
        self._skip_spaces()
        following = self._peek(inside=True)
        self.at = here
        return following

    def _until_closing(self) -> str:
        begin = self.at
        self._skip_to(_CLOSING_OR_LINE_END[self._closing])
        while self._peek() != self._closing:
            self.at += 1
        return self._text[begin : self.at].strip()

    def _skip_to(self, stops: re.Pattern[str]) -> None:
        """Advance to the next match, but at most to the maximum length of a marker."""
        limit = min(len(self._text), MAX_MARKER_CHARS)
        match = stops.search(self._text, self.at, limit)
        self.at = match.start() if match else limit

    def _skip_spaces(self) -> None:
        while self._peek(inside=True) in _SPACES:
            self.at += 1

    def _peek(self, *, inside: bool = False) -> str:
        """The character here; a quote may contain a line break, but not a paragraph break."""
        if self.at >= MAX_MARKER_CHARS:
            raise NotAMarkerError
        if self.at >= len(self._text):
            raise MoreNeededError
        character = self._text[self.at]
        if character == "\n" and not (inside and self._text[self.at - 1] != "\n"):
            raise NotAMarkerError
        return character


_NO_TEXT = re.compile(r"[\\\[\]`~]")


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer that is only text.

    `markdown` is its displayed form, or "" if that equals the text. `by_program` marks text
    written by the program, such as an introduction, which needs no citation.
    """

    text: str
    markdown: str = field(default="", compare=False)
    by_program: bool = field(default=False, compare=False)

    @property
    def shown(self) -> str:
        """The piece as Markdown for the answer."""
        return self.markdown or self.text


Piece = Text | Marker


def as_text(bracket: str) -> Text:
    """Bracketed text, escaped so that it is not read as a marker, a link, code, or HTML."""
    return Text(bracket, defuse(_NO_TEXT.sub(r"\\\g<0>", bracket)))


def as_markdown(pieces: Sequence[Piece]) -> str:
    """The pieces as Markdown for the answer, where markers are only numbers."""
    return "".join(piece.shown for piece in pieces)


def plain_text(pieces: Sequence[Piece]) -> str:
    """The pieces as text, without Markdown escapes."""
    return "".join(piece.text if isinstance(piece, Text) else piece.shown for piece in pieces)


def text_of(text: str, shown: str) -> Text:
    """The text with this Markdown."""
    return Text(text, "" if shown == text else shown)
