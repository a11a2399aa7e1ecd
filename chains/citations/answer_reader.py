"""Splits an answer, complete or streamed, into text and citation markers."""

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from chains.citations.markers import (
    Claim,
    Marker,
    MoreNeededError,
    NotAMarkerError,
    read_cut_off,
    read_marker,
    read_unclosed,
)
from chains.citations.quotes import QuoteFinder
from chains.citations.visible_text import FORMS, escape, restoration
from domain import RetrievedPassage

if TYPE_CHECKING:
    from langchain_core.messages.content import Citation


_SPECIAL = re.compile(r"[\[［【`\n\\]")
_ESCAPED = frozenset(string.punctuation) | set("［【") | {*FORMS}
SHOWN_MARKER = re.compile(r"\[([1-9][0-9]{0,2})\]")
"""A marker as displayed in an answer."""
_BACKTICKS = re.compile("`+")
_FENCE = re.compile(
    r"(?P<indent>[ \t]{0,20})(?P<fence>`{3,40}|~{3,40})(?P<info>[^`\n]{0,80})(?P<end>\n|\Z)"
)
_MAY_BE_FENCE = re.compile(r"[ \t]{0,20}(?:`{0,40}|~{0,40}|(?:`{3,40}|~{3,40})[^`\n]{0,80})\Z")


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
    """Bracketed text, escaped so that it is not read as a marker."""
    return Text(bracket, bracket.replace("[", "\\[").replace("]", "\\]"))


def parse_markers(answer: str) -> list[Piece]:
    """The pieces of a whole answer, without consecutive texts."""
    return MarkerParser().parse(answer)


def open_fence(answer: str) -> str:
    """The line that would close an open code block at the end of the answer, or ""."""
    parser = MarkerParser()
    parser.parse(answer)
    return parser.closing_fence


