r"""Answers as they are stored: Markdown in which an `[n]` that nothing escapes is a marker.

In code it is none. Brackets of documents are escaped: `\[42\]`.
"""

from collections.abc import Iterator

from chains.brackets import escape
from chains.citations import plain_text
from chains.marker import Claim, Marker
from chains.marker_reader import NotAMarkerError
from chains.markers import SHOWN_MARKER, MarkerParser, Piece, Text
from domain import EXTRACTIVE, Turn

__all__ = [
    "SHOWN_MARKER",
    "PlainAnswer",
    "answer_pieces",
    "escape",
    "marker_spans",
    "offers_nearest",
    "plain_answer",
]


def offers_nearest(turn: Turn) -> bool:
    """Whether the built-in answerer found no answer, so that the sources are only the nearest."""
    return turn.model == EXTRACTIVE and bool(turn.sources) and not turn.citations


def answer_pieces(answer: str) -> list[Piece]:
    """The answer's texts and markers, each marker with one number."""
    parser = _StoredParser()
    pieces = [piece for line in answer.splitlines(keepends=True) for piece in parser.feed(line)]
    return pieces + parser.close()


def marker_spans(answer: str) -> Iterator[tuple[int, int, int]]:
    """Of each marker in their order: its number, and where it begins and ends."""
    at = 0
    for piece in answer_pieces(answer):
        end = at + len(piece.shown)
        if isinstance(piece, Marker):
            yield piece.claims[0].n, at, end
        at = end


def plain_answer(answer: str) -> str:
    """The answer without escapes, for those who do not read it as Markdown."""
    return plain_text(answer_pieces(answer))


class PlainAnswer:
    """The same for an answer that comes in parts, such as on a terminal."""

    def __init__(self) -> None:
        """An answer that nothing is written of yet."""
        self._parser = _StoredParser()

    def write(self, text: str) -> str:
        """What can be shown now that this part of the Markdown has come."""
        return plain_text(self._parser.feed(text))

    def close(self) -> str:
        """What was held back until the next part."""
        return plain_text(self._parser.close())


class _StoredParser(MarkerParser):
    """Reads no other form of a marker, and gives what is escaped as it is meant."""

    def _read(self, *, final: bool) -> Marker:  # noqa: ARG002  # the signature is that of a parser
        found = SHOWN_MARKER.match(self._held)
        if found is None:
            raise NotAMarkerError
        return Marker(found[0], (Claim(int(found[1])),))

    def _backslash(self, *, final: bool) -> Text:
        written = super()._backslash(final=final).text
        return Text(written[1:] or written, written)
