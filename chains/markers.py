"""Citation markers told apart from text while an answer streams in."""

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from chains.brackets import FORMS
from chains.marker import Marker
from chains.marker_reader import (
    MoreNeededError,
    NotAMarkerError,
    read_cut_off,
    read_marker,
    read_unclosed,
)

_SPECIAL = re.compile(r"[\[［【`\n\\]")
_ESCAPED = frozenset(string.punctuation) | set("［【") | {*FORMS}
SHOWN_MARKER = re.compile(r"\[([1-9][0-9]{0,2})\]")
"""A marker as an answer shows it."""
_BACKTICKS = re.compile("`+")
_FENCE = re.compile(
    r"(?P<indent>[ \t]{0,20})(?P<fence>`{3,40}|~{3,40})(?P<info>[^`\n]{0,80})(?P<end>\n|\Z)"
)
_MAY_BE_FENCE = re.compile(r"[ \t]{0,20}(?:`{0,40}|~{0,40}|(?:`{3,40}|~{3,40})[^`\n]{0,80})\Z")


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of the answer that is only text.

    `markdown` is how the answer shows it, "" where that is the text itself. `by_program` marks
    the program's own words, such as an introduction, which need no source.
    """

    text: str
    markdown: str = field(default="", compare=False)
    by_program: bool = field(default=False, compare=False)

    @property
    def shown(self) -> str:
        """The piece in the Markdown of the answer."""
        return self.markdown or self.text


Piece = Text | Marker


def as_text(bracket: str) -> Text:
    """What stands in brackets, shown so that it is read as no marker."""
    return Text(bracket, bracket.replace("[", "\\[").replace("]", "\\]"))


def parse_markers(answer: str) -> list[Piece]:
    """The whole answer in pieces, no two texts in a row."""
    parser = MarkerParser()
    pieces = [piece for line in answer.splitlines(keepends=True) for piece in parser.feed(line)]
    return join_texts(pieces + parser.close())


def open_fence(answer: str) -> str:
    """The line that would close the code block which the answer leaves open, "" without one."""
    parser = MarkerParser()
    for line in answer.splitlines(keepends=True):
        parser.feed(line)
    parser.close()
    return parser.closing_fence


def join_texts(pieces: Iterable[Piece]) -> list[Piece]:
    """The pieces with neighbouring texts of the same writer made one."""
    joined: list[Piece] = []
    for (is_text, _), group in groupby(pieces, _writer):
        if is_text:
            joined.append(_joined([piece for piece in group if isinstance(piece, Text)]))
        else:
            joined.extend(group)
    return joined


def _writer(piece: Piece) -> tuple[bool, bool]:
    return isinstance(piece, Text), isinstance(piece, Text) and piece.by_program


def _joined(texts: list[Text]) -> Text:
    text, shown = "".join(one.text for one in texts), "".join(one.shown for one in texts)
    return Text(text, "" if shown == text else shown, texts[0].by_program)


class MarkerParser:
    """Takes an answer token by token and gives its text and its markers.

    However the answer is cut into tokens, the joined pieces are the same. Text is held back only
    while it could still be a marker or the fence of a code block. Brackets in code are text, and
    outside of it whatever bracket or backtick has a backslash before it, as in CommonMark.
    """

    def __init__(self) -> None:
        self._held = ""
        self._previous = "\n"
        self._fence = ""
        self._indent = ""
        self._code = 0

    @property
    def closing_fence(self) -> str:
        """The line that would close the open code block, "" outside of one."""
        return self._fence and self._indent + self._fence

    def feed(self, token: str) -> list[Piece]:
        """The pieces that are certain now."""
        self._held += token
        return list(self._pieces(final=False))

    def close(self) -> list[Piece]:
        """The pieces left at the end of the answer; an unfinished marker counts as one."""
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
            # Whoever forgets to close a code span does so within its line.
            self._code = 0
        elif self._held[0] == "\\" and not self._code:
            return self._backslash(final=final)
        elif not self._code:
            return self._marker(final=final)
        return self._take(1)

    def _fence_here(self, *, final: bool) -> Text | None:
        """The line that opens or closes a code block, if this is one."""
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
        """It and what it makes text of; in code it is text itself."""
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
        taken, self._held = self._held[:length], self._held[length:]
        self._previous = taken[-1]
        return Text(taken)
