"""Reads Rich Text Format as Markdown: headings, lists, tables, and notes.

Control words, symbols, and charset numbers are those of Microsoft's "Rich Text Format (RTF)
Specification", version 1.9.1. striprtf 0.0.35 returns text without headings and tables and kept 60%
of the words in our test files: it loses footnotes, labels, and damaged endings.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from domain.errors import UnreadableError
from domain.messages import _
from loaders.formats.content import Content, heading, join_blocks, one_line, pipe_table, style_level
from loaders.formats.superscript import MIN_RISE_PT, join_superscripts, superscript


class Table:
    """The rows of the table that is being read; `row` contains the cells of the current one."""

    def __init__(self) -> None:
        """Create an empty table."""
        self.row: list[str] = []
        self._rows: list[list[str]] = []
        self._merged: list[bool] = []
        self._is_merged = False

    def word(self, word: str) -> None:
        """Process a control word of a row, such as one that merges a cell with the cell above."""
        if word == "trowd":
            self._merged.clear()
        elif word == "clvmrg":
            self._is_merged = True
        elif word == "cellx":
            self._merged.append(self._is_merged)
            self._is_merged = False
        elif word == "row":
            self._end_row()

    def _end_row(self) -> None:
        above = self._rows[-1] if self._rows else []
        for i, merged in enumerate(self._merged[: len(self.row)]):
            if merged and not self.row[i] and i < len(above):
                self.row[i] = above[i]
        self._rows.append(self.row)
        self.row = []

    def take(self) -> str:
        """Return the table so far and clear it; empty if there is none."""
        if self.row:
            self._end_row()
        rows, self._rows = self._rows, []
        return pipe_table(rows)


_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])"
    r"|([^\\{}\r\n]+)|[\r\n]+|\\",
    re.DOTALL,
)
# The codecs of charset numbers of fonts; others are the document's own.
_CHARSETS = {
    2: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030",
    136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256",
    186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip


class Token(NamedTuple):
    """A control word with its number (None if it has none), a symbol, a brace, or bytes of text."""

    word: str = ""
    number: int | None = None
    symbol: str = ""
    brace: str = ""
    text: bytes = b""


def tokens(data: bytes) -> Iterator[Token]:
    """Yield the tokens of the file in order; binary data and line breaks are omitted."""
    source = data.decode("latin-1")
    at = 0
    while match := _TOKEN.match(source, at):
        at = match.end()
        word, digits, byte, symbol, brace, text = match.groups()
        number = int(digits) if digits else None
        if word == "bin":
            at += max(0, number or 0)
        elif word:
            yield Token(word=word, number=number)
        elif byte:
            yield Token(text=bytes.fromhex(byte))
        elif text:
            yield Token(text=text.encode("latin-1"))
        elif symbol or brace:
            yield Token(symbol=symbol or "", brace=brace or "")


def code_page(number: int) -> str | None:
    """The codec of a code page number; None if Python has none."""
    name = {0: "cp1252", 1361: "johab", 10000: "mac_roman", 65001: "utf-8"}.get(number)
    name = name or f"cp{number}"
    try:
        codecs.lookup(name)
    except LookupError:
        return None
    return name


def decoded(data: bytes, codec: str) -> str:
    """Decode text; one or two bytes that are invalid in the codec are read as Western European."""
    try:
        return data.decode(codec)
    except UnicodeError:
        return data.decode("cp1252", "replace") if len(data) < 3 else data.decode(codec, "replace")


_HIDDEN = frozenset({
    "colortbl", "pict", "nonshppict", "shprslt", "fldinst", "sn", "sv", "tc", "xe", "upr",
    "header", "headerl", "headerr", "headerf", "footer", "footerl", "footerr", "footerf",
    "author", "operator", "subject", "keywords", "comment", "doccomm", "creatim", "revtim",
    "printim", "buptim", "company", "manager", "category", "hlinkbase", "nonesttables",
    "listtable", "listoverridetable", "revtbl", "rsidtbl", "ftnsep", "ftnsepc", "aftnsep",
    "aftnsepc", "ftncn", "aftncn", "filetbl", "template", "private", "background",
})  # fmt: skip
_SHOWN_STARRED = frozenset({"shpinst", "shptxt", "ud"})
_PLACES = {"title": "title", "fonttbl": "fonts", "stylesheet": "styles", "footnote": "note"}
_PLACES |= {"listtext": "label", "pntext": "label"}
_LETTERS = {
    "tab": "\t", "line": "\n", "emdash": "\u2014", "endash": "\u2013", "emspace": " ",
    "enspace": " ", "qmspace": " ", "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019",
    "ldblquote": "\u201c", "rdblquote": "\u201d", "nestcell": " ", "nestrow": "\n",
}  # fmt: skip
_SCRIPTS = {"super": True, "sub": False, "nosupersub": False}
_DEFAULT_RISE = 6  # half-points
_SYMBOLS = {"~": "\xa0", "_": "-", "\\": "\\", "{": "{", "}": "}"}
_PARAGRAPH_ENDS = frozenset({"par", "sect", "page"})
_MAX_SKIPPED = 100


@dataclass(frozen=True, slots=True)
class _State:
    """The state that a group inherits and that is restored at its end."""

    place: str = "body"
    hidden: bool = False  # in a hidden destination
    unseen: bool = False  # hidden or deleted letters
    is_superscript: bool = False
    is_high: bool = False  # above the line by a number of half-points
    codec: str = ""
    skip: int = 1  # fallback characters after a Unicode character


def read(data: bytes) -> Content:
    """Read a document; its title is from its properties.

    Hidden and deleted text, headers, and footers are omitted; footnotes follow their paragraph as a
    quotation.
    """
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n\0")
    if not start.startswith(b"{\\rtf"):
        raise UnreadableError(_("it does not begin like an RTF file: save it again as .rtf"))
    document = _Document()
    whole = document.walk(start)
    warnings = () if whole else (_("the file ends unexpectedly: part of its text may be missing"),)
    text = _join_surrogates(join_blocks(document.blocks))
    title = _join_surrogates(join_superscripts("".join(document.texts["title"])))
    return Content(text, title, warnings=warnings)


def _join_surrogates(text: str) -> str:
    """The text with surrogate pairs joined to characters beyond U+FFFF."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Document:
    """Walks through a document, token by token."""

    def __init__(self) -> None:
        self.blocks: list[tuple[str, str]] = []
        self.texts: dict[str, list[str]] = {"body": [], "title": [], "note": [], "label": []}
        self._state = _State()
        self._stack: list[_State] = []
        self._page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = self._default_font = self._style = -1
        self._levels: dict[int, int] = {}  # style -> outline level from 0
        self._level, self._depth, self._in_table = 9, 0, False
        self._table = Table()
        self._bytes = bytearray()
        self._notes: list[str] = []
        self._starred = False
        self._skipped = 0

    def walk(self, data: bytes) -> bool:
        """Process every token; return whether the file is complete."""
        for token in tokens(data):
            self._take(token)
            if token.brace == "}" and not self._stack:
                break
        self._flush()
        self._in_table = False
        self._end_paragraph()
        return not self._stack

    def _take(self, token: Token) -> None:
        if token.text:
            self._bytes += token.text[self._skipped :]
            self._skipped = max(0, self._skipped - len(token.text))
        elif token.symbol and self._skipped:
            self._skipped -= 1
        else:
            self._flush()
            if token.brace:
                self._brace(token.brace)
            elif token.symbol:
                self._symbol(token.symbol)
            else:
                self._word(token.word, token.number)

    def _brace(self, brace: str) -> None:
        self._skipped, self._starred = 0, False
        if brace == "{":
            self._stack.append(self._state)
        elif self._stack:
            place, self._state = self._state.place, self._stack.pop()
            if place == "note" != self._state.place:
                self._notes.append(one_line(self._take_text("note")))

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._starred = True
        elif symbol in "\r\n":
            self._word("par", None)
        else:
            self._write(_SYMBOLS.get(symbol, ""))

    def _word(self, word: str, number: int | None) -> None:
        starred, self._starred = self._starred, False
        if word in _HIDDEN or (starred and word not in _SHOWN_STARRED):
            self._state = replace(self._state, hidden=True)
        elif word == "ud":
            self._state = replace(self._state, hidden=False)
        elif word in _PLACES:
            self._state = replace(self._state, place=_PLACES[word])
        elif word in _LETTERS:
            self._write(_LETTERS[word])
        elif word == "u" and number is not None:
            self._write(chr(number % 0x10000))
            self._skipped = self._state.skip
        elif word in ("v", "deleted"):
            self._state = replace(self._state, unseen=number != 0)
        elif word in _SCRIPTS:
            self._state = replace(self._state, is_superscript=_SCRIPTS[word] and number != 0)
        elif word in ("up", "dn"):
            half_points = _DEFAULT_RISE if number is None else number
            is_high = word == "up" and half_points >= 2 * MIN_RISE_PT
            self._state = replace(self._state, is_high=is_high)
        elif not self._state.hidden:
            self._encoding(word, number or 0)
            self._layout(word, number or 0)

    def _encoding(self, word: str, number: int) -> None:
        if word == "uc":
            self._state = replace(self._state, skip=max(0, min(number, _MAX_SKIPPED)))
        elif word == "ansicpg":
            self._page = code_page(number) or self._page
        elif word == "mac":
            self._page = "mac_roman"
        elif word == "deff":
            self._default_font = number
        elif word == "f":
            self._font = number
            self._state = replace(self._state, codec=self._fonts.get(number, ""))
        elif word in ("fcharset", "cpg") and self._state.place == "fonts":
            codec = _CHARSETS.get(number) if word == "fcharset" else code_page(number)
            self._fonts |= {self._font: codec} if codec else {}
        elif word == "plain":
            codec = self._fonts.get(self._default_font, "")
            self._state = replace(
                self._state, codec=codec, unseen=False, is_superscript=False, is_high=False
            )

    def _layout(self, word: str, number: int) -> None:
        if self._state.place == "styles":
            self._style = number if word == "s" else self._style
            self._levels |= {self._style: number} if word == "outlinelevel" else {}
        elif self._state.place == "note" and word in _PARAGRAPH_ENDS:
            self.texts["note"].append(" ")
        elif self._state.place == "body":
            self._body(word, number)

    def _body(self, word: str, number: int) -> None:
        if word in _PARAGRAPH_ENDS:
            self._end_paragraph()
        elif word == "pard":
            self._level, self._depth, self._in_table = 9, 0, False
        elif word == "s":
            self._level = self._levels.get(number, 9)
        elif word == "outlinelevel":
            self._level = number
        elif word == "ilvl":
            self._depth = max(0, min(number, 8))
        elif word == "intbl":
            self._in_table = True
        elif word == "cell":
            self._table.row.append(self._paragraph())
        else:
            self._table.word(word)

    def _paragraph(self) -> str:
        """Return and clear the label and text since the end of the last paragraph."""
        return (self._take_text("label") + self._take_text("body")).strip()

    def _take_text(self, place: str) -> str:
        text = join_superscripts("".join(self.texts[place]))
        self.texts[place].clear()
        return text

    def _end_paragraph(self) -> None:
        if self._in_table:
            self.texts["body"].append("\n")
            return
        self._add(self._table.take())
        label = one_line(self._take_text("label"))
        text = self._paragraph()
        if text and 0 <= self._level < 9:
            self._add(heading(self._level + 1, f"{label} {text}"))
        elif text and label:
            mark = label if any(map(str.isalnum, label)) else "-"
            self._add(f"{'  ' * self._depth}{mark} {one_line(text)}", "item")
        else:
            self._add(text)
        for note in self._notes:
            self._add(f"> {note}")
        self._notes.clear()

    def _add(self, text: str, kind: str = "") -> None:
        self.blocks.append((kind, text))

    def _name_style(self, text: str) -> None:
        """Read a style's name, which ends in a semicolon; some files give the level only there."""
        if level := style_level(text.strip().rstrip(";")):
            self._levels.setdefault(self._style, level - 1)

    def _flush(self) -> None:
        if self._bytes:
            self._write(decoded(bytes(self._bytes), self._state.codec or self._page))
            self._bytes.clear()

    def _write(self, text: str) -> None:
        state = self._state
        if state.hidden or state.unseen:
            return
        if state.place == "styles":
            self._name_style(text)
        elif state.place in self.texts:
            is_raised = state.is_superscript or state.is_high
            self.texts[state.place].append(superscript(text) if is_raised else text)
