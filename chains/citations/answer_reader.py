"""Splits an answer, complete or streamed, into text and citation markers."""

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from chains.citations.live_markup import HIDES_CODE, defuse, has_live_markup
from chains.citations.markers import (
    MAX_MARKER_CHARS,
    Claim,
    Marker,
    MoreNeededError,
    NotAMarkerError,
    read_cut_off,
    read_marker,
    read_unclosed,
)
from chains.citations.quotes import QuoteFinder
from chains.citations.visible_text import FORMS, restoration
from domain import RetrievedPassage

_SPECIAL = re.compile(r"[\[［【`\n\\<]")
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
    """Bracketed text, escaped so that it is not read as a marker, a link, or HTML."""
    return Text(bracket, defuse(bracket.replace("[", "\\[").replace("]", "\\]")))


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
            joined.append(_join([piece for piece in group if isinstance(piece, Text)]))
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


def _join(texts: list[Text]) -> Text:
    text, shown = "".join(one.text for one in texts), "".join(one.shown for one in texts)
    return replace(_text(text, shown), by_program=texts[0].by_program)


def _text(text: str, shown: str) -> Text:
    return Text(text, "" if shown == text else shown)


def _closes(match: re.Match[str], fence: str) -> bool:
    return match["fence"].startswith(fence) and not match["info"].strip()


class MarkerParser:
    """Splits a streamed answer into text and markers.

    The joined pieces do not depend on how the answer is split into tokens. Text is held back only
    while it could still become a marker, code, or the fence of a code block. As in CommonMark,
    brackets in code or after a backslash are text. Code within a line must end on that line.
    """

    def __init__(self) -> None:
        self._held = ""
        self._previous = "\n"
        self._fence = ""
        self._indent = ""
        self._is_code_span = False
        self._is_code_certain = True
        """Whether every client reads as code what this parser does."""

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
        if self._previous == "\n":
            fence = self._fence_here(final=final)
            if fence:
                return fence
        if self._fence:
            return self._line_of_block(final=final)
        special = _SPECIAL.search(self._held)
        if special is None or special.start() > 0:
            return self._take(special.start() if special else len(self._held))
        match self._held[0]:
            case "\n":
                return self._take(1)
            case "`":
                return self._backticks(final=final)
            case "\\":
                return self._backslash(final=final)
            case "<":
                return self._angle_bracket(final=final)
        return self._marker(final=final)

    def _line_of_block(self, *, final: bool) -> Text:
        """The rest of a line within a code block, except a `<` whose next character is unknown."""
        length = self._held.find("\n") + 1 or len(self._held)
        if self._held[length - 1] == "<" and not final:
            length -= 1
        if not length:
            raise MoreNeededError
        return self._take(length)

    def _fence_here(self, *, final: bool) -> Text | None:
        """The line if it opens or closes a code block."""
        match = _FENCE.match(self._held)
        if not final and not (match and match["end"]) and _MAY_BE_FENCE.match(self._held):
            raise MoreNeededError
        is_like_fence = self._held.lstrip(" \t")[:3] in ("```", "~~~")
        if match is None:
            # The line may open or close a block elsewhere: its backticks or tildes are too many.
            self._is_code_certain &= not is_like_fence
            return None
        is_end = bool(self._fence) and _closes(match, self._fence)
        self._is_code_certain &= not match["info"].startswith("~")  # a longer fence
        if not self._fence:
            self._fence, self._indent = match["fence"], match["indent"]
            self._is_code_certain &= not self._indent  # a list may end, and the block with it
        line = self._take(match.end())
        if is_end:
            self._fence = ""
        return line

    def _backticks(self, *, final: bool) -> Text:
        """A code span, or backticks that nothing on their line closes."""
        length = self._code_span_end(final=final)
        if length and self._is_code(self._held[:length]):
            self._is_code_span = True
            span = self._take(length)
            self._is_code_span = False
            return span
        run = _BACKTICKS.match(self._held[:MAX_MARKER_CHARS])
        return self._take(run.end() if run else 1)

    def _code_span_end(self, *, final: bool) -> int:
        """The length of the code span that begins here, 0 if there is none.

        Raises:
            MoreNeededError: The text ends before that is certain.
        """
        line, line_end, _rest = self._held.partition("\n")
        is_whole = bool(final or line_end)
        runs = [match.span() for match in _BACKTICKS.finditer(line[: MAX_MARKER_CHARS + 1])]
        length = runs[0][1]
        for start, end in runs[1:]:
            if end - start == length and end <= MAX_MARKER_CHARS and (end < len(line) or is_whole):
                return end
        if not is_whole and len(line) <= MAX_MARKER_CHARS:
            raise MoreNeededError
        return 0

    def _is_code(self, span: str) -> bool:  # noqa: ARG002  # subclasses use it
        return True

    def _angle_bracket(self, *, final: bool) -> Text:
        """The bracket, once the character after it is known."""
        if len(self._held) == 1 and not final:
            raise MoreNeededError
        return self._take(1)

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


class SafeParser(MarkerParser):
    """Escapes HTML, links, and images in the Markdown of the pieces, except in code.

    A client that shows the answer loads nothing and shows every address.
    """

    def feed(self, token: str) -> list[Piece]:
        """The pieces that can no longer change; carriage returns are dropped."""
        return super().feed(token.replace("\r", ""))

    @property
    def _is_in_code(self) -> bool:
        return bool(self._is_code_span or self._fence)

    def _take(self, length: int) -> Text:
        is_code = self._is_in_code
        before, after = self._previous, self._held[length : length + 1]
        taken = super()._take(length).text
        if not is_code and HIDES_CODE.search(taken):
            self._is_code_certain = False
        if self._is_code_certain if is_code else taken.startswith("\\"):
            return Text(taken)
        shown = defuse(taken, before=before, after=after, is_code=is_code)
        # Backticks that are not part of code must not become part of it in another parser.
        return _text(taken, shown if is_code else shown.replace("`", "\\`"))

    def _is_code(self, span: str) -> bool:
        """Whether the span is code elsewhere too, or harmless; a bar may end a table's cell."""
        return (self._is_code_certain and "|" not in span) or not has_live_markup(span)

    def _marker(self, *, final: bool) -> Piece:
        piece = super()._marker(final=final)
        if isinstance(piece, Marker):
            self._previous = "]"  # its last character as displayed
        return piece


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
        super().__init__()
        texts_by_number = {passage.n: passage.text for passage in passages}
        self._numbers = texts_by_number.keys()
        self._texts = set(texts_by_number.values())
        self._restored = restoration(self._texts)
        self._escaped = {mark: as_text(text).shown for mark, text in self._restored.items()}
        self._line = ""

    def _take(self, length: int) -> Text:
        is_code = self._is_in_code
        piece = super()._take(length)
        text = piece.text.translate(self._restored)
        self._line = (self._line + text).rpartition("\n")[2]
        is_verbatim = is_code or text.startswith("\\")
        return _text(text, piece.shown.translate(self._restored if is_verbatim else self._escaped))

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
