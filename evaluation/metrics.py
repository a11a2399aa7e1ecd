"""The figures: nDCG, recall and reciprocal rank, how sure they are, whether an answer is held."""

from collections.abc import Mapping, Sequence
from math import log2
from typing import NamedTuple

from language.normalise import fold


def ndcg(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Normalised discounted cumulative gain of the first `k`, in [0, 1].

    Gain is the judged relevance itself, the discount log2(1 + rank), as trec_eval computes
    it (Järvelin and Kekäläinen, TOIS 2002). 0 where nothing is relevant.
    """
    ideal = _dcg(sorted(relevance.values(), reverse=True)[:k])
    return _dcg([relevance.get(item, 0) for item in ranking[:k]]) / ideal if ideal else 0.0


def recall(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """The share of relevant items among the first `k`; 0 where nothing is relevant."""
    relevant = {item for item, grade in relevance.items() if grade > 0}
    return len(relevant.intersection(ranking[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """1 over the rank of the first relevant item, in [0, 1]; 0 where none is among the first `k`.

    Its mean over questions is the MRR (Voorhees, TREC-8 1999).
    """
    ranks = (rank for rank, item in enumerate(ranking[:k], 1) if relevance.get(item, 0) > 0)
    return next((1 / rank for rank in ranks), 0.0)


class Estimate(NamedTuple):
    """A mean over questions with its confidence interval: `low <= mean <= high`, nearly always."""

    mean: float
    low: float
    high: float


def estimate(
    values: Sequence[float], *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> Estimate:
    """The mean with its bootstrap interval, the same at each call.

    Efron's percentile interval: the questions are drawn with replacement `resamples` times, and
    the interval runs between the quantiles (1 - level) / 2 and (1 + level) / 2 of the means
    (Efron, Annals of Statistics 7, 1979; Efron and Tibshirani, An Introduction to the Bootstrap,
    1993, chapter 13). It says how much other questions of the same kind would move the figure.
    With few values it is too narrow; where all are equal it has no width.

    Raises:
        ValueError: There are no values.
    """
    import numpy as np

    if not values:
        raise ValueError("there are no values to estimate a mean from")
    known, draw = np.asarray(values, dtype=float), np.random.default_rng(seed)
    means = [draw.choice(known, len(known)).mean() for _ in range(resamples)]
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(known.mean()), float(low), float(high))


def holds_answer(sentence: str, answers: Sequence[str]) -> bool:
    """Whether one of the reference answers stands in the sentence, white space and form aside."""
    text = _compact(sentence)
    return any(_compact(answer) in text for answer in answers if _compact(answer))


def _dcg(grades: Sequence[int]) -> float:
    return sum(grade / log2(1 + rank) for rank, grade in enumerate(grades, start=1))


def _compact(text: str) -> str:
    return "".join(fold(text).split())
