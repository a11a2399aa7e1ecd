"""Parses the text of a document: its blocks, and tokens that know their position in its text.

The page and its outline read a text with the same functions, so they find the same headings.
markdown-it reports the lines of blocks, but not the positions of the characters in them. Quotes are
spans of the text, so each character that is shown must lead back to its position.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, Literal

from markdown_it import MarkdownIt
from markdown_it.parser_inline import ParserInline
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from services.library.document_style import Style

AT = "at"
"""The key in `Token.meta` of an inline token's position in the content of its block."""
POSITIONS = "positions"
"""The key in `Token.meta` of the position in the text of each character of a block's content."""
FRONT_MATTER = "front_matter"
"""The type of the token of front matter, which only Markdown that a person wrote can have."""
TABLE = "table"
"""The type of the token of a table without its cells."""

_BLOCKS = ["table", "fence", "blockquote", "hr", "list", "heading", "paragraph"]
_INLINE = ["text", "newline", "backticks"]
_MARKDOWN_INLINE = [*_INLINE, "escape", "strikethrough", "emphasis", "link", "image"]
_PAIRS = ["balance_pairs", "strikethrough", "emphasis"]  # not the rule that merges text tokens
_CONTAINERS = re.compile(r"(?:\s*(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s)))*\s*")
_CELL = re.compile(r"(?:[^|]|(?<=\\)\|)*")
_FRONT_MATTER = re.compile(r"\A---\n(?:[^\n]*\n){0,100}?---(?=\n|\Z)")


def normalized(text: str) -> str:
    """The text without carriage returns and null characters; all positions stay the same."""
    return text.replace("\r", "\n").replace("\0", "\ufffd")


def line_starts(text: str) -> list[int]:
    """The start of each line, followed by the position after the last one and its line feed."""
    return [0, *accumulate(len(line) + 1 for line in text.split("\n"))]


def blocks(text: str, style: Style, *, is_start: bool, has_cells: bool = True) -> list[Token]:
    """The tokens of the blocks of a normalized text; plain text has none.

    Text that a program extracted from another format has headings, lists, tables, and code, but no
    front matter, setext headings, or indented code. Only the start of a document can have front
    matter. Without cells, which is much faster, each table is a single token, `TABLE`.
    """
    if style is Style.PLAIN:
        return []
    front = _FRONT_MATTER.match(text) if is_start and style is Style.MARKDOWN else None
    begin = front.end() if front else 0
    tokens = [_front_matter(text[:begin])] if begin else []
    # Blank lines instead of the front matter, so that positions and lines stay the same.
    rest = re.sub(r"[^\n]", " ", text[:begin]) + text[begin:]
    parser = _parser(style, has_cells=has_cells)
    parser.block.parse(rest, parser, {}, tokens)
    return tokens


def _front_matter(text: str) -> Token:
    meta = {POSITIONS: range(len(text))}
    return Token(FRONT_MATTER, "", 0, content=text, map=[0, text.count("\n") + 1], meta=meta)


def inline_text(content: str, style: Style) -> str:
    """The content of a block as it is shown, without syntax, on one line."""
    tokens = _parser(style).inline.parse(content, _parser(style), {}, [])
    pieces = [" " if token.type.endswith("break") else token.content for token in tokens]
    return " ".join("".join(pieces).split())


def parse(text: str, style: Style, *, is_start: bool) -> list[Token]:
    """The tokens of a normalized text (see `blocks`).

    Inline tokens and code have their `POSITIONS`, and the children of inline tokens their `AT`.
    Extracted text has no emphasis, links, or escapes.
    """
    tokens = blocks(text, style, is_start=is_start)
    parser, lines = _parser(style), _Lines(text)
    cells: Iterator[list[int]] = iter(())
    opening = nesting = 0
    for number, token in enumerate(tokens):
        nesting += token.nesting * (token.type.startswith(("list_item", "blockquote")))
        if token.type == "tr_open":
            cells = lines.cells(token, is_nested=nesting > 0)
        elif token.type == "inline":
            token.children = parser.inline.parse(token.content, parser, {}, [])
            opening = number - 1
            is_cell = tokens[opening].type in ("th_open", "td_open")
            found = next(cells, []) if is_cell else lines.of_block(tokens[opening], token)
            token.meta[POSITIONS] = lines.checked(found, token, is_cell=is_cell)
        elif token.type in ("fence", "code_block"):
            token.meta[POSITIONS] = lines.of_code(token)
    return tokens


