"""Labels as a labelled set on disk, in the BEIR layout that `evaluation.datasets` reads."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from errors import InputError
from evaluation.datasets import LabelledQuestion, LabelledSet, load_labelled_set
from services.labelled_questions import LabelledQuestions, checked_question
from storage.documents import Documents
from storage.labels import Label, LabelOrigin
from storage.passage_finder import PassageFinder


@dataclass(frozen=True, slots=True)
class LabelsWritten:
    """What an export wrote; `lost` labels are of passages the library does not hold any more."""

    questions: int
    labels: int
    passages: int
    lost: int


@dataclass(frozen=True, slots=True)
class LabelsRead:
    """What an import took over; `unmatched` judgements are of passages not in the library."""

    questions: int
    labels: int
    unmatched: int


def write_labelled_set(
    folder: Path,
    labelled: LabelledQuestions,
    documents: Documents,
    index_id: str,
    left_out: Collection[str],
) -> LabelsWritten:
    """Write `corpus.jsonl`, `queries.jsonl` and `qrels.tsv` into a new or empty folder.

    The corpus is every document but those with the ids in `left_out`.

    Raises:
        InputError: The folder holds something, or can't be written.
    """
    questions = labelled.questions
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InputError(f"{folder} is not empty: name a new folder for the labels.")
        passages = _write_rows(folder / "corpus.jsonl", _corpus(documents, index_id, left_out))
        _write_rows(folder / "queries.jsonl", ({"_id": q.id, "text": q.text} for q in questions))
        labels = _write_judgements(folder / "qrels.tsv", questions)
    except OSError as error:
        raise InputError(f"{folder} can't be written: {error.strerror}") from error
    return LabelsWritten(len(questions), labels, passages, labelled.lost)


def _corpus(
    documents: Documents, index_id: str, left_out: Collection[str]
) -> Iterator[dict[str, str]]:
    for document_id in (one for one in documents.ids() if one not in left_out):
        title = documents.get(document_id).title
        for passage in documents.passages(document_id, index_id):
            yield {"_id": passage.id, "title": title, "text": passage.text}


def _write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    written = 0
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for written, row in enumerate(rows, start=1):  # noqa: B007  # their number is returned
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return written


def _write_judgements(path: Path, questions: Iterable[LabelledQuestion]) -> int:
    lines = [
        f"{question.id}\t{passage_id}\t{grade}"
        for question in questions
        for passage_id, grade in question.relevance.items()
    ]
    text = "\n".join(["query-id\tcorpus-id\tscore", *lines, ""])
    path.write_text(text, encoding="utf-8", newline="\n")
    return len(lines)


def read_labels(
    folder: Path, documents: Documents, finder: PassageFinder, index_id: str
) -> tuple[list[Label], LabelsRead]:
    """The judgements of a labelled set whose passages the index holds, and how many it does not.

    Raises:
        InputError: The folder can't be read as a labelled set, or a question is no question.
    """
    labelled = load_labelled_set(folder)
    now = _passages_now(labelled, documents, finder, index_id)
    labels, unmatched, moment = [], 0, datetime.now(UTC)
    for question in labelled.questions:
        asked = checked_question(question.rewrite or question.text)
        for theirs, grade in question.relevance.items():
            if theirs in now:
                labels.append(_label(asked, now[theirs], grade, moment))
            else:
                unmatched += 1
    questions = len({label.question for label in labels})
    return labels, LabelsRead(questions, len(labels), unmatched)


def _passages_now(
    labelled: LabelledSet, documents: Documents, finder: PassageFinder, index_id: str
) -> dict[str, Any]:
    """By the set's passage ids, the library's passages with the same text."""
    judged = {id_ for question in labelled.questions for id_ in question.relevance}
    texts = {id_: labelled.corpus[id_][1] for id_ in judged & labelled.corpus.keys()}
    own = {found.id: found for found in documents.hydrate(list(texts))}
    same = {id_ for id_, text in texts.items() if id_ in own and own[id_].page_content == text}
    by_text = finder.by_text(index_id, {texts[id_] for id_ in texts.keys() - same})
    ours = {id_: id_ if id_ in same else by_text.get(text, "") for id_, text in texts.items()}
    found = {passage.id: passage for passage in documents.hydrate(list(set(ours.values())))}
    return {id_: found[our] for id_, our in ours.items() if our in found}


def _label(question: str, passage: Any, grade: int, moment: datetime) -> Label:
    return Label(
        question=question,
        passage_id=passage.id,
        document_id=passage.metadata["document_id"],
        start=passage.metadata["start"],
        end=passage.metadata["end"],
        text=passage.page_content,
        grade=int(grade > 0),
        origin=LabelOrigin.IMPORT,
        created_at=moment,
    )