def join_texts(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces, with consecutive texts of the same writer joined."""
    joined: list[Piece] = []
    for (is_text, _), group in groupby(pieces, _writer):
        if is_text:
            joined.append(_joined([piece for piece in group if isinstance(piece, Text)]))
        else:
            joined.extend(group)
    return joined


def as_markdown(pieces: Sequence[Piece]) -> str:
    """The pieces as Markdown for the answer, where markers are only numbers."""
    return "".join(piece.shown for piece in pieces)


def plain_text(pieces: Sequence[Piece]) -> str:
    """The pieces as text, without Markdown escapes."""
    return "".join(piece.text if isinstance(piece, Text) else piece.shown for piece in pieces)


def _writer(piece: Piece) -> tuple[bool, bool]:
    return isinstance(piece, Text), isinstance(piece, Text) and piece.by_program


def _joined(texts: list[Text]) -> Text:
    text, shown = "".join(one.text for one in texts), "".join(one.shown for one in texts)
    return Text(text, "" if shown == text else shown, texts[0].by_program)


class MarkerParser:
    """Splits a streamed answer into text and markers.

    The joined pieces do not depend on how the answer is split into tokens. Text is held back only
    while it could still become a marker or the fence of a code block. As in CommonMark, brackets
    in code or after a backslash are text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._previous = "\n"
        self._fence = ""
        self._indent = ""
        self._code = 0

    @property
    def closing_fence(self) -> str:
        """The line that would close the open code block, or ""."""
        return self._fence and self._indent + self._fence

    def parse(self, answer: str) -> list[Piece]:
        """The pieces of a whole answer, without consecutive texts."""
        pieces = [piece for line in answer.splitlines(keepends=True) for piece in self.feed(line)]
        return join_texts(pieces + self.close())

    def feed(self, token: str) -> list[Piece]:
        """The pieces that can no longer change."""
        self._held += token
        return list(self._pieces(final=False))

    def close(self) -> list[Piece]:
        """The remaining pieces; an unfinished marker at the end counts as a marker."""
        return list(self._pieces(final=True))

    def _pieces(self, *, final: bool) -> Iterator[Piece]:
        while self._held:
            try:
                piece = self._next_piece(final=final)
            except MoreNeededError:
                return
            yield piece

    def _next_piece(self, *, final: bool) -> Piece:
        if self._previous == "\n" and not self._code:
            fence = self._fence_here(final=final)
            if fence:
                return fence
        if self._fence:
            return self._take(self._held.find("\n") + 1 or len(self._held))
        special = _SPECIAL.search(self._held)
        if special is None or special.start() > 0:
            return self._take(special.start() if special else len(self._held))
        if self._held[0] == "`":
            return self._backticks(final=final)
        if self._held[0] == "\n":
            # An unclosed code span ends with its line.
            self._code = 0
        elif self._held[0] == "\\" and not self._code:
            return self._backslash(final=final)
        elif not self._code:
            return self._marker(final=final)
        return self._take(1)

    def _fence_here(self, *, final: bool) -> Text | None:
        """The line if it opens or closes a code block."""
        match = _FENCE.match(self._held)
        if not final and not (match and match["end"]) and _MAY_BE_FENCE.match(self._held):
            raise MoreNeededError
        if match is None:
            return None
        if not self._fence:
            self._fence, self._indent = match["fence"], match["indent"]
        elif match["fence"].startswith(self._fence) and not match["info"].strip():
            self._fence = ""
        return self._take(match.end())

    def _backticks(self, *, final: bool) -> Text:
        run = _BACKTICKS.match(self._held)
        length = run.end() if run else 0
        if length == len(self._held) and not final:
            raise MoreNeededError
        if not self._code:
            self._code = length
        elif self._code == length:
            self._code = 0
        return self._take(length)

    def _backslash(self, *, final: bool) -> Text:
        """The backslash with the character that it escapes."""
        if len(self._held) == 1 and not final:
            raise MoreNeededError
        return self._take(2 if self._held[1:2] and self._held[1] in _ESCAPED else 1)

    def _marker(self, *, final: bool) -> Piece:
        try:
            marker = self._read(final=final)
        except NotAMarkerError:
            bare = SHOWN_MARKER.match(self._held)
            return as_text(self._take(bare.end()).text) if bare else self._take(1)
        self._take(len(marker.raw))
        return marker

    def _read(self, *, final: bool) -> Marker:
        try:
            return read_marker(self._held, 0)
        except NotAMarkerError:
            return read_unclosed(self._held, 0)
        except MoreNeededError:
            if not final:
                raise
        try:
            return read_unclosed(self._held, 0)
        except NotAMarkerError:
            return read_cut_off(self._held, 0)

    def _take(self, length: int) -> Text:
        text, self._held = self._held[:length], self._held[length:]
        self._previous = text[-1]
        return Text(text)


_OPEN_QUOTATION = re.compile(r"[“„「『«]([^“”„「」『』«»]*)\Z")


def read_answer(answer: str, passages: Iterable[RetrievedPassage]) -> list[Piece]:
    """The pieces of a whole answer by a model that received the passages."""
    return AnswerReader(passages).parse(answer)


class AnswerReader(MarkerParser):
    """Distinguishes the model's markers from brackets that it copied from the passages.

    Look-alikes (see `restoration`) become brackets again. A bare number in brackets counts as
    copied if a passage contains it and no passage has that number, or if it is inside a quotation
    that a passage contains up to that point. Copied brackets are escaped in the Markdown of the
    pieces, so every unescaped `[n]` is a marker of the model.
    """

    def __init__(self, passages: Iterable[RetrievedPassage] = ()) -> None:
        """Create a reader for an answer about these passages."""
        super().__init__()
        texts_by_number = {passage.n: passage.text for passage in passages}
        self._numbers = texts_by_number.keys()
        self._texts = set(texts_by_number.values())
        self._restored = restoration(self._texts)
        self._escaped = {mark: as_text(text).shown for mark, text in self._restored.items()}
        self._line = ""

    def _take(self, length: int) -> Text:
        is_code = bool(self._code or self._fence)
        taken = super()._take(length).text
        text = taken.translate(self._restored)
        self._line = (self._line + text).rpartition("\n")[2]
        if is_code or taken.startswith("\\"):
            return Text(text)
        return Text(text, "" if text == taken else taken.translate(self._escaped))

    def _marker(self, *, final: bool) -> Piece:
        before = self._line
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


class WrittenAnswer:
    """The pieces of an answer so far; each method returns the Markdown that it adds."""

    def __init__(self, passages: Iterable[RetrievedPassage] = ()) -> None:
        """Start an answer about these passages."""
        self.pieces: list[Piece] = []
        self._reader = AnswerReader(passages)
        self._characters = 0

    def read(self, text: str, citations: "Sequence[Citation] | None" = None) -> str:
        """Add text of a model, or of the program if `citations` is not None (it may be empty).

        The program's text is not parsed, and needs no citation outside its quotations.
        """
        start = self._characters
        self._characters += len(text)
        if citations is not None:
            return self.take(_pieces(text, citations, start))
        return self._add(self._reader.feed(text))

    def take(self, pieces: Sequence[Piece]) -> str:
        """Add these pieces."""
        return self.close() + self._add(pieces)

    def close(self) -> str:
        """Add the model's text that was held back because it could have become a marker."""
        return self._add(self._reader.close())

    def _add(self, pieces: Sequence[Piece]) -> str:
        self.pieces += pieces
        return as_markdown(pieces)


def quotation(n: int, words: str) -> list[Piece]:
    """The words of passage `n` in quotation marks, and the marker that cites them."""
    lines = escape(words).replace("\n", "  \n")  # Markdown line breaks
    quoted = Text(f"“{words}” ", f"“{lines}” ")
    return [quoted, Marker(f"[{n}]", (Claim(n, words),), quotes=len(words) + len("“”"))]


def citation(n: int, words: str, start: int) -> "Citation":
    """LangChain's annotation for the text of `quotation` at offset `start` of an answer."""
    end = start + len(as_markdown(quotation(n, words)))
    return {
        "type": "citation",
        "cited_text": words,
        "start_index": start,
        "end_index": end,
        "extras": {"n": n},
    }


def _pieces(text: str, citations: "Iterable[Citation]", start: int) -> list[Piece]:
    """The pieces of a text at offset `start` of the answer, with its annotated quotations."""
    pieces: list[Piece] = []
    position = 0
    for one in citations:
        pieces += _own_words(text[position : one["start_index"] - start])
        pieces += quotation(one["extras"]["n"], one["cited_text"])
        position = one["end_index"] - start
    return pieces + _own_words(text[position:])


def _own_words(text: str) -> list[Piece]:
    return [Text(text, by_program=True)] if text else []
