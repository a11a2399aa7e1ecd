"""The words of Footnote as values: who asks, what was found, what was proven."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from itertools import takewhile
from typing import Any, NamedTuple

Metadata = dict[str, Any]
Filter = Mapping[str, Any]
"""Conditions on passage metadata, all of which must hold.

`{"format": "pdf"}` is equality, `{"format": {"$in": ["pdf", "docx"]}}` membership and
`{"page": {"$gte": 2, "$lt": 9}}` a range; `{"labels": {"$contains": "hr"}}` and
`{"labels": {"$contains_any": ["hr", "law"]}}` look into a list. A passage without the field never
matches.
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


@dataclass(frozen=True, slots=True)
class Principal:
    """Who is asking. Conversations belong to a user; filters may name the groups."""

    user_id: str
    groups: frozenset[str] = frozenset()


LOCAL_USER = Principal("local")

EXTRACTIVE = "built-in extractive answerer"
"""What answers are signed with where no chat model is set."""


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
class DocumentRef:
    """A document as its source lists it, before it is read.

    `key` names it within its source for ever (a relative path in NFC, a page id); `version`
    changes whenever its content does; `location` is what a person opens (a path or a URL).
    """

    key: str
    version: str
    location: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something a source could not list, with the reason.

    Documents imported earlier whose key is `key`, or starts with it where it ends in "/",
    are kept: not being able to look is not the same as being gone.
    """

    key: str
    location: str
    reason: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document: `document_text[start:end] == text`, always.

    `page` counts from 1 and is None where the format has no pages.
    """

    id: str
    document_id: str
    ordinal: int
    start: int
    end: int
    text: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None


def shared_headings(paths: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """The headings, from the topmost, that all of these heading paths begin with."""
    levels = zip(*paths, strict=False)
    return tuple(level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels))


class CitationState(StrEnum):
    """What checking a citation against the stored document found."""

    VERIFIED = "verified"
    NOT_FOUND = "not found"
    NO_SUCH_SOURCE = "no such source"


@dataclass(frozen=True, slots=True)
class Citation:
    """A numbered pointer from an answer to a passage, and what became of checking it.

    It holds its own evidence, so that it still shows when the document changes or goes.
    `start` and `end` are the quote's span in the document's text as it was then, -1 where
    the quote was not found. `quoted_by_answer` is False where the answer gave only the
    number and the program looked for the supporting sentence itself.
    """

    n: int
    state: CitationState
    quote: str
    title: str = ""
    location: str = ""
    document_id: str = ""
    passage_id: str = ""
    version: str = ""
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    start: int = -1
    end: int = -1
    passage_text: str = ""
    quoted_by_answer: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered passage that was put before the answerer; numbers count from 1.

    `start` is where it begins in the document's text, as the spans of citations count; `why` it
    was found is None for turns of old and for retrievers that don't tell.
    """

    n: int
    passage_id: str
    document_id: str
    title: str
    location: str
    text: str
    version: str = ""
    page: int | None = None
    heading_path: tuple[str, ...] = ()
    score: float | None = None
    start: int = 0
    why: Explanation | None = None


class TurnState(StrEnum):
    """How a turn ended. `running` is also what a killed process leaves behind."""

    RUNNING = "running"
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and what became of it, with everything needed to show it again."""

    id: str
    conversation_id: str
    question: str
    state: TurnState
    created_at: datetime
    standalone_question: str = ""
    answer: str = ""
    error: str = ""
    model: str = ""
    sources: tuple[Source, ...] = ()
    citations: tuple[Citation, ...] = ()
    unsupported_sentences: int = 0
    timings_ms: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A thread of turns, owned by one user."""

    id: str
    user_id: str
    title: str
    created_at: datetime
    updated_at: datetime


class Outcome(StrEnum):
    """What an import did with one document."""

    NEW = "new"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    GONE = "gone"
    KEPT = "kept"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImportItem:
    """One document of an import and its outcome; `reason` says why where it failed."""

    key: str
    location: str
    outcome: Outcome
    reason: str = ""
    passages: int = 0


class ImportState(StrEnum):
    """How an import stands."""

    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed with errors"
    NEEDS_CONFIRMATION = "needs confirmation"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What one import did, item by item."""

    id: str
    source_id: str
    state: ImportState
    items: tuple[ImportItem, ...] = ()
    passages_embedded: int = 0
    seconds: float = 0.0
    message: str = ""

    def count(self, outcome: Outcome) -> int:
        """The number of items with that outcome."""
        return sum(item.outcome is outcome for item in self.items)