class _Lines:
    """The lines of a text and where they start."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = line_starts(text)

    def of_block(self, opening: Token, token: Token) -> list[int]:
        """The positions of a heading's or paragraph's content."""
        first = (token.map or [0])[0]
        if opening.markup.startswith("#"):
            line = self.lines[first]
            after = line.find(opening.markup) + len(opening.markup)
            begin = self.starts[first] + after + len(line[after:]) - len(line[after:].lstrip())
            return [*range(begin, begin + len(token.content))]
        return self._suffixes(first, token.content)

    def of_code(self, token: Token) -> list[int]:
        """The positions of the characters of a code block."""
        return self._suffixes((token.map or [0])[0] + (token.type == "fence"), token.content)

    def _suffixes(self, first: int, content: str) -> list[int]:
        """The positions of lines without what containers and indentation put before them."""
        positions: list[int] = []
        for number, part in enumerate(content.split("\n"), start=first):
            line = self.lines[number] if number < len(self.lines) else ""
            ends = len(line) if line.endswith(part) else len(line.rstrip())
            begin = self.starts[min(number, len(self.lines))] + max(ends - len(part), 0)
            positions += range(begin, begin + len(part) + 1)
        return positions[:-1]

    def cells(self, row: Token, *, is_nested: bool) -> Iterator[list[int]]:
        """The positions of the content of each cell of a table's row."""
        number = (row.map or [0])[0]
        line, start = self.lines[number].rstrip(), self.starts[number]
        prefix = _CONTAINERS.match(line) if is_nested else None
        at = prefix.end() if prefix else len(line) - len(line.lstrip())
        at += line[at : at + 1] == "|"
        while at <= len(line):
            cell = _CELL.match(line, at)
            end = cell.end() if cell else at
            yield [start + position for position in _unescape(line, at, end)]
            at = end + 1

    def checked(self, positions: list[int], token: Token, *, is_cell: bool) -> list[int]:
        """The positions, if they lead to the content; otherwise the start of its line for all."""
        content = token.content
        found = "".join(map(self.text.__getitem__, positions)) if is_cell else content
        if len(positions) == len(content) and found == content:
            return positions
        return [self.starts[(token.map or [0])[0]]] * len(content)


def _unescape(line: str, start: int, end: int) -> list[int]:
    """The positions of a cell's characters, without its outer white space and escapes of bars."""
    raw = line[start:end]
    start, end = start + len(raw) - len(raw.lstrip()), end - len(raw) + len(raw.rstrip())
    return [at for at in range(start, end) if line[at : at + 2] != "\\|" or at + 1 == end]


class _PositionedState(StateInline):
    """Records where each token starts."""

    def append_pending(self, text: str) -> None:
        if not self.pending:
            self._pending_at = self.pos
        super().append_pending(text)

    @property
    def pending(self) -> str:
        return StateInline.pending.fget(self)  # type: ignore[attr-defined,no-any-return]

    @pending.setter
    def pending(self, value: str) -> None:
        if value and not (self._pending or self._pending_buffer):
            self._pending_at = self.pos
        StateInline.pending.fset(self, value)  # type: ignore[attr-defined]

    def pushPending(self) -> Token:
        token = super().pushPending()
        token.meta[AT] = self._pending_at
        return token

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        if self.pending:
            self.pushPending()
        last = self.tokens[-1] if self.tokens else None
        token = super().push(ttype, tag, nesting)
        token.meta["pos"] = token.meta[AT] = self.pos
        if last is not None and last.meta.get("pos") == self.pos:  # one of several delimiters
            token.meta[AT] = last.meta[AT] + len(last.content)
        return token


class _PositionedInline(ParserInline):
    """Parses the content of a block into tokens with their positions in it."""

    def parse(self, src: str, md: MarkdownIt, env: Any, tokens: list[Token]) -> list[Token]:
        state = _PositionedState(src, md, env, tokens)
        self.tokenize(state)
        for rule in self.ruler2.getRules(""):
            rule(state)
        return state.tokens


@cache
def _parser(style: Style, *, has_cells: bool = True) -> MarkdownIt:
    is_markdown = style is Style.MARKDOWN
    parser = MarkdownIt("commonmark", {"html": False})
    parser.inline = _PositionedInline()
    parser.inline.ruler.enableOnly(_MARKDOWN_INLINE if is_markdown else _INLINE)
    parser.inline.ruler2.enableOnly(_PAIRS)
    more = ["code", "lheading"] if is_markdown else []
    if not has_cells:
        parser.block.ruler.at("table", _table_without_cells, {"alt": ["paragraph"]})
    parser.block.ruler.enableOnly([*_BLOCKS, *more])
    return parser


def _table_without_cells(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Recognize a table where the usual rule does, and end it at the same line."""
    if not table(state, start, end, True):
        return False
    if not silent:
        token = state.push(TABLE, "", 0)
        state.line = start + 2
        while state.line < end and not _ends_table(state, state.line, end):
            state.line += 1
        token.map = [start, state.line]
    return True


def _ends_table(state: StateBlock, line: int, end: int) -> bool:
    is_outside = state.sCount[line] < state.blkIndent or state.is_code_block(line)
    rules = state.md.block.ruler.getRules("blockquote")
    return is_outside or state.isEmpty(line) or any(rule(state, line, end, True) for rule in rules)


def leaf_positions(child: Token, content: str, positions: Sequence[int]) -> list[int]:
    """The positions in the text of the characters of a text, code, break, or picture token."""
    at, text = child.meta[AT], child.content
    if child.type == "code_inline":
        at += len(child.markup)
        at += content[at : at + len(text)].replace("\n", " ") != text  # a space inside the marks
    elif child.type == "text_special" and child.markup != text:
        at += 1
    elif child.type == "image":
        at += len("![")
    return list(positions[at : at + max(len(text), 1)])
