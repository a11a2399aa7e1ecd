"""An answer that is being written, by a model or by the program, and the quotations in it."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chains.citations.answer_reader import AnswerReader
from chains.citations.markers import Claim, Marker
from chains.citations.pieces import Piece, Text, as_markdown
from chains.citations.visible_text import escape
from domain import RetrievedPassage

if TYPE_CHECKING:
    from langchain_core.messages.content import Citation


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
