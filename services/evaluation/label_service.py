"""Labels: people mark the passages that answer a question, and search is measured with them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from domain import (
    Citation,
    CitationState,
    FoundPassage,
    Principal,
    RetrievedPassage,
    SearchMode,
    Turn,
)
from domain.errors import ConflictError, InputError, NotFoundError
from domain.messages import _
from services.access import Access
from services.evaluation.datasets import LabeledQuestion
from services.evaluation.label_sets import (
    LabeledQuestions,
    LabelExport,
    LabelFigures,
    LabelImport,
    checked_question,
    label_of,
    measure,
    read_labels,
    write_labeled_set,
)
from services.search.search_service import SearchService
from storage.ledger.document_store import Documents
from storage.ledger.feedback_store import Label, LabelOrigin, Labels, label_id
from storage.ledger.index_store import Indexes
from storage.ledger.passage_finder import PassageFinder

if TYPE_CHECKING:
    from langchain_core.documents import Document

__all__ = ["Label", "LabelOrigin", "LabelService", "LabeledQuestions"]


@dataclass(frozen=True)
class LabelService:
    """Stores each person's labels, and measures search with them.

    A label is stored with the document, span, and text of its passage, and never changes. After an
    import or reindexing, it applies to the passage that now contains that text.
    """

    labels: Labels
    documents: Documents
    finder: PassageFinder
    indexes: Indexes
    access: Access
    search: SearchService

    def label(
        self,
        principal: Principal,
        question: str,
        passage_id: str,
        grade: int,
        origin: LabelOrigin = LabelOrigin.LAB,
    ) -> Label:
        """Label a passage as right (1) or not (0) for a question.

        This replaces the person's earlier label for that passage and question.

        Raises:
            InputError: The question is empty, too long, or not text; or the grade is not 0 or 1.
            NotFoundError: The passage does not exist, no longer exists, or is not visible to the
                person.
        """
        checked = checked_question(question)
        documents = self.documents.hydrate([passage_id])
        if not documents or not self._reads(principal, documents[0]):
            raise NotFoundError(
                _("there is no passage {passage_id} in the library: search again").format(
                    passage_id=passage_id
                )
            )
        grade = _checked_grade(grade)
        label = label_of(checked, documents[0], grade, origin, datetime.now(UTC))
        self.labels.put(principal, [label])
        return label

    def remove(self, principal: Principal, question: str, passage_id: str) -> None:
        """Remove a label, if there is one."""
        self.labels.remove(principal, question.strip(), [passage_id])

    def id_of(self, principal: Principal, label: Label) -> str:
        """The unique id of one of the person's labels."""
        return label_id(principal, label.question, label.passage_id)

    def discard(self, principal: Principal, id_: str) -> None:
        """Remove the label with that id.

        Raises:
            NotFoundError: The person has no such label.
        """
        self.labels.discard(principal, id_)

    def list(self, principal: Principal) -> list[Label]:
        """All labels of the person, oldest first, with the passages as they were when labeled.

        Labels of documents that the person may no longer read are omitted.
        """
        labels = list(self.labels.list(principal))
        hidden = self.access.unreadable(principal, {one.document_id for one in labels})
        return [one for one in labels if one.document_id not in hidden]

    def rate(self, principal: Principal, turn: Turn, grade: int | None) -> None:
        """Label the retrieved passages that contain verified quotes of an answer.

        The labels are for the standalone question, which was searched. The grade None removes
        labels given this way, but not those given elsewhere. An answer without a verified citation
        says nothing about any passage, so no label is stored.

        Raises:
            InputError: The grade is not 0 or 1.
        """
        question, passages = _question(turn), _cited_passages(turn)
        if grade is None:
            labels = self.labels.for_passages(
                principal, question, [passage.id for _, passage in passages]
            )
            rated = [label.passage_id for label in labels if label.origin is LabelOrigin.CHAT]
            self.labels.remove(principal, question, rated)
        else:
            labels = [_label(question, *one, _checked_grade(grade)) for one in passages]
            self.labels.put(principal, labels)

    def labeled_questions(self, principal: Principal) -> LabeledQuestions:
        """The person's labels, applied to the active index; oldest question first.

        If two labels now apply to the same passage, the newer one counts. Labels of files uploaded
        to a single conversation are omitted, because nobody else can find these files.
        """
        index = self.indexes.active()
        private = self.access.sources.private_documents()
        return self._labeled_questions(principal, None if index is None else index.id, private)

    def _reads(self, principal: Principal, document: "Document") -> bool:
        metadata = document.metadata
        return self.access.reads(principal, metadata["source_id"], metadata["document_id"])

    def _labeled_questions(
        self, principal: Principal, index_id: str | None, private: Collection[str]
    ) -> LabeledQuestions:
        labels = [label for label in self.list(principal) if label.document_id not in private]
        now = {} if index_id is None else self.finder.find(index_id, labels)
        judged: dict[str, dict[str, int]] = {}
        for label in labels:
            if label.passage_id in now:
                judged.setdefault(label.question, {})[now[label.passage_id]] = label.grade
        lost = sum(label.passage_id not in now for label in labels)
        return LabeledQuestions(
            tuple(LabeledQuestion(_id(text), text, grades) for text, grades in judged.items()),
            lost,
        )

    def export(self, principal: Principal, folder: Path) -> LabelExport:
        """Write the person's labels in BEIR layout, with all that they may read as the corpus.

        Figures measured elsewhere are comparable with Footnote's only if they cover the whole
        corpus. Files uploaded to a single conversation are not part of it.

        Raises:
            ConflictError: No labeled passage is in the library.
            InputError: The folder is not empty, or can't be written.
        """
        index, private = self.indexes.active(), self.access.sources.private_documents()
        private |= self.access.unreadable(principal, self.documents.ids())
        labeled = self._labeled_questions(principal, index.id if index else None, private)
        if index is None or not labeled.questions:
            raise ConflictError(labeled.nothing_to_measure())
        return write_labeled_set(folder, labeled, self.documents, index.id, private)

    def import_(self, principal: Principal, folder: Path) -> LabelImport:
        """Import the judgments of a labeled set about passages that are in the library.

        A passage is matched by its id if its text is the same, else by its text. Grades above 1
        become 1, and those below 0 become 0. If a question has a standalone rewrite, the label is
        for the rewrite. A passage that the person may not read does not count as matched.

        Raises:
            InputError: The folder can't be read as a labeled set, or the library is empty.
        """
        index = self.indexes.active()
        if index is None:
            raise InputError(
                _(
                    "The library is empty: import the documents first with `python cli.py import"
                    " PATH`, then the labels."
                )
            )
        readable = self.search.passages(principal)
        labels, report = read_labels(folder, readable, self.finder, index.id)
        self.labels.put(principal, labels)
        return report

    def evaluate(
        self, principal: Principal, modes: Sequence[SearchMode] | None = None, k: int = 10
    ) -> LabelFigures:
        """Measure nDCG, recall, and MRR at `k` with 95% intervals, and milliseconds per query.

        There is one row for each distinct mode. Every labeled question with a right passage is
        searched in the current library, exactly as in the product.

        Raises:
            ConflictError: No question has a right passage in the library.
            InputError: `k` is not between 1 and 1,000.
        """
        labeled = self.labeled_questions(principal)
        if not any(1 in question.relevance.values() for question in labeled.questions):
            raise ConflictError(labeled.nothing_to_measure())

        def search(question: str, mode: SearchMode) -> list[str]:
            documents = self.search.search(principal, question, mode=mode, k=k)
            return [passage.id or "" for passage in documents]

        return measure(labeled, search, modes, k)


def _checked_grade(grade: int) -> int:
    if grade not in (0, 1):
        raise InputError(
            _("A grade must be 1 (right) or 0 (wrong), not {grade}.").format(grade=grade)
        )
    return grade


def _question(turn: Turn) -> str:
    return (turn.standalone_question or turn.question).strip()


def _cited_passages(turn: Turn) -> list[tuple[RetrievedPassage, FoundPassage]]:
    """The passages found by search that contain a verified quote, each once.

    A quote from a neighbor that was added to a passage says nothing about the search results.
    """
    quotes = [citation for citation in turn.citations if citation.state is CitationState.VERIFIED]
    return [
        (source, passage)
        for source in turn.sources
        for passage in source.found
        if any(_stands_in(quote, source, passage) for quote in quotes)
    ]


def _stands_in(quote: Citation, source: RetrievedPassage, passage: FoundPassage) -> bool:
    return quote.n == source.n and quote.start < passage.end and quote.end > passage.start


def _label(question: str, source: RetrievedPassage, passage: FoundPassage, grade: int) -> Label:
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
