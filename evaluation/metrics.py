"""The figures: nDCG and recall of a ranking, and whether a sentence holds an answer."""

from collections.abc import Mapping, Sequence
from math import log2

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


def holds_answer(sentence: str, answers: Sequence[str]) -> bool:
    """Whether one of the reference answers stands in the sentence, white space and form aside."""
    text = _compact(sentence)
    return any(_compact(answer) in text for answer in answers if _compact(answer))


def _dcg(grades: Sequence[int]) -> float:
    return sum(grade / log2(1 + rank) for rank, grade in enumerate(grades, start=1))


def _compact(text: str) -> str:
    return "".join(fold(text).split())
