"""Splits Markdown, complete or streamed, into text and citation markers."""

import re
import string
from collections.abc import Iterator

from chains.citations.markers import (
    MAX_MARKER_CHARS,
    Marker,
    MoreNeededError,
    NotAMarkerError,
    Piece,
    Text,
    as_text,
    read_marker,
)
from chains.citations.visible_text import FORMS

_NO_PARAGRAPH = re.compile(r"([-*_])(?: *\1){2,}\Z|#{1,6}(?: |\Z)")
"""A rule, the line under a heading, or a heading."""
_MARKER = re.compile(r"(?:[-+*]|(?P<number>[0-9]{1,9})[.)])(?P<spaces> +|\Z)")
_MIN_OFFSET = 2
_MAX_OFFSET = 17
"""Items with a larger offset are ignored: their fences are too far indented for all others."""
MAX_INDENT = 3
"""The largest indent of a marker or a fence within its item; more makes it text or code."""


def width(indent: str) -> int:
    """The columns that spaces and tabs take at the start of a line."""
    return len(indent.expandtabs(4))


def width_of_margin(line: str) -> int:
    """The columns that a line is indented."""
    return width(line[: len(line) - len(line.lstrip(" \t"))])


class OpenLists:
    """Knows the open items after each line.

    What is rare and hard to tell, such as a line that may continue a paragraph, makes them unknown,
    until a heading, or a line after a blank one, begins at the left margin.
    """

    def __init__(self) -> None:
        self._offsets: list[int] | None = []
        """The columns where the content of the open items begins; None if unknown."""
        self._is_paragraph = False
        """Whether the next line may continue a paragraph."""

    def forget(self) -> None:
        """Note that items may have begun or ended."""
        self._offsets, self._is_paragraph = None, True

    def begin_block(self, margin: str, markers: str) -> int | None:
        """The offset of the item in which a fence begins a code block.

        0 without an item; None if the fence begins none, or that is unknown.

        Args:
            margin: The spaces and tabs at the beginning of the line.
            markers: The markers of items between them and the fence, with their spaces.
        """
        indent = width(margin + markers)
        if markers:
            self.read_line(f"{margin}{markers}`")
            return indent if self._offsets and self._offsets[-1] == indent else None
        offsets = [] if indent < _MIN_OFFSET else self._outer(indent)
        if offsets is None or _is_far(indent, offsets):
            return None
        self._offsets = offsets
        return sum(offsets[-1:])

    def end_block(self) -> None:
        """Note the end of a code block."""
        self._is_paragraph = False

    def read_line(self, line: str) -> None:
        """Read a whole line outside code blocks, without its line break."""
        line = line.expandtabs(4).rstrip(" ")
        text = line.lstrip(" ")
        is_paragraph, self._is_paragraph = self._is_paragraph, bool(text)
        if text:
            self._read_text(text, len(line) - len(text), is_paragraph=is_paragraph)

    def _read_text(self, text: str, indent: int, *, is_paragraph: bool) -> None:
        is_no_paragraph = bool(_NO_PARAGRAPH.match(text))
        if indent < _MIN_OFFSET and (is_no_paragraph or not is_paragraph):
            self._offsets = []
        outer = self._outer(indent)
        if outer is None:
            return
        marker = None if _is_far(indent, outer) else _MARKER.match(text)
        if is_no_paragraph and not _is_far(indent, outer):
            self._offsets, self._is_paragraph = outer, False
        elif is_paragraph and _may_continue(marker, is_inside=outer == self._offsets):
            self._offsets = None
        elif marker:
            self._offsets = _with_items(outer, text, indent)
        else:
            self._offsets = outer

    def _outer(self, indent: int) -> list[int] | None:
        """The offsets of the items that a line of this indent may be in."""
        if self._offsets is None:
            return None
        return [offset for offset in self._offsets if offset <= indent]


def _is_far(indent: int, offsets: list[int]) -> bool:
    """Whether a line is code, or part of a paragraph, because of its indent."""
    return indent - sum(offsets[-1:]) > MAX_INDENT


def _may_continue(marker: re.Match[str] | None, *, is_inside: bool) -> bool:
    """Whether a line after text of the innermost item may belong to it or not."""
    if marker is None:
        return not is_inside
    return is_inside and int(marker["number"] or 1) != 1


