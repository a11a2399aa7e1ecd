"""The pieces of an answer: texts and citation markers."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from chains.citations.live_markup import defuse
from chains.citations.markers import Marker

_NO_TEXT = re.compile(r"[\\\[\]`~]")


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
    """Bracketed text, escaped so that it is not read as a marker, a link, code, or HTML."""
    return Text(bracket, defuse(_NO_TEXT.sub(r"\\\g<0>", bracket)))


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
    return replace(text_of(text, shown), by_program=texts[0].by_program)


def text_of(text: str, shown: str) -> Text:
    """The text with this Markdown."""
    return Text(text, "" if shown == text else shown)
