"""Measures search with labels, and stores labels on disk in the BEIR layout of `datasets`."""

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain import COMPARED_MODES, SearchMode
from domain.errors import InputError
from domain.messages import _
from services.evaluation.datasets import LabeledQuestion, LabeledSet, load_labeled_set
from services.evaluation.metrics import Estimate, Figures, estimate, ndcg, recall, reciprocal_rank
from services.search.readable_passages import ReadablePassages
from services.texts import MAX_QUESTION_CHARS, require_letters
from storage.ledger.document_store import Documents
from storage.ledger.feedback_store import Label, LabelOrigin
from storage.ledger.passage_finder import PassageFinder

if TYPE_CHECKING:
    from langchain_core.documents import Document


@dataclass(frozen=True, slots=True)
class LabeledQuestions:
    """The questions with the passages judged for them, by current passage id.

    `lost` is the number of labels whose passages were not found again; they are not included.
    """

    questions: tuple[LabeledQuestion, ...]
    lost: int

    def nothing_to_measure(self) -> str:
        """The message for a person whose questions have no right passage."""
        lost = (
            _(" {lost} labels refer to passages that no longer exist.").format(lost=self.lost)
            if self.lost
            else ""
        )
        return _(
            "No question has a passage marked as right in the library yet: mark one in the"
            " lab, rate an answer, or import labels with `python cli.py labels import"
            " FOLDER`.{lost}"
        ).format(lost=lost)


def checked_question(question: str) -> str:
    """The question, stripped.

    Raises:
        InputError: It is empty, too long, or not text.
    """
    stripped = question.strip()
    if not stripped:
        raise InputError(_("The question is empty: enter the question that the passage answers."))
    if len(stripped) > MAX_QUESTION_CHARS:
        raise InputError(
            _("A labeled question can have at most {max_question_chars} characters.").format(
                max_question_chars=f"{MAX_QUESTION_CHARS:,}"
            )
        )
    require_letters(stripped, _("question"))
    return stripped


FEW = 30
"""With fewer questions, bootstrap intervals are too narrow and modes can't be distinguished."""


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """The means of a search mode over the questions, from 0 to 1, with 95% intervals."""

    mode: SearchMode
    queries: int
    k: int
    ndcg: Estimate
    recall: Estimate
    mrr: Estimate
    ms_per_query: float

    def as_row(self) -> Figures:
        """A flat table row: each figure, followed by its interval as `..._low` and `..._high`."""
        row: Figures = {"mode": self.mode.value, "queries": self.queries}
        for name, figure in (("ndcg", self.ndcg), ("recall", self.recall), ("mrr", self.mrr)):
            row |= figure.columns(f"{name}_at_{self.k}")
        return row | {"ms_per_query": self.ms_per_query}


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """A row for each mode; `notices` are caveats about the figures."""

    rows: tuple[ModeFigures, ...]
    notices: tuple[str, ...]


def measure(
    labeled: LabeledQuestions,
    search: Callable[[str, SearchMode], list[str]],
    modes: Sequence[SearchMode] | None,
    k: int,
) -> LabelFigures:
    """Search each question that has a right passage once per mode.

    The time covers the whole search as in the product, including embedding the question. An
    initial search, which loads the models, is not counted.
    """
    questions = [one for one in labeled.questions if 1 in one.relevance.values()]
    rows = tuple(
        _mode_figures(mode, questions, search, k) for mode in dict.fromkeys(modes or COMPARED_MODES)
    )
    return LabelFigures(rows, _notices(labeled, len(questions)))


def _mode_figures(
    mode: SearchMode,
    questions: Sequence[LabeledQuestion],
    search: Callable[[str, SearchMode], list[str]],
    k: int,
) -> ModeFigures:
    search(questions[0].text, mode)  # loads models and indexes before the time is measured
    started = time.perf_counter()
    rankings = [search(question.text, mode) for question in questions]
    seconds = time.perf_counter() - started

    def figure(of: Callable[[Sequence[str], dict[str, int], int], float]) -> Estimate:
        pairs = zip(rankings, questions, strict=True)
        return estimate([of(ranking, question.relevance, k) for ranking, question in pairs])

    return ModeFigures(
        mode=mode,
        queries=len(questions),
        k=k,
        ndcg=figure(ndcg),
        recall=figure(recall),
        mrr=figure(reciprocal_rank),
        ms_per_query=1000 * seconds / len(questions),
    )


def _notices(labeled: LabeledQuestions, question_count: int) -> tuple[str, ...]:
    notices = []
    if question_count < FEW:
        notices.append(
            _(
                "Few labels: {count} questions are too few to compare modes (at least {few}"
                " are needed), and the intervals are too narrow."
            ).format(count=question_count, few=FEW)
        )
    if unanswered := len(labeled.questions) - question_count:
        notices.append(
            _("Skipped: {unanswered} questions for which only wrong passages are known.").format(
                unanswered=unanswered
            )
        )
    if labeled.lost:
        notices.append(
            _("Lost: {lost} labels of passages that are no longer in the library.").format(
                lost=labeled.lost
            )
        )
    return tuple(notices)


