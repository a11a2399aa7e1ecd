"""Labels: people say which passage is right for a question, and search is measured by it."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from domain import Citation, CitationState, FoundPassage, Principal, SearchMode, Source, Turn
from errors import ConflictError, InputError, NotFoundError
from evaluation.datasets import LabelledQuestion
from services.labelled_questions import LabelledQuestions, checked_question
from services.own_sources import sees
from storage.documents import Documents
from storage.indexes import Indexes
from storage.labels import Label, LabelOrigin, Labels, label_id
from storage.passage_finder import PassageFinder
from storage.sources import Sources

if TYPE_CHECKING:
    from services.label_figures import LabelFigures
    from services.label_files import LabelsRead, LabelsWritten

__all__ = ["Label", "LabelOrigin", "LabelService", "LabelledQuestions", "Search"]

Search = Callable[[Principal, str, SearchMode | None, int], list[str]]
"""The ids of the first passages for a question in a search mode, as the product itself finds
them."""


@dataclass(frozen=True)
class LabelService:
    """Keeps each person's labels and measures search by them.

    A label is kept with document, span and text of its passage, and is never rewritten. After an
    import or a reindex it counts for the passage that holds that text now.
    """

    labels: Labels
    documents: Documents
    finder: PassageFinder
    indexes: Indexes
    sources: Sources
    search: Search

    def label(
        self,
        principal: Principal,
        question: str,
        passage_id: str,
        grade: int,
        origin: LabelOrigin = LabelOrigin.LAB,
    ) -> Label:
        """Say that a passage is right (1) or not (0) for a question.

        It replaces what the person said of that passage and question before.

        Raises:
            InputError: The question is empty, too long or no text, or the grade is neither.
            NotFoundError: The library holds no such passage for the person (any more).
        """
        asked = checked_question(question)
        found = self.documents.hydrate([passage_id])
        if not found or not sees(self.sources, principal, found[0].metadata["source_id"]):
            raise NotFoundError(f"there is no passage {passage_id} in the library: search again")
        known = found[0].metadata
        label = Label(
            question=asked,
            passage_id=passage_id,
            document_id=known["document_id"],
            start=known["start"],
            end=known["end"],
            text=found[0].page_content,
            grade=_checked_grade(grade),
            origin=origin,
            created_at=datetime.now(UTC),
        )
        self.labels.put(principal, [label])
        return label

    def remove(self, principal: Principal, question: str, passage_id: str) -> None:
        """Take a label back; where there is none, nothing happens."""
        self.labels.remove(principal, question.strip(), [passage_id])

    def id_of(self, principal: Principal, label: Label) -> str:
        """By which a label that the person has given can be named; no other has it."""
        return label_id(principal, label.question, label.passage_id)

    def discard(self, principal: Principal, id_: str) -> None:
        """Take back the label of that id.

        Raises:
            NotFoundError: The person has given no such label.
        """
        self.labels.discard(principal, id_)

    def list(self, principal: Principal) -> list[Label]:
        """All labels of the person, oldest first, with the passages as they were then."""
        return list(self.labels.list(principal))

    def rate(self, principal: Principal, turn: Turn, grade: int | None) -> None:
        """Label the found passages that hold an answer's verified quotes, for its question.

        The question is the standalone one, as it was searched. None takes such labels back, and
        leaves those given elsewhere. An answer without a verified citation says nothing about a
        passage, and nothing is kept.

        Raises:
            InputError: The grade is neither 1 nor 0.
        """
        question, cited = _question(turn), _cited(turn)
        if grade is None:
            given = self.labels.given(principal, question, [passage.id for _, passage in cited])
            rated = [label.passage_id for label in given if label.origin is LabelOrigin.CHAT]
            self.labels.remove(principal, question, rated)
        else:
            labels = [_label(question, *one, _checked_grade(grade)) for one in cited]
            self.labels.put(principal, labels)

    def labelled_questions(self, principal: Principal) -> LabelledQuestions:
        """What the person's labels say of the index that answers now, the oldest question first.

        Where two labels have become labels of one passage, the newer counts. Those of files given
        to one conversation are left out: searched is what everybody finds.
        """
        index = self.indexes.active()
        private = self.sources.private_documents()
        return self._labelled(principal, None if index is None else index.id, private)

    def _labelled(
        self, principal: Principal, index_id: str | None, private: Collection[str]
    ) -> LabelledQuestions:
        labels = [label for label in self.list(principal) if label.document_id not in private]
        now = {} if index_id is None else self.finder.find(index_id, labels)
        judged: dict[str, dict[str, int]] = {}
        for label in labels:
            if label.passage_id in now:
                judged.setdefault(label.question, {})[now[label.passage_id]] = label.grade
        lost = sum(label.passage_id not in now for label in labels)
        return LabelledQuestions(
            tuple(LabelledQuestion(_id(text), text, grades) for text, grades in judged.items()),
            lost,
        )

    def export(self, principal: Principal, folder: Path) -> "LabelsWritten":
        """Write the labelled set of the person in BEIR layout, with the whole library as corpus.

        Only over the whole corpus do figures measured elsewhere mean what they mean here. Files
        given to one conversation are no part of it.

        Raises:
            ConflictError: There is no label whose passage is in the library.
            InputError: The folder holds files already or can't be written.
        """
        from services.label_files import write_labelled_set

        index, private = self.indexes.active(), self.sources.private_documents()
        labelled = self._labelled(principal, index.id if index else None, private)
        if index is None or not labelled.questions:
            raise ConflictError(labelled.nothing_to_measure())
        return write_labelled_set(folder, labelled, self.documents, index.id, private)

    def import_(self, principal: Principal, folder: Path) -> "LabelsRead":
        """Take over the judgements of a labelled set whose passages are in the library.

        A judged passage is matched by its id where the text is the same, else by its text.
        Grades above 1 become 1, those below 0 become 0; of a question with a standalone rewrite
        the rewrite is kept.

        Raises:
            InputError: The folder can't be read as a labelled set, or nothing was imported yet.
        """
        from services.label_files import read_labels

        index = self.indexes.active()
        if index is None:
            raise InputError("The library is empty: import the documents first, then the labels.")
        labels, report = read_labels(folder, self.documents, self.finder, index.id)
        self.labels.put(principal, labels)
        return report

    def evaluate(
        self, principal: Principal, modes: Sequence[SearchMode] | None = None, k: int = 10
    ) -> "LabelFigures":
        """nDCG, recall and MRR at `k` with 95 % intervals, and milliseconds, for each mode once.

        Each labelled question with a right passage is searched in the library as it is now, as
        the product searches it.

        Raises:
            ConflictError: No question has a right passage in the library.
            InputError: `k` is not between 1 and 1,000.
        """
        from services.label_figures import measure

        labelled = self.labelled_questions(principal)
        if not any(1 in question.relevance.values() for question in labelled.questions):
            raise ConflictError(labelled.nothing_to_measure())

        def search(question: str, mode: SearchMode) -> list[str]:
            return self.search(principal, question, mode, k)

        return measure(labelled, search, modes, k)


def _checked_grade(grade: int) -> int:
    if grade not in (0, 1):
        raise InputError(f"A grade is 1 (right) or 0 (not), not {grade}.")
    return grade


def _question(turn: Turn) -> str:
    return (turn.standalone_question or turn.question).strip()


def _cited(turn: Turn) -> list[tuple[Source, FoundPassage]]:
    """The passages found that a verified quote stands in, each once.

    A quote from a neighbour by which a passage was widened says nothing of what was found.
    """
    quotes = [citation for citation in turn.citations if citation.state is CitationState.VERIFIED]
    return [
        (source, passage)
        for source in turn.sources
        for passage in source.found
        if any(_stands_in(quote, source, passage) for quote in quotes)
    ]


def _stands_in(quote: Citation, source: Source, passage: FoundPassage) -> bool:
    return quote.n == source.n and quote.start < passage.end and quote.end > passage.start


def _label(question: str, source: Source, passage: FoundPassage, grade: int) -> Label:
    return Label(
        question=question,
        passage_id=passage.id,
        document_id=source.document_id,
        start=passage.start,
        end=passage.end,
        text=source.text[passage.start - source.start : passage.end - source.start],
        grade=grade,
        origin=LabelOrigin.CHAT,
        created_at=datetime.now(UTC),
    )


def _id(question: str) -> str:
    return sha256(question.encode()).hexdigest()[:16]
