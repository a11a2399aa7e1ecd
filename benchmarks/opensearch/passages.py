"""Synthetic passages and questions that are the same in every run."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from benchmarks.our_store import metadata_of
from benchmarks.texts import zipf
from domain import Filter
from storage.vectors.new_rows import NewRows, new_rows

Vectors = npt.NDArray[np.float32]

DIMENSION = 384
BATCH = 2_000
WORDS, QUESTION_WORDS = 60, 8
CENTERS, PER_CENTER, NOISE = 2_000, 50, 0.7
_CENTERS_SEED, _QUESTIONS_SEED = 1_000_000, 1_000_001  # those of the batches are their numbers

EVERYTHING = ""
FILTERS: dict[str, Filter | None] = {
    EVERYTHING: None,
    "1 %": {"group": 7},
    "10 %": {"group": {"$in": list(range(0, 100, 10))}},
}
"""By the share of the passages that match; see `metadata_of`."""
_MATCHING = {EVERYTHING: slice(None), "1 %": slice(7, None, 100), "10 %": slice(0, None, 10)}
"""The rows of these passages."""
_AT_ONCE = 50_000


@dataclass(frozen=True)
class Question:
    """A question's words, and a vector from the distribution of the passages."""

    text: str
    vector: list[float]


@dataclass(frozen=True)
class Passages:
    """Words with a Zipf distribution, and unit vectors around random centers."""

    size: int

    @property
    def centers(self) -> int:
        """Enough passages belong to each that the nearest 20 are among them."""
        return max(1, min(CENTERS, self.size // PER_CENTER))

    def batches(self) -> Iterator[NewRows]:
        """All passages in order; the id of each is its row."""
        for number, start in enumerate(range(0, self.size, BATCH)):
            rows = range(start, min(start + BATCH, self.size))
            texts, vectors = (
                zipf(len(rows), WORDS, seed=number),
                near_centers(len(rows), self.centers, number),
            )
            yield new_rows([*map(str, rows)], texts, vectors, [*map(metadata_of, rows)])

    def questions(self, count: int) -> list[Question]:
        """Questions that equal no passage."""
        texts = zipf(count, QUESTION_WORDS, seed=_QUESTIONS_SEED)
        vectors = near_centers(count, self.centers, _QUESTIONS_SEED).tolist()
        return [Question(*each) for each in zip(texts, vectors, strict=True)]


def near_centers(count: int, centers: int, seed: int) -> Vectors:
    """Unit vectors with noise around centers that are the same for every seed."""
    rng = np.random.default_rng(seed)
    shape = (centers, DIMENSION)
    places = np.random.default_rng(_CENTERS_SEED).standard_normal(shape, dtype=np.float32)
    vectors = places[rng.integers(centers, size=count)]
    vectors += NOISE * rng.standard_normal(vectors.shape, dtype=np.float32)
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def nearest(vectors: Vectors, questions: list[Question], k: int) -> dict[str, list[list[str]]]:
    """The ids of the `k` nearest passages by filter and question, by exact products."""
    queries = np.array([question.vector for question in questions], np.float32)
    rows = np.arange(len(vectors))
    return {
        name: _nearest_of(vectors, rows[which], queries, k) for name, which in _MATCHING.items()
    }


def _nearest_of(
    vectors: Vectors, rows: npt.NDArray[np.int64], queries: Vectors, k: int
) -> list[list[str]]:
    """In parts, because the vectors may be in a file, and all products would take gigabytes."""
    parts = [rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE)]
    found = [_best(queries @ vectors[part].T, part, k) for part in parts]
    scores, candidates = (np.concatenate(each, axis=1) for each in zip(*found, strict=True))
    best = np.take_along_axis(candidates, np.argsort(-scores, axis=1)[:, :k], axis=1)
    return [[str(row) for row in each] for each in best.tolist()]


def _best(
    scores: Vectors, rows: npt.NDArray[np.int64], k: int
) -> tuple[Vectors, npt.NDArray[np.int64]]:
    """The `k` highest scores of each question, unordered, and their rows."""
    places = np.argpartition(-scores, min(k, len(rows)) - 1, axis=1)[:, :k]
    return np.take_along_axis(scores, places, axis=1), rows[places]
