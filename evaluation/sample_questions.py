"""Our own questions about the sample documents: their layout, and how an answer is graded.

A file for each language, a question a line (`evaluation/questions/en.jsonl`). `docs/evaluation.md`
describes the kinds.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from errors import InputError

_QUOTATION_MARKS = str.maketrans('"“”', "'''")


class Kind(StrEnum):
    """What sort of question it is."""

    FACT = "fact"
    NUMBER = "number"
    HOW_TO = "how_to"
    YES_NO = "yes_no"
    DEFINITION = "definition"
    LIST = "list"
    COMPARISON = "comparison"
    FOLLOW_UP = "follow_up"
    SUMMARY = "summary"
    WHICH_DOCUMENT = "which_document"
    MISSPELLED = "misspelled"
    SMALL_TALK = "small_talk"
    CROSS_LANGUAGE = "cross_language"
    UNANSWERABLE = "unanswerable"
    UNANSWERABLE_NEAR = "unanswerable_near"


WITHOUT_ANSWER = frozenset((Kind.UNANSWERABLE, Kind.UNANSWERABLE_NEAR))
WITHOUT_QUOTES = WITHOUT_ANSWER | {Kind.SMALL_TALK}


@dataclass(frozen=True, slots=True)
class SampleQuestion:
    """A question, the documents that answer it (any one is enough) and what an answer must quote.

    `needles` are groups; of each group one text must be quoted from one of the documents.
    `split` is `tune` or `test`; nothing is fitted on the second.
    """

    id: str
    kind: Kind
    split: str
    history: tuple[str, ...]
    question: str
    documents: tuple[str, ...]
    needles: tuple[tuple[str, ...], ...]

    @property
    def language(self) -> str:
        """The language of the question, as the id begins with it."""
        return self.id.partition("-")[0]


@dataclass(frozen=True, slots=True)
class Quote:
    """A checked quote of an answer, and the file name of the document it stands in."""

    document: str
    text: str


def holds_questions(folder: Path) -> bool:
    """Whether the folder has files in this layout, rather than a labelled set."""
    return any(folder.glob("*.jsonl")) and not (folder / "corpus.jsonl").exists()


def load_sample_questions(folder: Path) -> list[SampleQuestion]:
    """The questions of all files of the folder, in the order of their names and lines.

    Raises:
        InputError: A line can't be read; file and line are named.
    """
    return [
        _question(path, number, line)
        for path in sorted(folder.glob("*.jsonl"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip()
    ]


def is_right(question: SampleQuestion, quotes: Sequence[Quote]) -> bool:
    """Whether these quotes answer the question, or there are rightly none.

    To a question for a document the first quote must come from it.
    """
    if question.kind in WITHOUT_QUOTES:
        return not quotes
    if question.kind is Kind.WHICH_DOCUMENT:
        return bool(quotes) and quotes[0].document in question.documents
    text = " ".join(_plain(one.text) for one in quotes if one.document in question.documents)
    return bool(text) and all(_has_one(text, group) for group in question.needles)


def _has_one(text: str, needles: Collection[str]) -> bool:
    return any(_plain(needle) in text for needle in needles)


def _plain(text: str) -> str:
    """Without white space and the quotation marks that the built-in answerer changes."""
    return "".join(text.split()).translate(_QUOTATION_MARKS)


def _question(path: Path, number: int, line: str) -> SampleQuestion:
    try:
        row = json.loads(line)
        return SampleQuestion(
            id=row["id"],
            kind=Kind(row["kind"]),
            split=row["split"],
            history=_texts(row["history"]),
            question=row["question"],
            documents=_texts(row["documents"]),
            needles=tuple(map(_texts, row["needles"])),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"Line {number} of {path} is not a question: {error!r}.") from error


def _texts(values: object) -> tuple[str, ...]:
    """The list's texts; a lone text would be read letter by letter."""
    if not (isinstance(values, list) and all(isinstance(value, str) for value in values)):
        raise TypeError(f"{values!r} is not a list of texts")
    return tuple(values)
