"""Splits an answer of a model or of the program into safe text and citation markers."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from chains.citations.marker_parser import MarkerParser, width_of_margin
from chains.citations.markers import Claim, Marker, Piece, Text, as_markdown, as_text, text_of
from chains.citations.quotes import QuoteFinder
from chains.citations.visible_text import defuse, escape, has_live_markup, restoration
from domain import RetrievedPassage

if TYPE_CHECKING:
    from langchain_core.messages.content import Citation

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


INNER_QUOTES = str.maketrans(dict.fromkeys('"“”„‟', "'"))
"""Makes quotation marks in quoted words single ones, so that the outer pair is clear."""


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
