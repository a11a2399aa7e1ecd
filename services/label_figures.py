"""Figures of the search modes over the labelled questions of the library itself."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from domain import COMPARED_MODES, SearchMode
from evaluation.datasets import LabelledQuestion
from evaluation.metrics import Estimate, estimate, ndcg, recall, reciprocal_rank
from services.labelled_questions import LabelledQuestions

FEW = 30
"""With fewer questions the bootstrap's intervals are too narrow and modes can't be told apart."""


@dataclass(frozen=True, slots=True)
class ModeFigures:
    """A mode's means over the questions, each in [0, 1] with its 95 % interval."""

    mode: SearchMode
    queries: int
    k: int
    ndcg: Estimate
    recall: Estimate
    mrr: Estimate
    ms_per_query: float

    def as_row(self) -> dict[str, str | int | float]:
        """Flat, for a table: each figure, then its interval as `..._low` and `..._high`."""
        row: dict[str, str | int | float] = {"mode": self.mode.value, "queries": self.queries}
        for name, figure in (("ndcg", self.ndcg), ("recall", self.recall), ("mrr", self.mrr)):
            key = f"{name}_at_{self.k}"
            row |= {key: figure.mean, f"{key}_low": figure.low, f"{key}_high": figure.high}
        return row | {"ms_per_query": self.ms_per_query}


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """A row for each mode; `notices` say what a person should know before relying on them."""

    rows: tuple[ModeFigures, ...]
    notices: tuple[str, ...]


def measure(
    labelled: LabelledQuestions,
    search: Callable[[str, SearchMode], list[str]],
    modes: Sequence[SearchMode] | None,
    k: int,
) -> LabelFigures:
    """Search every question that has a right passage in each mode once.

    The time is that of the whole search as the product does it, with embedding the question; a
    first search that loads the model is not counted.
    """
    asked = [one for one in labelled.questions if 1 in one.relevance.values()]
    rows = tuple(
        _mode_figures(mode, asked, search, k) for mode in dict.fromkeys(modes or COMPARED_MODES)
    )
    return LabelFigures(rows, _notices(labelled, len(asked)))


def _mode_figures(
    mode: SearchMode,
    asked: Sequence[LabelledQuestion],
    search: Callable[[str, SearchMode], list[str]],
    k: int,
) -> ModeFigures:
    search(asked[0].text, mode)  # loads what is not loaded yet
    started = time.perf_counter()
    rankings = [search(question.text, mode) for question in asked]
    seconds = time.perf_counter() - started

    def figure(of: Callable[[Sequence[str], dict[str, int], int], float]) -> Estimate:
        pairs = zip(rankings, asked, strict=True)
        return estimate([of(ranking, question.relevance, k) for ranking, question in pairs])

    return ModeFigures(
        mode=mode,
        queries=len(asked),
        k=k,
        ndcg=figure(ndcg),
        recall=figure(recall),
        mrr=figure(reciprocal_rank),
        ms_per_query=1000 * seconds / len(asked),
    )


def _notices(labelled: LabelledQuestions, asked: int) -> tuple[str, ...]:
    notices = []
    if asked < FEW:
        notices.append(
            f"Few labels: {asked} questions are too few to tell modes apart (at least {FEW} are"
            " needed), and the intervals are narrower than the truth."
        )
    if unanswered := len(labelled.questions) - asked:
        notices.append(f"Left out: {unanswered} questions for which only wrong passages are known.")
    if labelled.lost:
        notices.append(
            f"Lost: {labelled.lost} labels are of passages that the library does not hold any more."
        )
    return tuple(notices)
