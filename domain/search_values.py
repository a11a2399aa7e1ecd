"""Search options, and explanations of why passages were found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, NamedTuple

Filter = Mapping[str, Any]
"""Conditions on passage metadata, all of which must hold.

`{"format": "pdf"}` tests equality, like `{"format": {"$eq": "pdf"}}` (`$ne` is its opposite),
`{"format": {"$in": ["pdf", "docx"]}}` membership (`$nin` is its opposite), and
`{"page": {"$gte": 2, "$lt": 9}}` a range. `{"labels": {"$contains": "hr"}}` and
`{"labels": {"$contains_any": ["hr", "law"]}}` test the elements of a list. A passage without the
field matches none of these, not even `$ne` and `$nin`; `{"page": {"$exists": True}}` tests for it.

`{"$and": [...]}` and `{"$or": [...]}` combine filters, and `{"$not": {...}}` matches what its
filter does not match; `{"page": {"$not": {"$gt": 9}}}` does so for one field. Dates and values of
numpy are compared as they are stored (see `storage.filters`). Every store rejects anything
else, such as a function, with ValueError.
"""
FILTER_FIELDS: Mapping[str, str] = {
    "source_id": "id of the source",
    "collection": "collection of the source; by default, the source's name",
    "document_id": "id of the document",
    "key": "key of the document within its source, such as a relative path",
    "title": "title of the document",
    "format": "format of the document, such as pdf or md",
    "labels": "labels of the source and of the document",
    "modified_at": "when the document was last modified, such as 2026-11-21T10:00:00Z",
    "page": "page number from 1; only in formats with pages",
    "script": "script of most of the passage",
}
"""The fields of passages that filters may use, with their descriptions."""


class SearchMode(StrEnum):
    """The search modes; `convex` is the default."""

    SIMILARITY = "similarity"
    SIMILARITY_SCORE_THRESHOLD = "similarity_score_threshold"
    MMR = "mmr"
    BM25 = "bm25"
    ENSEMBLE = "ensemble"
    CONVEX = "convex"


COMPARED_MODES = (SearchMode.SIMILARITY, SearchMode.BM25, SearchMode.ENSEMBLE, SearchMode.CONVEX)
"""The modes compared by default: each ranked list alone, and both fusions."""


class Normalization(StrEnum):
    """How the scores of a list are scaled before fusion."""

    MIN_MAX = "min-max"
    Z_SCORE = "z-score"


class ScorePart(NamedTuple):
    """The contribution of one ranked list to a passage's score.

    `rank` counts from 1 and `score` is the list's own; both are None if the list does not contain
    the passage. The shares of all lists add up to the passage's score.
    """

    ranker: str
    rank: int | None
    score: float | None
    share: float


class Move(NamedTuple):
    """The effect of a reranker on a passage: its score, and its rank before and after, from 1.

    If it was not reranked, `skipped` says why, and the other fields are None.
    """

    score: float | None = None
    rank_before: int | None = None
    rank: int | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a passage was found; the shares of its parts add up to its score.

    `matched_words` are words of the title, headings, and text that share a token with the
    question; `condition` is the filter that applied; `move` is None without a reranker.
    """

    score: float
    parts: tuple[ScorePart, ...]
    matched_words: tuple[str, ...] = ()
    move: Move | None = None
    condition: Filter = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scope:
    """Restricts a search. Empty fields don't restrict it; of several values, any may match.

    `sources` are ids, names, or locations; `formats` are names of formats such as pdf. `since`
    and `until` bound the documents' last change: days (2026-11-21, both inclusive) or times
    (2026-11-21T10:00, in UTC unless a zone is given).
    """

    sources: Sequence[str] = ()
    collections: Sequence[str] = ()
    formats: Sequence[str] = ()
    labels: Sequence[str] = ()
    since: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class SearchChoice:
    """Search options of a question or a conversation; None means the default of the settings.

    `k` is the number of retrieved passages, `score_threshold` the minimum relevance (0 to 1) in
    mode similarity_score_threshold. With `by_agent`, an agent searches in several steps instead of
    searching once for the standalone question.
    """

    scope: Scope = field(default_factory=Scope)
    mode: SearchMode | None = None
    k: int | None = None
    score_threshold: float | None = None
    by_agent: bool = False

    def with_defaults(self, default: "SearchChoice") -> "SearchChoice":
        """The choice with a missing mode, k, or threshold taken from the default.

        The threshold is None except in mode similarity_score_threshold.
        """
        mode = self.mode or default.mode
        k = default.k if self.k is None else self.k
        threshold = None
        if mode is SearchMode.SIMILARITY_SCORE_THRESHOLD:
            threshold = self.score_threshold
            threshold = default.score_threshold if threshold is None else threshold
        return replace(self, mode=mode, k=k, score_threshold=threshold)
