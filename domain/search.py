"""How the library is searched, and why a passage was found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

Filter = Mapping[str, Any]
"""Conditions on passage metadata, all of which must hold.

`{"format": "pdf"}` is equality, `{"format": {"$in": ["pdf", "docx"]}}` membership (and `$nin` its
opposite), `{"page": {"$gte": 2, "$lt": 9}}` a range; `{"labels": {"$contains": "hr"}}` and
`{"labels": {"$contains_any": ["hr", "law"]}}` look into a list. A passage without the field never
matches, `$nin` neither. Storage also takes `{"$or": [...]}`, alone: filters, any of which will do.
"""
FILTER_FIELDS: Mapping[str, str] = {
    "source_id": "id of the source",
    "collection": "what the source is filed under: its name, unless it says otherwise",
    "document_id": "id of the document",
    "key": "the document's name within its source, such as a relative path",
    "title": "title of the document",
    "format": "its format, such as pdf or md",
    "labels": "list of labels, those of the source and the document's own",
    "modified_at": "when the document was last changed, as 2026-11-21T10:00:00Z",
    "page": "page number from 1; only in formats with pages",
    "script": "the writing most of the passage is in",
}
"""The fields of passages that filters may name, and what they hold."""


class SearchMode(StrEnum):
    """The ways to search; `convex` is the default."""

    SIMILARITY = "similarity"
    SIMILARITY_SCORE_THRESHOLD = "similarity_score_threshold"
    MMR = "mmr"
    BM25 = "bm25"
    ENSEMBLE = "ensemble"
    CONVEX = "convex"


COMPARED_MODES = (SearchMode.SIMILARITY, SearchMode.BM25, SearchMode.ENSEMBLE, SearchMode.CONVEX)
"""The modes set side by side where none are named: either list alone, and both fusions."""


class Normalisation(StrEnum):
    """How the scores of a list are scaled before they are added to another list's."""

    MIN_MAX = "min-max"
    Z_SCORE = "z-score"


class ScorePart(NamedTuple):
    """What one ranked list gave a passage that was found.

    `rank` counts from 1 and `score` is the list's own; both are None where the list does not
    hold the passage. The shares of all lists add up to the passage's score.
    """

    ranker: str
    rank: int | None
    score: float | None
    share: float


class Move(NamedTuple):
    """What a reranker did with a passage: its score, and its rank before and after, from 1.

    Where it did nothing, `skipped` tells a person why and the rest is None.
    """

    score: float | None = None
    rank_before: int | None = None
    rank: int | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a passage was found: the shares of its parts add up to its score.

    `matched_words` are those of the title, the headings and the text that share a search token
    with the question; `condition` is the filter that held; `move` is None without a reranker.
    """

    score: float
    parts: tuple[ScorePart, ...]
    matched_words: tuple[str, ...] = ()
    move: Move | None = None
    condition: Filter = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """What to search in. What is left empty narrows nothing; of several values any one will do.

    `sources` are ids, names or locations; `formats` are names of formats such as pdf. `since`
    and `until` are days (2026-11-21, both included) or moments (2026-11-21T10:00, in UTC where
    no zone is given) of the documents' last change.
    """

    sources: Sequence[str] = ()
    collections: Sequence[str] = ()
    formats: Sequence[str] = ()
    labels: Sequence[str] = ()
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """How one question, or all of a conversation, is searched; None is what the settings say.

    `k` is the number of passages put before the answerer, `score_threshold` the least relevance
    in mode similarity_score_threshold, between 0 and 1. `by_agent` lets an agent search, in as
    many steps as it wants, in place of one search for the standalone question.
    """

    scope: Scope = field(default_factory=Scope)
    mode: SearchMode | None = None
    k: int | None = None
    score_threshold: float | None = None
    by_agent: bool = False

    def filled_in(self, default: "SearchChoice") -> "SearchChoice":
        """The choice with the default's mode, k and threshold for what it leaves open.

        Only in mode similarity_score_threshold is there a threshold; in any other it is None.
        """
        mode = self.mode or default.mode
        k = default.k if self.k is None else self.k
        threshold = None
        if mode is SearchMode.SIMILARITY_SCORE_THRESHOLD:
            told = self.score_threshold
            threshold = default.score_threshold if told is None else told
        return replace(self, mode=mode, k=k, score_threshold=threshold)
