"""The list items that are open in Markdown, as CommonMark reads it."""

import re

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