@dataclass(frozen=True, slots=True)
class LabelExport:
    """The counts of an export; `lost` labels have passages that are no longer in the library."""

    questions: int
    labels: int
    passages: int
    lost: int


@dataclass(frozen=True, slots=True)
class LabelImport:
    """The counts of an import; `unmatched` judgments have passages that are not in the library."""

    questions: int
    labels: int
    unmatched: int


def write_labeled_set(
    folder: Path,
    labeled: LabeledQuestions,
    documents: Documents,
    index_id: str,
    excluded: Collection[str],
) -> LabelExport:
    """Write `corpus.jsonl`, `queries.jsonl`, and `qrels.tsv` to a new or empty folder.

    The corpus consists of all documents except those with the ids in `excluded`.

    Raises:
        InputError: The folder is not empty, or can't be written.
    """
    questions = labeled.questions
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(
                _("{folder} is not empty: choose a new folder for the labels.").format(
                    folder=folder
                )
            )
        passages = _write_rows(folder / "corpus.jsonl", _corpus(documents, index_id, excluded))
        _write_rows(folder / "queries.jsonl", ({"_id": q.id, "text": q.text} for q in questions))
        labels = _write_judgements(folder / "qrels.tsv", questions)
    except OSError as error:
        raise InputError(
            _("{folder} can't be written: {strerror}").format(
                folder=folder, strerror=error.strerror
            )
        ) from error
    return LabelExport(len(questions), labels, passages, labeled.lost)


def _corpus(
    documents: Documents, index_id: str, excluded: Collection[str]
) -> Iterator[dict[str, str]]:
    for document_id in (one for one in documents.ids() if one not in excluded):
        title = documents.get(document_id).title
        for passage in documents.passages(document_id, index_id):
            yield {"_id": passage.id, "title": title, "text": passage.text}


def _write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    count = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for count, row in enumerate(rows, start=1):  # noqa: B007  # the count is returned
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return count


def _write_judgements(path: Path, questions: Iterable[LabeledQuestion]) -> int:
    lines = [
        f"{question.id}\t{passage_id}\t{grade}"
        for question in questions
        for passage_id, grade in question.relevance.items()
    ]
    text = "\n".join(["query-id\tcorpus-id\tscore", *lines, ""])
    path.write_text(text, encoding="utf-8", newline="\n")
    return len(lines)


def read_labels(
    folder: Path, documents: ReadablePassages, finder: PassageFinder, index_id: str
) -> tuple[list[Label], LabelImport]:
    """Read the judgments of a labeled set as labels of indexed passages; the report counts them.

    Raises:
        InputError: The folder can't be read as a labeled set, or a question is empty, too long, or
            not text.
    """
    labeled = load_labeled_set(folder)
    now = _passages_now(labeled, documents, finder, index_id)
    labels, unmatched, moment = [], 0, datetime.now(UTC)
    for question in labeled.questions:
        text = checked_question(question.rewrite or question.text)
        for theirs, grade in question.relevance.items():
            if theirs in now:
                label = label_of(text, now[theirs], int(grade > 0), LabelOrigin.IMPORT, moment)
                labels.append(label)
            else:
                unmatched += 1
    questions = len({label.question for label in labels})
    return labels, LabelImport(questions, len(labels), unmatched)


def _passages_now(
    labeled: LabeledSet, documents: ReadablePassages, finder: PassageFinder, index_id: str
) -> dict[str, "Document"]:
    """The library's passages with the same text, by passage id in the set."""
    ids = {id_ for question in labeled.questions for id_ in question.relevance}
    texts = {id_: labeled.corpus[id_][1] for id_ in ids & labeled.corpus.keys()}
    own = {passage.id: passage for passage in documents.hydrate(list(texts))}
    same = {id_ for id_, text in texts.items() if id_ in own and own[id_].page_content == text}
    by_text = finder.by_text(index_id, {texts[id_] for id_ in texts.keys() - same})
    ours = {id_: id_ if id_ in same else by_text.get(text, "") for id_, text in texts.items()}
    passages = {passage.id: passage for passage in documents.hydrate(list(set(ours.values())))}
    return {id_: passages[our] for id_, our in ours.items() if our in passages}


def label_of(
    question: str, passage: "Document", grade: int, origin: LabelOrigin, moment: datetime
) -> Label:
    """A label that records the passage's current text and span."""
    return Label(
        question=question,
        passage_id=passage.id or "",
        document_id=passage.metadata["document_id"],
        start=passage.metadata["start"],
        end=passage.metadata["end"],
        text=passage.page_content,
        grade=grade,
        origin=origin,
        created_at=moment,
    )
