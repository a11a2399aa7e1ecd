"""Splits an answer of a model into safe text and citation markers."""

import re
from collections.abc import Iterable, Mapping

from chains.citations.formulas import Formulas
from chains.citations.live_markup import defuse, has_live_markup
from chains.citations.marker_parser import MarkerParser
from chains.citations.markers import Claim, Marker
from chains.citations.pieces import Piece, Text, as_text, text_of
from chains.citations.quotes import QuoteFinder
from chains.citations.visible_text import restoration
from domain import RetrievedPassage


class SafeParser(MarkerParser):
    """Escapes HTML, links, and images in the Markdown of the pieces, except in code.

    A client that shows the answer loads nothing and shows every address. Fences and backticks that
    are no code are escaped too, so that all clients read the same code, except next to formulas.
    """

    def __init__(self, restored: Mapping[int, str] | None = None) -> None:
        """Create a parser that replaces these look-alikes by brackets."""
        super().__init__()
        self._formulas = Formulas()
        self._restored = restored or {}
        self._escaped = {mark: as_text(text).shown for mark, text in self._restored.items()}

    def feed(self, token: str) -> list[Piece]:
        """The pieces that can no longer change; carriage returns are dropped."""
        return super().feed(token.replace("\r", ""))

    def _read_text(self, shown: str) -> None:
        if not shown.startswith("`"):  # code
            self._formulas.read(shown)
        super()._read_text(shown)

    def _end_line(self, line: str) -> None:
        super()._end_line(line)
        self._formulas.end_line(line)
        if self._formulas.is_open:
            self._lists.forget()

    @property
    def _is_doubtful(self) -> bool:
        """Whether a client may read the open code block as text."""
        return self._is_lost or self._formulas.is_lost or self._formulas.is_open

    def _take(self, length: int) -> Text:
        before, after = self._previous, self._held[length : length + 1]
        raw = self._cut(length)
        text = raw.translate(self._restored)
        if raw.startswith("\\"):
            return Text(text)
        shown = defuse(raw, before=before, after=after).translate(self._escaped)
        if raw.startswith(("`", "~~~")):  # no code
            shown = "".join(f"\\{character}" for character in raw)
        return text_of(text, shown)

    def _take_code(self, length: int) -> Text:
        before, after = self._previous, self._held[length : length + 1]
        text = self._cut(length).translate(self._restored)
        if not self._fence or not self._is_doubtful:
            return Text(text)
        self._formulas.read_block(text)
        before, after = (around.translate(self._restored) for around in (before, after))
        return text_of(text, defuse(text, before=before, after=after, is_code=True))

    def _is_code(self, span: str) -> bool:
        """Whether the span is code in all clients, or harmless."""
        span = span.translate(self._restored)
        is_certain = not self._is_lost and self._formulas.is_certain(span)
        if not is_certain and has_live_markup(span):
            return False
        self._formulas.read_span(span)
        return True

    def _marker(self, *, final: bool) -> Piece:
        piece = super()._marker(final=final)
        if isinstance(piece, Marker):
            self._previous = "]"  # its last character as displayed
        return piece


_QUOTATION_CHARS = 2_000
"""The longest part of a line that can show that a bracket is inside a quotation."""
_OPEN_QUOTATION = re.compile(r"[“„「『«]([^“”„「」『』«»]*)\Z")


def read_answer(answer: str, passages: Iterable[RetrievedPassage]) -> list[Piece]:
    """The pieces of a whole answer by a model that received the passages."""
    return AnswerReader(passages).parse(answer)


class AnswerReader(SafeParser):
    """Distinguishes the model's markers from brackets that it copied from the passages.

    Look-alikes (see `restoration`) become brackets again. A bare number in brackets counts as
    copied if a passage contains it and no passage has that number, or if it is inside a quotation
    that a passage contains up to that point. Copied brackets are escaped in the Markdown of the
    pieces, so every unescaped `[n]` is a marker of the model.
    """

    def __init__(self, passages: Iterable[RetrievedPassage] = ()) -> None:
        """Create a reader for an answer about these passages."""
        texts_by_number = {passage.n: passage.text for passage in passages}
        self._numbers = texts_by_number.keys()
        self._texts = set(texts_by_number.values())
        super().__init__(restoration(self._texts))
        self._before = ""

    def _cut(self, length: int) -> str:
        raw = super()._cut(length)
        line = (self._before + raw.translate(self._restored)).rpartition("\n")[2]
        self._before = line[-_QUOTATION_CHARS:]
        return raw

    def _marker(self, *, final: bool) -> Piece:
        before = self._before
        piece = super()._marker(final=final)
        if isinstance(piece, Text):
            return piece
        if self._is_copied(piece, before):
            return as_text(piece.raw)
        claims = (Claim(one.n, one.quote.translate(self._restored)) for one in piece.claims)
        return Marker(piece.raw, tuple(claims))

    def _is_copied(self, marker: Marker, before: str) -> bool:
        """Whether the marker is a bracket that the model copied from a passage."""
        quoted = _open_quotation(before)
        if any(map(str.isalnum, quoted)) and self._is_in_a_passage(quoted + marker.raw):
            return True
        is_bare = not any(claim.quote for claim in marker.claims)
        is_unknown = any(claim.n not in self._numbers for claim in marker.claims)
        return is_bare and is_unknown and any(marker.raw in text for text in self._texts)

    def _is_in_a_passage(self, words: str) -> bool:
        return any(words in text or QuoteFinder(text).find_words(words) for text in self._texts)


def _open_quotation(line: str) -> str:
    """The text after a quotation mark that the line does not close, or ""."""
    match = _OPEN_QUOTATION.search(line)
    if match:
        return match[1]
    return line.rpartition('"')[2] if line.count('"') % 2 else ""