def _with_items(offsets: list[int], text: str, column: int) -> list[int] | None:
    """The offsets with those of the items that the text begins; None if the last is empty."""
    offsets = list(offsets)
    while (marker := _MARKER.match(text)) and not _NO_PARAGRAPH.match(text):
        spaces = len(marker["spaces"])
        if not spaces:
            return None
        is_code = spaces > MAX_INDENT + 1
        column += marker.start("spaces") + 1 if is_code else marker.end()
        if column > _MAX_OFFSET:
            break
        offsets.append(column)
        text = "" if is_code else text[marker.end() :]
    return offsets


_SPECIAL = re.compile(r"[\[［【`~$\n\\<]")
_ESCAPED = frozenset(string.punctuation) | set("［【") | {*FORMS}
SHOWN_MARKER = re.compile(r"\[([1-9][0-9]{0,2})\]")
"""A marker as displayed in an answer."""
_BACKTICKS = re.compile("`+")
_RUN = re.compile(rf"([`~$])\1{{0,{MAX_MARKER_CHARS - 1}}}")
_MARKERS = r"(?:(?:[-+*]|[0-9]{1,9}[.)]) {1,4}){0,3}"
_FENCE = re.compile(
    rf"(?P<indent>[ \t]{{0,20}})(?P<markers>{_MARKERS})(?P<fence>`{{3,40}}(?!`)|~{{3,40}}(?!~))"
    r"(?P<info>[^`\n]{0,80})(?P<end>\n|\Z)"
)
_MAY_BE_FENCE = re.compile(
    rf"[ \t]{{0,20}}{_MARKERS}"
    r"(?:[-+*]|[0-9]{1,9}[.)]?|`{0,40}|~{0,40}|(?:`{3,40}|~{3,40})[^`\n]{0,80})\Z"
)
_SLICE_CHARS = 4_096
"""Short, because each piece is cut off from the text that is held."""
_START_OF_FENCE = re.compile(r"[ \t]{0,20}(`{3,}|~{3,})")


def open_fence(answer: str) -> str:
    """The line that would close an open code block at the end of the answer, or ""."""
    parser = MarkerParser()
    parser.parse(answer)
    return parser.closing_fence


