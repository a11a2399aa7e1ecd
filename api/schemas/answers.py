"""What answers are made of: sources and citations, and how is searched.

Each is made of the value of `domain` that has its name, by `model_validate`; what callers send
has models of its own, which are stricter than what may be stored.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints

import domain
from api.schemas.numbers import NUMBER
from api.schemas.texts import MOMENT, NOT_BLANK
from services.questions import MAX_K

Words = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=1000)]
"""A text that is not empty."""

_SOURCES = Field(description="Ids, names or locations of sources", examples=[["handbook"]])
_COLLECTIONS = Field(description="What sources are filed under", examples=[["HR"]])
_FORMATS = Field(description="Formats of documents", examples=[["pdf", "md"]])
_LABELS = Field(description="Labels of documents, of which one will do", examples=[["policy"]])
_SINCE = Field(
    description='Only documents changed since this day or moment, in UTC if not told; "" for any',
    examples=["2026-01-01"],
)
_UNTIL = Field(
    description='Only documents not changed after this day or moment; "" for any',
    examples=["2026-11-21T10:00:00Z"],
)
_SCOPE = Field(description="What to search in")
MODE = Field(
    description="The search mode: how passages are ranked; null: as the settings say",
    examples=["convex"],
)
_K = Field(
    description="How many passages are put before the answerer; null: as the settings say",
    examples=[5],
)
THRESHOLD = Field(
    description="The least relevance, from 0 to 1, in mode similarity_score_threshold alone; null:"
    " as the settings say",
    examples=[0.25],
)
_BY_AGENT = Field(
    description="Whether an agent searches, in as many steps as it wants; needs a chat model",
    examples=[False],
)
_SEVERAL = Field(max_length=200)

# Of a passage and its document, in sources and in citations.
_PASSAGE_ID = Field(description="Id of the passage", examples=["8d0c:3"])
_DOCUMENT_ID = Field(description="Id of the document", examples=["8d0c"])
_TITLE = Field(description="Title of the document", examples=["Leave policy"])
_LOCATION = Field(
    description="Where the document is: a path or an address", examples=["handbook/leave.md"]
)
_VERSION = Field(
    description="The version of the document then: it changes with its content", examples=["3f8a1c"]
)
_PAGE = Field(description="The page from 1; null in formats without pages", examples=[2])
_HEADINGS = Field(
    description="The headings above it, the highest first",
    examples=[["Leave policy", "Annual leave"]],
)
_QUOTE = "New employees get 25 days of annual leave a year."


class Given(BaseModel):
    """What a caller sends: a field that is not known is refused, so that none is lost."""

    model_config = ConfigDict(extra="forbid")


class Told(BaseModel):
    """What the API answers, made of a value of `domain`."""

    model_config = ConfigDict(from_attributes=True)


class GivenScope(Given):
    """What to search in: what is left out narrows nothing, of several values any one will do."""

    sources: Annotated[list[Words], _SOURCES, _SEVERAL] = []
    collections: Annotated[list[Words], _COLLECTIONS, _SEVERAL] = []
    formats: Annotated[list[Words], _FORMATS, _SEVERAL] = []
    labels: Annotated[list[Words], _LABELS, _SEVERAL] = []
    since: Annotated[str, _SINCE, StringConstraints(pattern=MOMENT)] = ""
    until: Annotated[str, _UNTIL, StringConstraints(pattern=MOMENT)] = ""

    def scope(self) -> domain.Scope:
        """The scope that it names; whether it can be searched is found when it is."""
        told = (tuple(self.sources), tuple(self.collections), tuple(self.formats))
        return domain.Scope(*told, tuple(self.labels), self.since, self.until)


class GivenSearch(Given):
    """How to search: what is left out or null is as the settings say."""

    scope: Annotated[GivenScope, _SCOPE] = GivenScope()
    mode: Annotated[domain.SearchMode | None, MODE] = None
    k: Annotated[int | None, _K, Field(ge=1, le=MAX_K), NUMBER] = None
    score_threshold: Annotated[float | None, THRESHOLD, Field(ge=0, le=1, strict=True)] = None
    by_agent: Annotated[StrictBool, _BY_AGENT] = False

    def choice(self) -> domain.SearchChoice:
        """The choice that it names."""
        return domain.SearchChoice(
            self.scope.scope(), self.mode, self.k, self.score_threshold, self.by_agent
        )


class Scope(Told):
    """What was searched in; what is empty narrowed nothing."""

    sources: Annotated[list[str], _SOURCES]
    collections: Annotated[list[str], _COLLECTIONS]
    formats: Annotated[list[str], _FORMATS]
    labels: Annotated[list[str], _LABELS]
    since: Annotated[str, _SINCE]
    until: Annotated[str, _UNTIL]


class SearchChoice(Told):
    """How is searched; what is null is as the settings say."""

    scope: Annotated[Scope, _SCOPE]
    mode: Annotated[domain.SearchMode | None, MODE]
    k: Annotated[int | None, _K]
    score_threshold: Annotated[float | None, THRESHOLD]
    by_agent: Annotated[bool, _BY_AGENT]


class ScorePart(Told):
    """What one ranked list gave a passage; the shares of all lists add up to its score."""

    ranker: str = Field(description="The list: `dense` of vectors, `bm25`", examples=["bm25"])
    rank: int | None = Field(
        description="Its place in the list from 1; null if not in it", examples=[1]
    )
    score: float | None = Field(
        description="The list's own score, in no fixed range; null if not in it", examples=[7.31]
    )
    share: float = Field(description="What it adds to the passage's score", examples=[0.83])


class Move(Told):
    """What a reranker did with a passage."""

    score: float | None = Field(
        description="Its score, in no fixed range; null where it did nothing", examples=[4.2]
    )
    rank_before: int | None = Field(
        description="The rank before, from 1; null where it did nothing", examples=[3]
    )
    rank: int | None = Field(
        description="The rank after, from 1; null where it did nothing", examples=[1]
    )
    skipped: str = Field(description='Why it did nothing, "" where it did', examples=[""])


class Explanation(Told):
    """Why a passage was found."""

    score: float = Field(description="The sum of the parts' shares", examples=[0.83])
    parts: list[ScorePart] = Field(description="What each ranked list gave")
    matched_words: list[str] = Field(
        description="Its words that share a search token with the question",
        examples=[["annual", "leave"]],
    )
    move: Move | None = Field(description="What the reranker did; null without one")
    condition: dict[str, Any] = Field(
        description="The filter on its metadata that held", examples=[{"format": {"$in": ["md"]}}]
    )


class FoundPassage(Told):
    """A passage that was found, by its span in the document's text."""

    passage_id: str = Field(validation_alias="id", description="Its id", examples=["8d0c:3"])
    start: int = Field(
        description="Where it begins in the document's text, in characters", examples=[120]
    )
    end: int = Field(description="Where it ends, itself not included", examples=[480])


