"""Metrics of rankings and answers, and their confidence intervals."""

from collections.abc import Mapping, Sequence
from math import log2
from typing import NamedTuple

from domain.language.script import fold

Figures = dict[str, str | int | float]
"""A row of a table of figures, by column."""


def ndcg(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Normalized discounted cumulative gain of the first `k` items, from 0 to 1.

    The gain is the judged relevance and the discount is log2(1 + rank), as in trec_eval (Järvelin
    and Kekäläinen, TOIS 2002). If nothing is relevant, the result is 0.
    """
    ideal = _dcg(sorted(relevance.values(), reverse=True)[:k])
    return _dcg([relevance.get(item, 0) for item in ranking[:k]]) / ideal if ideal else 0.0


def recall(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """The share of the relevant items that are among the first `k`; 0 if nothing is relevant."""
    relevant = {item for item, grade in relevance.items() if grade > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """1 / rank of the first relevant item; 0 if none is among the first `k`.

    Its mean over questions is the MRR (Voorhees, TREC-8 1999).
    """
    ranks = (rank for rank, item in enumerate(ranking[:k], 1) if relevance.get(item, 0) > 0)
    return next((1 / rank for rank in ranks), 0.0)


class Estimate(NamedTuple):
    """A mean over questions with its confidence interval; nearly always, `low <= mean <= high`."""

    mean: float
    low: float
    high: float

    def columns(self, name: str) -> Figures:
        """The mean as a column of this name, and the interval as `..._low` and `..._high`."""
        return {name: self.mean, f"{name}_low": self.low, f"{name}_high": self.high}


INTERVAL = (0.025, 0.975)
"""The quantiles that bound the 95% confidence intervals."""
RESAMPLES = 2000


def estimate(values: Sequence[float], *, resamples: int = RESAMPLES) -> Estimate:
    """Compute the mean and its bootstrap interval; the same arguments give the same result.

    This is Efron's percentile interval: the questions are resampled with replacement `resamples`
    times, and the bounds are the quantiles `INTERVAL` of the means (Efron,
    Annals of Statistics 7, 1979; Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 13). It shows how much the mean would vary with other questions of the same kind. The
    interval is too narrow for few values, and its width is 0 if all values are equal.

    Raises:
        ValueError: There are no values.
    """
    import numpy as np

    if not values:
        raise ValueError("there are no values to estimate a mean from")
    sample, draw = np.asarray(values, dtype=float), np.random.default_rng(0)
    means = [draw.choice(sample, len(sample)).mean() for _ in range(resamples)]
    low, high = np.quantile(means, INTERVAL)
    return Estimate(float(sample.mean()), float(low), float(high))


def holds_answer(sentence: str, answers: Sequence[str]) -> bool:
    """Whether the sentence contains a reference answer, after folding and without whitespace."""
    text = _compact(sentence)
    return any(_compact(answer) in text for answer in answers if _compact(answer))


def _dcg(grades: Sequence[int]) -> float:
    return sum(grade / log2(1 + rank) for rank, grade in enumerate(grades, start=1))


def _compact(text: str) -> str:
    return "".join(fold(text).split())
