"""An answer that is being written: its text so far, and the check of its citations."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from chains.citations.answer_check import AnswerCheck, CheckedAnswer
from chains.citations.pieces import plain_text
from chains.citations.written_answer import WrittenAnswer
from domain import CitationState, RetrievedPassage
from services.events import CitationVerified, Event, TextDelta

if TYPE_CHECKING:
    from langchain_core.messages.content import Citation


TextOf = Callable[[str], str | None]
"""Returns the stored text of a document, or None if it was removed."""


class AnswerDraft:
    """Adds an answer piece by piece; each method yields the events of what it adds."""

    def __init__(self, passages: Sequence[RetrievedPassage], text_of: TextOf) -> None:
        """Start an answer about these passages; see `AnswerCheck`."""
        self._answer = WrittenAnswer(passages)
        self._check = AnswerCheck(passages, text_of)
        self._checked_pieces = 0

    def write(self, text: str, citations: "Sequence[Citation] | None") -> Iterator[Event]:
        """Add text; see `WrittenAnswer.read`."""
        return self._events(self._answer.read(text, citations))

    def close(self) -> Iterator[Event]:
        """Add the text that was held back, and check the citations without a quote."""
        yield from self._events(self._answer.close())
        checked = self._check.result
        for marker, mark in enumerate(checked.marks):
            citation = checked.citations[mark.citation]
            if citation.state is CitationState.VERIFIED and not citation.quoted_by_answer:
                yield CitationVerified(citation, marker)

    def plain_text(self) -> str:
        """The text so far, without Markdown escapes."""
        self._answer.close()
        return plain_text(self._answer.pieces)

    def check(self) -> CheckedAnswer:
        """The checked answer; nothing can be added to it anymore."""
        list(self.close())
        return self._check.result

    def _events(self, shown: str) -> Iterator[Event]:
        if shown:
            yield TextDelta(shown)
        new = self._answer.pieces[self._checked_pieces :]
        self._checked_pieces += len(new)
        for marker, citation in self._check.read(new):
            yield CitationVerified(citation, marker)