class MarkerParser:
    """Splits a streamed answer into text and markers.

    The joined pieces do not depend on how the answer is split into tokens. Text is held back only
    while it could still become a marker, code, or the fence of a code block. As in CommonMark,
    brackets in code or after a backslash are text, and a code block ends with the list item that it
    is in. Code within a line must end on that line.
    """

    def __init__(self) -> None:
        self._held = ""
        self._previous = "\n"
        self._line: list[str] = []
        self._lists = OpenLists()
        self._fence = ""
        self._indent = ""
        self._offset = 0
        self._is_lost = False
        """Whether the code block may have ended with a line that is too long for this parser."""

    @property
    def closing_fence(self) -> str:
        """The line that would close the open code block, or ""."""
        return self._fence and self._indent + self._fence

    def parse(self, answer: str) -> list[Piece]:
        """The pieces of a whole answer."""
        starts = range(0, len(answer), _SLICE_CHARS)
        slices = (answer[start : start + _SLICE_CHARS] for start in starts)
        return [piece for part in slices for piece in self.feed(part)] + self.close()

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
        block = self._block_piece(final=final)
        if block:
            return block
        piece = self._inline_piece(final=final)
        self._read_text(piece.shown)
        return piece

    def _read_text(self, shown: str) -> None:
        """Read what a client sees outside code blocks."""
        *lines, start = shown.split("\n")
        for line in lines:
            self._end_line("".join([*self._line, line]))
            self._line = []
        self._line.append(start)

    def _end_line(self, line: str) -> None:
        self._lists.read_line(line)

    def _inline_piece(self, *, final: bool) -> Piece:
        special = _SPECIAL.search(self._held)
        if special is None or special.start() > 0:
            return self._take(special.start() if special else len(self._held))
        match self._held[0]:
            case "\n":
                return self._take(1)
            case "`":
                return self._backticks(final=final)
            case "~" | "$":
                return self._run(final=final)
            case "\\":
                return self._backslash(final=final)
            case "<":
                return self._angle_bracket(final=final)
        return self._marker(final=final)

    def _block_piece(self, *, final: bool) -> Text | None:
        """A piece of a code block, or None if here is none."""
        if self._previous == "\n":
            self._leave_item(final=final)
            fence = self._fence_here(final=final)
            if fence:
                return fence
        return self._line_of_block(final=final) if self._fence else None

    def _leave_item(self, *, final: bool) -> None:
        """End the code block if its item ends before this line."""
        if not self._fence or not self._offset:
            return
        if width_of_margin(self._held) >= self._offset:
            return
        following = self._held.lstrip(" \t")[:1]
        if not following and not final:
            raise MoreNeededError
        if following.strip("\r\n"):
            self._end_block()

    def _end_block(self) -> None:
        self._fence = ""
        self._lists.end_block()

    def _line_of_block(self, *, final: bool) -> Text:
        """The rest of a line within a code block, except a `<` whose next character is unknown."""
        length = self._held.find("\n") + 1 or len(self._held)
        if self._held[length - 1] == "<" and not final:
            length -= 1
        if not length:
            raise MoreNeededError
        return self._take_code(length)

    def _fence_here(self, *, final: bool) -> Text | None:
        """The line if it opens or closes a code block."""
        match = _FENCE.match(self._held)
        if not final and not (match and match["end"]) and _MAY_BE_FENCE.match(self._held):
            raise MoreNeededError
        if self._fence:
            return self._closing_line(match)
        offset = self._lists.begin_block(match["indent"], match["markers"]) if match else None
        if match is None or offset is None:
            return None
        self._fence, self._offset = match["fence"], offset
        self._indent = " " * offset if match["markers"] else match["indent"]
        return self._take_code(match.end())

    def _closing_line(self, match: re.Match[str] | None) -> Text | None:
        """The line if it closes the code block."""
        if match is None:
            start = _START_OF_FENCE.match(self._held)
            self._is_lost |= bool(start and start[1].startswith(self._fence))
            return None
        is_near = width(match["indent"]) - self._offset <= MAX_INDENT and not match["markers"]
        if not is_near or not match["fence"].startswith(self._fence) or match["info"].strip(" \t"):
            return None
        line = self._take_code(match.end())
        self._end_block()
        return line

    def _backticks(self, *, final: bool) -> Text:
        """A code span, or backticks that nothing on their line closes."""
        length = self._code_span_end(final=final)
        if length and self._is_code(self._held[:length]):
            return self._take_code(length)
        return self._run(final=True)

    def _run(self, *, final: bool) -> Text:
        """The same character several times."""
        run = _RUN.match(self._held)
        end = run.end() if run else 1
        if end == len(self._held) and end < MAX_MARKER_CHARS and not final:
            raise MoreNeededError
        return self._take(end)

    def _code_span_end(self, *, final: bool) -> int:
        """The length of the code span that begins here, 0 if there is none.

        Raises:
            MoreNeededError: The text ends before that is certain.
        """
        line, line_end, _rest = self._held.partition("\n")
        is_whole = bool(final or line_end)
        matches = _BACKTICKS.finditer(line[: MAX_MARKER_CHARS + 1])
        runs = (match.span() for match in matches)
        _start, length = next(runs)
        for start, end in runs:
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
        text = self._take(2 if self._held[1:2] and self._held[1] in _ESCAPED else 1)
        self._previous = "\\"  # an escaped bracket closes nothing
        return text

    def _marker(self, *, final: bool) -> Piece:
        try:
            marker = self._read(final=final)
        except NotAMarkerError:
            bare = SHOWN_MARKER.match(self._held)
            return as_text(self._take(bare.end()).text) if bare else self._take(1)
        self._take(len(marker.raw))
        return marker

    def _read(self, *, final: bool) -> Marker:
        return read_marker(self._held, final=final)

    def _take(self, length: int) -> Text:
        """Text outside code."""
        return Text(self._cut(length))

    def _take_code(self, length: int) -> Text:
        return Text(self._cut(length))

    def _cut(self, length: int) -> str:
        text, self._held = self._held[:length], self._held[length:]
        self._previous = text[-1]
        return text
