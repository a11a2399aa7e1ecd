"""The distance metrics by which vector stores can rank passages."""

import math
from enum import StrEnum


class DistanceMetric(StrEnum):
    """How a store compares vectors, and thus what the scores of its passages are."""

    COSINE = "cosine"
    """Scores are cosines from -1 to 1; the larger, the nearer."""
    EUCLIDEAN = "euclidean"
    """Scores are distances from 0; the smaller, the nearer."""
    INNER_PRODUCT = "inner_product"
    """Scores are inner products; the larger, the nearer."""

    @classmethod
    def _missing_(cls, value: object) -> None:
        raise ValueError(f"distance_metric must be one of {', '.join(cls)}, got {value!r}")


def relevance(metric: DistanceMetric, score: float) -> float:
    """The score as relevance from 0 to 1, as LangChain defines it for vectors of length 1.

    LangChain defines it as 1 - distance, which for cosine distance is the cosine. Clipping keeps it
    in [0, 1] without changing the meaning of `score_threshold`.
    """
    if metric is DistanceMetric.EUCLIDEAN:
        return max(0.0, 1 - score / math.sqrt(2))
    return min(1.0, max(0.0, score))
