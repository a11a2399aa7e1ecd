"""Searches, as callers ask for them, and what is found."""

from typing import Annotated

from pydantic import Field, StrictBool

from api.schemas.answers import MODE, THRESHOLD, Explanation, Given, GivenScope, Told
from api.schemas.filters import GivenFilter
from api.schemas.numbers import NUMBER
from api.schemas.texts import Question
from domain import COMPARED_MODES, Filter, SearchMode
from services.questions import MAX_K

Query = Annotated[
    Question,
    Field(description="What to search for", examples=["How many days of annual leave?"]),
]
Passages = Annotated[
    int,
    Field(ge=1, le=MAX_K, description="How many passages at most", examples=[5]),
    NUMBER,
]
Modes = Annotated[
    Annotated[list[SearchMode], Field(min_length=1, max_length=20)] | None,
    Field(
        description="The search modes, one that is named twice counts once; null for "
        + ", ".join(COMPARED_MODES),
        examples=[["bm25", "convex"]],
    ),
]


class Narrowed(Given):
    """What to search, and in what."""

    query: Query
    scope: Annotated[GivenScope, Field(description="What to search in, by name")] = GivenScope()
    filter: Annotated[
        GivenFilter,
        Field(
            description="Further conditions; not on a field that the scope narrows",
            examples=[{"page": {"$gte": 2, "$lt": 9}, "script": "latin"}],
        ),
    ] = GivenFilter()

    def condition(self) -> Filter:
        """The conditions of the filter."""
        return {name: told for name, told in self.filter.items() if told != {}}


class GivenQuery(Narrowed):
    """A search; what is left out or null is as the settings say."""

    mode: Annotated[SearchMode | None, MODE] = None
    k: Passages = 5
    score_threshold: Annotated[float | None, THRESHOLD, Field(ge=0, le=1, strict=True)] = None
    rerank: Annotated[
        StrictBool | None,
        Field(
            description="Whether the reranker that is set orders what is found; null: if one is set"
        ),
    ] = None
    explain: Annotated[
        StrictBool, Field(description="Whether to tell why each passage was found")
    ] = False


class GivenComparison(Narrowed):
    """One search in several modes."""

    modes: Modes = None
    k: Passages = 5
    rerank: Annotated[StrictBool, Field(description="Whether what each mode finds is reranked")] = (
        False
    )


class SearchHit(Told):
    """A passage that was found."""

    passage_id: str = Field(description="Id of the passage", examples=["8d0c:3"])
    document_id: str = Field(description="Id of its document", examples=["8d0c"])
    source_id: str = Field(
        description="Id of the source that the document is from",
        examples=["7c9e6679742540de944be07fc1f90ae7"],
    )
    key: str = Field(description="The document's name within its source", examples=["leave.md"])
    title: str = Field(description="Title of the document", examples=["Leave policy"])
    location: str = Field(
        description="Where the document is: a path or an address", examples=["handbook/leave.md"]
    )
    format: str = Field(description="The document's format", examples=["md"])
    version: str = Field(
        description="The version of the document that was indexed: it changes with its content",
        examples=["3f8a1c"],
    )
    collection: str = Field(description="What its source is filed under", examples=["HR"])
    labels: list[str] = Field(description="Labels of the document", examples=[["policy"]])
    modified_at: str = Field(
        description='When the document was last changed, in UTC; "" where that is not known',
        examples=["2026-11-21T10:00:00Z"],
    )
    page: int | None = Field(
        description="The page from 1; null in formats without pages", examples=[2]
    )
    heading_path: list[str] = Field(
        description="The headings above it, the highest first",
        examples=[["Leave policy", "Annual leave"]],
    )
    start: int = Field(
        description="Where it begins in the document's text, in characters", examples=[120]
    )
    end: int = Field(description="Where it ends, itself not included", examples=[169])
    text: str = Field(
        description="The whole passage",
        examples=["New employees get 25 days of annual leave a year."],
    )
    score: float = Field(
        description="Compares passages of one search only; its range depends on the mode",
        examples=[0.83],
    )
    why: Explanation | None = Field(description="Why it was found; null unless it is asked for")


class SearchResult(Told):
    """The passages found, best first."""

    items: list[SearchHit] = Field(description="The passages, best first")
    total: int = Field(ge=0, description="How many were found, at most k", examples=[1])
    mode: SearchMode = Field(description="How they were ranked", examples=["convex"])
    notices: list[str] = Field(
        description="What to know of it, such as a damaged index or why nothing was reranked",
        examples=[[]],
    )


class ModeResult(Told):
    """What one search mode found, best first."""

    mode: SearchMode = Field(description="The search mode", examples=["bm25"])
    items: list[SearchHit] = Field(
        description="The passages, best first; none where the mode failed"
    )
    milliseconds: float = Field(description="How long it took", examples=[12.5])
    error: str = Field(description='Why the mode failed, "" where it did not', examples=[""])


class Comparison(Told):
    """What each of several search modes found."""

    query: str = Field(description="What was searched for", examples=["annual leave"])
    k: int = Field(description="How many passages at most", examples=[5])
    results: list[ModeResult] = Field(description="In the order that was asked for")
    shared: list[str] = Field(
        description="Ids of the passages that more than one mode found", examples=[["8d0c:3"]]
    )
