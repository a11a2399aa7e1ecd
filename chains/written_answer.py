"""An answer while it is written, by a model in text or by an answerer that knows what it quotes."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chains.answer_reader import AnswerReader
from chains.brackets import escape
from chains.citations import shown_text
from chains.marker import Claim, Marker
from chains.markers import Piece, Text
from domain import Source

if TYPE_CHECKING:  # slow, and opening the page does not need it
    from langchain_core.messages.content import Citation


class WrittenAnswer:
    """The pieces of an answer so far; each method returns the Markdown of what it adds."""

    def __init__(self, sources: Iterable[Source] = ()) -> None:
        """Args: what the answerer was shown."""
        self.pieces: list[Piece] = []
        self._reader = AnswerReader(sources)
        self._characters = 0

    def read(self, text: str, citations: "Sequence[Citation] | None" = None) -> str:
        """Add text of a model, or of the program, whose citations are known (perhaps none).

        The program's text is not parsed, and needs no source where it quotes nothing.
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
        """Add what was held back of a model's text, for it could have become a marker."""
        return self._add(self._reader.close())

    def _add(self, pieces: Sequence[Piece]) -> str:
        self.pieces += pieces
        return shown_text(pieces)


def quotation(n: int, words: str) -> list[Piece]:
    """The words of source `n` between quotation marks, and the marker that cites them."""
    lines = escape(words).replace("\n", "  \n")  # which Markdown shows as separate lines
    quoted = Text(f"“{words}” ", f"“{lines}” ")
    return [quoted, Marker(f"[{n}]", (Claim(n, words),), quotes=len(words) + len("“”"))]


def citation(n: int, words: str, start: int) -> "Citation":
    """LangChain's annotation of that quotation where it begins at `start` of an answer."""
    end = start + len(shown_text(quotation(n, words)))
    return {
        "type": "citation",
        "cited_text": words,
        "start_index": start,
        "end_index": end,
        "extras": {"n": n},
    }


def _pieces(text: str, citations: "Iterable[Citation]", start: int) -> list[Piece]:
    """The text, which begins at `start` of the answer, with the quotations that are annotated."""
    pieces: list[Piece] = []
    done = 0
    for one in citations:
        pieces += _own_words(text[done : one["start_index"] - start])
        pieces += quotation(one["extras"]["n"], one["cited_text"])
        done = one["end_index"] - start
    return pieces + _own_words(text[done:])


def _own_words(text: str) -> list[Piece]:
    return [Text(text, by_program=True)] if text else []