class Source(Told):
    """A passage that was put before the answerer."""

    n: int = Field(description="Its number, which the answer cites as [n]; from 1", examples=[1])
    passage_id: Annotated[str, _PASSAGE_ID]
    document_id: Annotated[str, _DOCUMENT_ID]
    title: Annotated[str, _TITLE]
    location: Annotated[str, _LOCATION]
    text: str = Field(description="The whole passage", examples=[_QUOTE])
    version: Annotated[str, _VERSION]
    page: Annotated[int | None, _PAGE]
    heading_path: Annotated[list[str], _HEADINGS]
    score: float | None = Field(
        description="Its score, which compares passages of one search; null where none is known",
        examples=[0.83],
    )
    start: int = Field(
        description="Where it begins in the document's text, in characters", examples=[120]
    )
    why: Explanation | None = Field(description="Why it was found; null where that is not known")
    hits: list[FoundPassage] = Field(
        description="Where it was widened by its neighbours: the passages found in it, the best"
        " first; else empty"
    )


class Citation(Told):
    """A pointer from the answer to a passage, checked against the document as it was then."""

    n: int = Field(description="The number of the source", examples=[1])
    state: domain.CitationState = Field(
        description="`verified`: the quoted words stand in the document, which does not say that"
        " they answer the question; `not found`: the document does not hold them, or no sentence of"
        " it supports the number; `no such source`: no source has that number",
        examples=["verified"],
    )
    quote: str = Field(
        description='The words that support the answer, "" where there are none', examples=[_QUOTE]
    )
    title: Annotated[str, _TITLE]
    location: Annotated[str, _LOCATION]
    document_id: Annotated[str, _DOCUMENT_ID]
    passage_id: Annotated[str, _PASSAGE_ID]
    version: Annotated[str, _VERSION]
    page: Annotated[int | None, _PAGE]
    heading_path: Annotated[list[str], _HEADINGS]
    start: int = Field(
        description="Where the quote begins in the document's text, in characters; -1 if not found",
        examples=[120],
    )
    end: int = Field(
        description="Where it ends, itself not included; -1 if not found", examples=[169]
    )
    passage_text: str = Field(description="The whole passage", examples=[_QUOTE])
    quoted_by_answer: bool = Field(
        description="Whether the answer gave the quote; otherwise the program looked it up",
        examples=[True],
    )
