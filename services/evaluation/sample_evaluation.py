"""Measures answers to the questions about the sample documents, by split, language, and kind."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePath
from statistics import fmean

from pydantic import TypeAdapter, ValidationError

from domain import CitationState, Principal, Progress, Stage, Turn
from domain.errors import InputError
from domain.messages import _
from services.chat.chat_service import ChatService
from services.evaluation.metrics import Figures
from services.long_work import OnProgress, ignore

_QUOTATION_MARKS = str.maketrans('"“”', "'''")


class Kind(StrEnum):
    """The kinds of questions."""

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
    """A question, and what a right answer must quote.

    Each of the `documents` answers the question. `needles` are groups of texts; of each group, one
    text must be quoted from one of the documents. `split` is `tune` or `test`; nothing is fitted
    on `test`.
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
        """The language of the question, with which its id begins."""
        return self.id.partition("-")[0]


_ROW = TypeAdapter(SampleQuestion)


@dataclass(frozen=True, slots=True)
class Quote:
    """A verified quote in an answer, and the file name of the quoted document."""

    document: str
    text: str


def holds_questions(folder: Path) -> bool:
    """Whether the folder contains sample questions rather than a labeled set."""
    return any(folder.glob("*.jsonl")) and not (folder / "corpus.jsonl").exists()


def load_sample_questions(folder: Path) -> list[SampleQuestion]:
    """Load the questions from all files in the folder, by file name and line.

    Raises:
        InputError: A line can't be read; the message names the file and line.
    """
    return [
        _question(path, number, line)
        for path in sorted(folder.glob("*.jsonl"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if line.strip()
    ]


def is_right(question: SampleQuestion, quotes: Sequence[Quote]) -> bool:
    """Whether the quotes answer the question, or are rightly missing.

    If the question asks for a document, the first quote must come from that document.
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
    """Removes whitespace and unifies quotation marks, which the built-in answerer changes."""
    return "".join(text.split()).translate(_QUOTATION_MARKS)


def _question(path: Path, number: int, line: str) -> SampleQuestion:
    try:
        return _ROW.validate_json(line)
    except ValidationError as error:
        problem = error.errors()[0]
        reason = f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}".removeprefix(": ")
        raise InputError(
            _("Line {number} of {path} is not a question: {error}.").format(
                number=number, path=path, error=reason
            )
        ) from error


@dataclass(frozen=True, slots=True)
class Grade:
    """A question, the quotes in its answer, and whether they are right."""

    question: SampleQuestion
    quotes: tuple[Quote, ...]
    right: bool


@dataclass(frozen=True)
class SampleEvaluation:
    """Asks each question in a new conversation, after the questions of its history."""

    chat: ChatService

    def grades(
        self,
        principal: Principal,
        questions: Sequence[SampleQuestion],
        on_progress: OnProgress = ignore,
    ) -> Iterator[Grade]:
        """Answer and grade the questions, in order."""
        for count, question in enumerate(questions, start=1):
            quotes = tuple(quotes_of(self._answer(principal, question)))
            yield Grade(question, quotes, is_right(question, quotes))
            on_progress(Progress(Stage.INDEXING, count, len(questions)))

    def _answer(self, principal: Principal, question: SampleQuestion) -> Turn:
        conversation = None
        for earlier in question.history:
            conversation = self.chat.ask(principal, earlier, conversation).conversation_id
        return self.chat.ask(principal, question.question, conversation)


def quotes_of(turn: Turn) -> Iterator[Quote]:
    """The verified quotes in an answer; none if no answer was found."""
    for citation in turn.citations:
        if citation.state is CitationState.VERIFIED:
            yield Quote(PurePath(citation.location).name, citation.quote)


def figures(graded: Sequence[Grade]) -> list[Figures]:
    """A row for each split and language with the share of right answers, overall and by kind."""
    groups: dict[tuple[str, str], list[Grade]] = defaultdict(list)
    for one in graded:
        groups[one.question.split, one.question.language].append(one)
    return [
        {"split": split, "language": language, **_shares(grades)}
        for (split, language), grades in sorted(groups.items(), reverse=True)
    ]


def _shares(graded: Sequence[Grade]) -> Figures:
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for one in graded:
        by_kind[one.question.kind].append(one.right)
    without = [bool(one.quotes) for one in graded if one.question.kind in WITHOUT_ANSWER]
    return {
        "questions": len(graded),
        "right": fmean(one.right for one in graded),
        "unanswerable_answered": fmean(without) if without else 0.0,
        **{kind: fmean(right) for kind, right in sorted(by_kind.items())},
    }
