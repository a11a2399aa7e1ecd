"""What became of labelled questions about a catalogue, as figures by language."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain import CatalogueQuery
from evaluation.catalogue import count_aspects, estimate_ratio, filters_right, grades
from evaluation.catalogue_questions import CatalogueQuestion
from evaluation.metrics import Estimate, estimate, ndcg

ALL = "all"
"""The row over the questions of every language."""
DEPTH = 10
"""Places below this rank count for nothing."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question, how it was understood, and the ids of the places that each way found for it."""

    question: CatalogueQuestion
    understood: CatalogueQuery
    rankings: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class LanguageFigures:
    """The figures over the questions of a language, each in [0, 1] with its 95 % interval.

    `filters` is the share of filters understood exactly; `aspects_found` that of the aspects
    mentioned which were understood as they were meant (recall), `aspects_right` that of the
    aspects understood (precision), None where there are none. `ndcg` is by the name of each way
    of searching, over the questions that some place answers; `gains` says by how much each way is
    better than the first one, question by question, from -1 to 1.
    """

    language: str
    questions: int
    filters: Estimate
    aspects_found: Estimate | None
    aspects_right: Estimate | None
    ndcg: Mapping[str, Estimate]
    gains: Mapping[str, Estimate]

    def as_row(self) -> dict[str, str | int | float]:
        """Flat, for a table: each figure, then its interval as `..._low` and `..._high`."""
        row: dict[str, str | int | float] = {
            "language": self.language,
            "questions": self.questions,
        }
        for name, figure in self._named():
            row |= {name: figure.mean, f"{name}_low": figure.low, f"{name}_high": figure.high}
        return row

    def _named(self) -> Iterable[tuple[str, Estimate]]:
        aspects = {"aspects_found": self.aspects_found, "aspects_right": self.aspects_right}
        yield "filters_right", self.filters
        yield from ((name, figure) for name, figure in aspects.items() if figure is not None)
        yield from ((f"ndcg_{name}", figure) for name, figure in self.ndcg.items())
        yield from ((f"gain_{name}", figure) for name, figure in self.gains.items())


def figures_by_language(
    outcomes: Sequence[Outcome], fields: Sequence[str]
) -> list[LanguageFigures]:
    """A row for each language in the order of the questions, then one for all of them.

    `fields` are the names of the catalogue's filters, which count beside types and least rating.
    """
    languages = dict.fromkeys(one.question.language for one in outcomes)
    rows = [
        _figures(language, [one for one in outcomes if one.question.language == language], fields)
        for language in languages
    ]
    return [*rows, _figures(ALL, outcomes, fields)]


def _figures(language: str, outcomes: Sequence[Outcome], fields: Sequence[str]) -> LanguageFigures:
    shares = [_share_of_filters(one, fields) for one in outcomes]
    counts = [
        count_aspects(one.question.aspects, one.understood.aspect_weights) for one in outcomes
    ]
    values = _ndcg_by_way([one for one in outcomes if one.question.acceptable])
    return LanguageFigures(
        language=language,
        questions=len(outcomes),
        filters=estimate(shares),
        aspects_found=_share([(count.right, count.mentioned) for count in counts]),
        aspects_right=_share([(count.right, count.understood) for count in counts]),
        ndcg={way: estimate(measured) for way, measured in values.items()},
        gains=_gains(values),
    )


def _share_of_filters(outcome: Outcome, fields: Sequence[str]) -> float:
    right = filters_right(outcome.question.filters, outcome.understood.filters, fields)
    return sum(right) / len(right)


def _share(parts: Sequence[tuple[float, float]]) -> Estimate | None:
    return estimate_ratio(parts) if any(below for _, below in parts) else None


def _ndcg_by_way(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for one in outcomes:
        gains = grades(one.question.acceptable)
        for way, ranking in one.rankings.items():
            found.setdefault(way, []).append(ndcg(ranking, gains, DEPTH))
    return found


def _gains(values: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """How much better each further way is than the first; the same questions are drawn for both."""
    first, *others = values or [""]
    return {
        way: estimate([b - a for a, b in zip(values[first], values[way], strict=True)])
        for way in others
    }
