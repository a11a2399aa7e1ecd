"""Measures several ways of searching a catalog with labeled questions: figures by language."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from domain import CatalogFilters, CatalogQuery, FilterValue, Principal, any_of, values_of
from domain.errors import InputError
from domain.messages import _
from services.catalog.catalogs import Catalog
from services.catalog.place_scores import PartWeights
from services.catalog.preferences import mentioned_weights
from services.evaluation.metrics import INTERVAL, RESAMPLES, Estimate, Figures, estimate, ndcg

if TYPE_CHECKING:
    from services.catalog.catalog_service import CatalogService
    from services.catalog.place_search import SearchEngine


DESIRED, HEDGED, INDIFFERENT = "wanted", "hedged", "indifferent"
BUCKETS = (DESIRED, HEDGED, INDIFFERENT)
"""How important an aspect is to a question that mentions it."""
DESIRED_FROM, HEDGED_FROM = 0.75, 0.4


def bucket(weight: float) -> str:
    """The bucket of a weight: wanted if at least 0.75, hedged if at least 0.4, else indifferent."""
    if weight >= DESIRED_FROM:
        return DESIRED
    return HEDGED if weight >= HEDGED_FROM else INDIFFERENT


def filters_right(
    expected: CatalogFilters, actual: CatalogFilters, fields: Sequence[str]
) -> list[bool]:
    """Whether each filter was understood exactly: `fields` in order, types, minimum rating.

    Types and multiple values of a field are compared as sets. A filter that the question does not
    contain is right if it is not set.
    """
    matches = [_values(expected, name) == _values(actual, name) for name in fields]
    types = set(expected.desired_types or ()) == set(actual.desired_types or ())
    return [*matches, types, expected.min_rating == actual.min_rating]


def _values(filters: CatalogFilters, field: str) -> set[str]:
    return set(values_of(filters.fields.get(field, ())))


class AspectCount(NamedTuple):
    """The number of aspects that a question mentions, that were found, and that are right."""

    right: int
    mentioned: int
    understood: int


def count_aspects(expected: Mapping[str, str], actual: Mapping[str, float | None]) -> AspectCount:
    """Count the aspects; an aspect is right if it was assigned the expected bucket.

    `expected` has the bucket of each aspect that the question mentions. `actual` has the weight of
    every aspect, None if the analysis found no mention.
    """
    buckets = {name: bucket(weight) for name, weight in actual.items() if weight is not None}
    right = sum(buckets.get(name) == how for name, how in expected.items())
    return AspectCount(right, len(expected), len(buckets))


def grades(acceptable: Sequence[str]) -> dict[str, int]:
    """The gains of the acceptable places, which are best first: 5, 4, and so on, at least 1."""
    return {place: max(5 - rank, 1) for rank, place in enumerate(acceptable)}


def estimate_ratio(parts: Sequence[tuple[float, float]], *, resamples: int = RESAMPLES) -> Estimate:
    """Divide the sum of all numerators by that of all denominators, with a bootstrap interval.

    Each pair belongs to one question, such as its number of right aspects and of mentioned aspects.
    Whole questions are resampled, because the aspects of one question are not independent.
    Otherwise, this is the percentile interval of `metrics.estimate`, and just as reproducible.
    Resamples whose denominators sum to 0 are discarded.

    Raises:
        ValueError: The denominators sum to 0.
    """
    import numpy as np

    pairs = np.asarray(parts, dtype=float).reshape(-1, 2)
    above, below = pairs.sum(axis=0)
    if not below:
        raise ValueError("there is nothing to have a share of")
    draw = np.random.default_rng(0).integers(len(pairs), size=(resamples, len(pairs)))
    sums = pairs[draw].sum(axis=1)
    some = sums[sums[:, 1] > 0]
    low, high = np.quantile(some[:, 0] / some[:, 1], INTERVAL)
    return Estimate(float(above / below), float(low), float(high))


@dataclass(frozen=True, slots=True)
class CatalogQuestion:
    """A question as people ask it, and its meaning.

    `aspects` maps each aspect that it mentions to a bucket (wanted, hedged, or indifferent).
    `unwanted` lists the types and field values that it rejects, and `acceptable` the ids of the
    places that answer it, best first.
    """

    id: str
    language: str
    text: str
    filters: CatalogFilters
    aspects: Mapping[str, str] = field(default_factory=dict)
    unwanted: tuple[str, ...] = ()
    acceptable: tuple[str, ...] = ()


def load_catalog_questions(path: Path) -> list[CatalogQuestion]:
    """Load the labeled questions from a JSON Lines file, in order.

    Each line has these fields:

    - `id`, `language`, and `question`;
    - `filters`: `desired_types`, `min_rating`, and the catalog's fields, each with a value, a list
      of alternative values, or null if the question does not mention it;
    - `aspect_weights`: wanted, hedged, or indifferent for each aspect that the question mentions;
    - `unwanted` (optional) and `acceptable`, as in `CatalogQuestion`.

    Raises:
        InputError: The file can't be read, contains no questions, or has an invalid line, which
            the message names.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(
            _("{path} can't be read as labeled questions: {error}").format(path=path, error=error)
        ) from error
    questions = [_read(path, number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not questions:
        raise InputError(
            _("{path} contains no questions: write one JSON object per line.").format(path=path)
        )
    return questions


def _read(path: Path, number: int, line: str) -> CatalogQuestion:
    try:
        return _question(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            _("{path}, line {number}, is not a labeled question: {error}").format(
                path=path, number=number, error=repr(error)
            )
        ) from error


def _question(row: dict[str, Any]) -> CatalogQuestion:
    filters = dict(row["filters"])
    types, least = filters.pop("desired_types"), filters.pop("min_rating")
    aspects = dict(row["aspect_weights"])
    for name, how in aspects.items():
        if how not in BUCKETS:
            raise ValueError(f"aspect_weights.{name} is {how!r}, not one of {', '.join(BUCKETS)}")
    return CatalogQuestion(
        id=row["id"],
        language=row["language"],
        text=row["question"],
        filters=CatalogFilters(
            fields={
                name: _filter_value(value) for name, value in filters.items() if value is not None
            },
            desired_types=None if types is None else tuple(types),
            min_rating=least,
        ),
        aspects=aspects,
        unwanted=tuple(row.get("unwanted", ())),
        acceptable=tuple(row["acceptable"]),
    )


def _filter_value(value: str | list[str]) -> FilterValue:
    return any_of([value] if isinstance(value, str) else value)


ALL = "all"
"""The `language` of the row for the questions in all languages."""
DEPTH = 10
"""Places below this rank do not count."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question, its analysis, and the ids of the places that each way of searching found."""

    question: CatalogQuestion
    understood: CatalogQuery
    rankings: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class LanguageFigures:
    """The figures for the questions in one language, with 95% intervals.

    All are from 0 to 1, except `gains`. `filters` is the share of filters understood exactly.
    `aspects_found` is the share of the mentioned aspects that were understood correctly (recall),
    `aspects_right` that of the aspects found (precision); they are None if there are no such
    aspects. `ndcg` has the nDCG@10 of each way of searching, over the questions with an acceptable
    place. `gains` is the mean difference from the first way, question by question, from -1 to 1.
    """

    language: str
    questions: int
    filters: Estimate
    aspects_found: Estimate | None
    aspects_right: Estimate | None
    ndcg: Mapping[str, Estimate]
    gains: Mapping[str, Estimate]

    def as_row(self) -> Figures:
        """A flat table row: each figure, followed by its interval as `..._low` and `..._high`."""
        row: Figures = {"language": self.language, "questions": self.questions}
        for name, figure in self._named():
            row |= figure.columns(name)
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
    """A row for each language, in the order of the questions, then a row for all questions.

    `fields` are the names of the catalog's filters, which count in addition to types and minimum
    rating.
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
    values: dict[str, list[float]] = {}
    for one in outcomes:
        gains = grades(one.question.acceptable)
        for way, ranking in one.rankings.items():
            values.setdefault(way, []).append(ndcg(ranking, gains, DEPTH))
    return values


def _gains(values: Mapping[str, Sequence[float]]) -> dict[str, Estimate]:
    """The gain of each other way over the first, from paired differences per question."""
    first, *others = values or [""]
    return {
        way: estimate([b - a for a, b in zip(values[first], values[way], strict=True)])
        for way in others
    }


HYBRID, FILTERED, FULL = "hybrid", "filtered", "full"
ASPECTS, CROSS_ENCODED = "aspects", "cross_encoded"
"""The ways of searching that are compared; see `CatalogEvaluation`."""
_HYBRID_ALONE = PartWeights(confidence=0, type=0, cross_encoder=0, aspects=0)

Analyze = Callable[[str], CatalogQuery]


@dataclass(frozen=True)
class CatalogEvaluation:
    """Searches one catalog for labeled questions, without personal preferences.

    Each question is searched in these ways:

    - hybrid: the question as typed, by words and vectors only;
    - filtered: the same, among the places that match the filters found in the question;
    - full: the English wording, filters, types, and confidence, without a cross-encoder;
    - aspects: full plus the praise of reviewers, the fallback if no cross-encoder is set;
    - cross_encoded: full plus the cross-encoder, only if one is set.
    """

    catalog: Catalog
    engine: "SearchEngine"
    analyze: Analyze

    def measure(self, file: Path) -> list[LanguageFigures]:
        """Compute the figures for each language in the file of questions, then for all questions.

        Raises:
            InputError: The file can't be read as labeled questions.
            StorageError, ModelError: The index can't be read, or a model fails.
        """
        fields = [one.name for one in self.catalog.description.filters]
        return figures_by_language(self.outcomes(load_catalog_questions(file)), fields)

    def outcomes(self, questions: Sequence[CatalogQuestion]) -> list[Outcome]:
        """Analyze and search each question; returns the outcomes in the same order."""
        return [self._outcome(question) for question in questions]

    def _outcome(self, question: CatalogQuestion) -> Outcome:
        query = self.analyze(question.text)
        plain = CatalogQuery(question.text, query_en="")
        filtered = replace(plain, filters=query.filters)
        weights = self.engine.options.weights
        hybrid, full = self._alone(_HYBRID_ALONE), self._alone(weights._replace(aspects=0))
        rankings = {
            HYBRID: self._search(hybrid, plain),
            FILTERED: self._search(hybrid, filtered),
            FULL: self._search(full, query),
            ASPECTS: self._search(self._alone(weights), query),
        }
        if self.engine.reranking is not None:
            rankings[CROSS_ENCODED] = self._search(self.engine, query)
        return Outcome(question, query, rankings)

    def _alone(self, weights: PartWeights) -> "SearchEngine":
        """The engine with these weights and without a cross-encoder."""
        options = replace(self.engine.options, weights=weights)
        return replace(self.engine, options=options, reranking=None)

    def _search(self, engine: "SearchEngine", query: CatalogQuery) -> list[str]:
        description = self.catalog.description
        weights = mentioned_weights(query.aspect_weights, {}, description.aspect_names)
        results = engine.search(self.catalog.id, description.rating_scale, query, weights)
        return [one.place.place_id for one in results.places]


def evaluation_of(
    service: "CatalogService", principal: Principal, catalog: str = ""
) -> CatalogEvaluation:
    """Create the evaluation of the catalog with that id or name, with the configured models.

    Raises:
        ConflictError: There is no such catalog, or several match.
    """
    source = service.find(principal, catalog)
    return CatalogEvaluation(source, service.engine, partial(service.analyze, source))
