r"""Formulas, in which clients that render them read no code."""

import re

from chains.citations.open_lists import width_of_margin

_DELIMITER = re.compile(r"\\.|\$+")
_INLINE = ("\\(", "\\[", "\\$", "$")
_MAY_END_IN_SPAN = re.compile(r"\$|\\[)\]]")
_CLOSING = {"$$": "$$", "\\[": "\\]"}
_DISPLAY = ("$$", "\\]")


class Formulas:
    r"""Knows where a client may see a formula instead of code.

    A formula within a line begins with `$` or `\(` and ends with its paragraph at the latest. It
    matters only to code spans that may contain its end, because all others are inside or outside as
    a whole. A displayed formula, from `$$` to `$$` or from `\[` to `\]`, also matters to code
    blocks. Clients agree about its lines only if both delimiters begin one, with the same indent.
    """

    def __init__(self) -> None:
        self.is_lost = False
        """Whether clients may disagree about what is code from now on."""
        self._closing = ""
        self._indent = 0
        self._delimiters: list[str] = []
        """Those of displayed formulas in the current line."""
        self._is_inline = False
        self._is_cut = False
        """Whether a code span may have ended early, so that the next ones may be text."""

    @property
    def is_open(self) -> bool:
        """Whether a displayed formula is open at the beginning of this line."""
        return bool(self._closing)

    def read(self, text: str) -> None:
        """Read text outside code, with its escapes; a run of `$` must be whole."""
        for delimiter in _DELIMITER.findall(text):
            self._is_inline |= delimiter.startswith(_INLINE)
            self.is_lost |= delimiter.startswith("$$$")
            if delimiter in _CLOSING or (delimiter == "\\]" and self._is_in_brackets()):
                self._delimiters.append(delimiter)

    def read_block(self, text: str) -> None:
        """Read a part of a code block."""
        self.is_lost |= self.is_open and self._closing[-1] in text

    def is_certain(self, span: str) -> bool:
        """Whether a code span is code in all clients; a bar may end a cell of a table."""
        return not (self._is_cut or self.is_lost or self._may_cut(span))

    def read_span(self, span: str) -> None:
        """Read a code span."""
        self._is_cut |= self._may_cut(span)
        if self.is_open or self._delimiters:
            self.is_lost |= any(delimiter in span for delimiter in _DISPLAY)

    def end_line(self, line: str) -> None:
        """Read the end of a whole line outside code blocks, and what it displays."""
        text = line.strip(" \t")
        if self.is_open:
            self._continue(text, width_of_margin(line))
        elif not self._is_line_whole():
            self._open(text, width_of_margin(line))
        self._delimiters = []
        self._is_inline &= bool(text)
        self._is_cut &= self._is_inline or self.is_open

    def _continue(self, text: str, indent: int) -> None:
        self.is_lost |= bool(text) and indent < self._indent
        if self._delimiters:
            self.is_lost |= text != self._closing or indent != self._indent
            self._closing = ""

    def _open(self, text: str, indent: int) -> None:
        [opening, *others] = self._delimiters
        self.is_lost |= bool(others) or not text.startswith(opening)
        self._closing, self._indent = _CLOSING[opening], indent

    def _is_line_whole(self) -> bool:
        """Whether each displayed formula of the line ends in it."""
        pairs = zip(self._delimiters[::2], self._delimiters[1::2], strict=False)
        is_paired = all(_CLOSING.get(opening) == closing for opening, closing in pairs)
        return is_paired and len(self._delimiters) % 2 == 0

    def _is_in_brackets(self) -> bool:
        return self.is_open or self._delimiters[-1:] == ["\\["]

    def _may_cut(self, span: str) -> bool:
        is_in_formula = self._is_inline or self.is_open
        return "|" in span or (is_in_formula and bool(_MAY_END_IN_SPAN.search(span)))
