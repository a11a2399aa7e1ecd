"""A passage found, with what each ranked list gave it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from domain import ScorePart

Scored = tuple[str, float]


class Hit(NamedTuple):
    """A passage's id and score; the shares of its parts add up to the score."""

    id: str
    score: float
    parts: tuple[ScorePart, ...]


def hits_of(ranker: str, scored: Iterable[Scored]) -> list[Hit]:
    """The hits of one list, best first: each has the whole of its score from there."""
    return [
        Hit(item, score, (ScorePart(ranker, rank, score, score),))
        for rank, (item, score) in enumerate(scored, start=1)
    ]


def scored(hits: Sequence[Hit]) -> list[Scored]:
    """The hits without their parts, as fusion takes them."""
    return [(hit.id, hit.score) for hit in hits]
