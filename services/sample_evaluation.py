"""How the questions about the sample documents are answered, by kind, language and split."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from statistics import fmean

from domain import CitationState, Principal, Turn
from evaluation.sample_questions import (
    WITHOUT_ANSWER,
    Quote,
    SampleQuestion,
    holds_questions,
    is_right,
    load_sample_questions,
)
from services.chat import ChatService

__all__ = ["Graded", "SampleEvaluation", "figures", "holds_questions", "load_sample_questions"]

Figures = dict[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Graded:
    """A question with what was quoted in answer, and whether that is right."""

    question: SampleQuestion
    quotes: tuple[Quote, ...]
    right: bool


@dataclass(frozen=True)
class SampleEvaluation:
    """Asks the questions as a person would: a conversation each, its history asked first."""

    chat: ChatService

    def graded(
        self,
        principal: Principal,
        questions: Sequence[SampleQuestion],
        on_progress: Callable[[int, int], None],
    ) -> Iterator[Graded]:
        """Each question answered and graded, in their order."""
        for done, question in enumerate(questions, start=1):
            quotes = tuple(quotes_of(self._answer(principal, question)))
            yield Graded(question, quotes, is_right(question, quotes))
            on_progress(done, len(questions))

    def _answer(self, principal: Principal, question: SampleQuestion) -> Turn:
        conversation = None
        for earlier in question.history:
            conversation = self.chat.ask(principal, earlier, conversation).conversation_id
        return self.chat.ask(principal, question.question, conversation)


def quotes_of(turn: Turn) -> Iterator[Quote]:
    """The quotes of an answer that stand in the documents; none where it found no answer."""
    for citation in turn.citations:
        if citation.state is CitationState.VERIFIED:
            yield Quote(PurePath(citation.location).name, citation.quote)


def figures(graded: Sequence[Graded]) -> list[Figures]:
    """A row for each split and language: the share right, overall and by kind."""
    groups: dict[tuple[str, str], list[Graded]] = defaultdict(list)
    for one in graded:
        groups[one.question.split, one.question.language].append(one)
    return [
        {"split": split, "language": language, **_shares(found)}
        for (split, language), found in sorted(groups.items(), reverse=True)
    ]


def _shares(graded: Sequence[Graded]) -> Figures:
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
