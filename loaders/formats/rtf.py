"""Rich Text Format as Markdown: headings, lists, tables and notes of what a person reads."""

from dataclasses import dataclass, replace

from errors import UnreadableError
from loaders.formats.content import Content, heading, one_line, style_level
from loaders.formats.rtf_table import Table
from loaders.formats.rtf_tokens import Token, charset, code_page, decoded, tokens

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
_SYMBOLS = {"~": "\xa0", "_": "-", "\\": "\\", "{": "{", "}": "}"}
_PARAGRAPH_ENDS = frozenset({"par", "sect", "page"})
_MAX_SKIPPED = 100


@dataclass(frozen=True, slots=True)
class _State:
    """What a group inherits and leaves behind at its end."""

    place: str = "body"
    hidden: bool = False  # in a destination that is not shown
    unseen: bool = False  # hidden or deleted letters
    codec: str = ""
    skip: int = 1  # letters that stand in for one Unicode letter


def read(data: bytes) -> Content:
    """Read a document; its title is the one of its properties.

    Hidden and deleted text, headers and footers are left out; footnotes follow their paragraph
    as a quotation.
    """
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n\0")
    if not start.startswith(b"{\\rtf"):
        raise UnreadableError("it does not begin as RTF does: save it again as .rtf")
    document = _Document()
    whole = document.walk(start)
    warnings = () if whole else ("the file ends early: its end may be missing",)
    text = _paired("".join(document.blocks))
    return Content(text, _paired("".join(document.told)), warnings=warnings)


def _paired(text: str) -> str:
    """The text with the halves of letters beyond U+FFFF joined."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _Document:
    """One document's walk, token by token."""

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.told: list[str] = []
        self._state = _State()
        self._stack: list[_State] = []
        self._page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._font = self._default_font = self._style = -1
        self._levels: dict[int, int] = {}  # style -> outline level from 0
        self._level, self._depth, self._in_table = 9, 0, False
        self._table = Table()
        self._bytes = bytearray()
        self._text: list[str] = []
        self._label: list[str] = []
        self._note: list[str] = []
        self._notes: list[str] = []
        self._after_item = self._starred = False
        self._skipped = 0

    def walk(self, data: bytes) -> bool:
        """Take every token; whether the file was whole."""
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
                self._notes.append(one_line("".join(self._note)))
                self._note.clear()

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
            codec = charset(number) if word == "fcharset" else code_page(number)
            self._fonts |= {self._font: codec} if codec else {}
        elif word == "plain":
            codec = self._fonts.get(self._default_font, "")
            self._state = replace(self._state, codec=codec, unseen=False)

    def _layout(self, word: str, number: int) -> None:
        if self._state.place == "styles":
            self._style = number if word == "s" else self._style
            self._levels |= {self._style: number} if word == "outlinelevel" else {}
        elif self._state.place == "note" and word in _PARAGRAPH_ENDS:
            self._note.append(" ")
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
        """The label and text since the last paragraph's end, which are then forgotten."""
        text = "".join([*self._label, *self._text]).strip()
        self._label.clear()
        self._text.clear()
        return text

    def _end_paragraph(self) -> None:
        if self._in_table:
            self._text.append("\n")
            return
        self._add(self._table.take())
        label = one_line("".join(self._label))
        self._label.clear()
        text = self._paragraph()
        if text and 0 <= self._level < 9:
            self._add(heading(self._level + 1, f"{label} {text}"))
        elif text and label:
            mark = label if any(map(str.isalnum, label)) else "-"
            self._add(f"{'  ' * self._depth}{mark} {one_line(text)}", is_item=True)
        else:
            self._add(text)
        for note in self._notes:
            self._add(f"> {note}")
        self._notes.clear()

    def _add(self, text: str, *, is_item: bool = False) -> None:
        if text:
            self.blocks.append(("\n" if is_item and self._after_item else "\n\n") + text)
            self._after_item = is_item

    def _name_style(self, text: str) -> None:
        """Take a style's name, which ends in a semicolon: some programs tell levels by it only."""
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
        targets = {"body": self._text, "title": self.told, "note": self._note, "label": self._label}
        if state.place == "styles":
            self._name_style(text)
        elif state.place in targets:
            targets[state.place].append(text)
