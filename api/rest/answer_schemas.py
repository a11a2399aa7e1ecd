"""Schemas of answers: turns, sources, citations, steps, and search options.

Each is built by `model_validate` from the value of `domain` with the same name. Requests have
separate models, which are stricter than the stored values.
"""

from datetime import datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, StringConstraints

import domain
from api.field_types import MOMENT, NOT_BLANK, NUMBER, Schema
from services.export.answer_text import safe_answer
from services.texts import MAX_K

FilterValue = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=1000)]

_SOURCES = Field(description="Ids, names, or locations of sources", examples=[["handbook"]])
_COLLECTIONS = Field(description="Collections of sources", examples=[["HR"]])
_FORMATS = Field(description="Formats of documents", examples=[["pdf", "md"]])
_LABELS = Field(
    description="Labels of documents; a document needs at least one of them", examples=[["policy"]]
)
_SINCE = Field(
    description="Only documents modified on or after this date or time, in UTC unless stated "
    "otherwise; empty for any",
    examples=["2026-01-01"],
)
_UNTIL = Field(
    description="Only documents modified on or before this date or time; empty for any",
    examples=["2026-11-21T10:00:00Z"],
)
_SCOPE = Field(description="What to search in")
MODE = Field(
    description="Search mode, which ranks the passages; null uses the configured default",
    examples=["convex"],
)
_K = Field(
    description="Number of passages used to answer; null uses the configured default",
    examples=[5],
)
THRESHOLD = Field(
    description="Minimum relevance, from 0 to 1; applies only to mode "
    "similarity_score_threshold; null uses the configured default",
    examples=[0.25],
)
_BY_AGENT = Field(
    description="Whether an agent searches, in as many steps as it needs; requires a chat model",
    examples=[False],
)
_SEVERAL = Field(max_length=200)

_QUOTE = "New employees get 25 days of annual leave a year."

Location = Annotated[
    str,
    AfterValidator(domain.public_location),
    Field(
        description="Address of the document; of a file, only its name: "
        "`GET /documents/{document_id}` returns its path",
        examples=["leave.md"],
    ),
]


class RequestModel(BaseModel):
    """The body of a request; unknown fields are rejected rather than ignored."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class ResponseModel(Schema):
    """The body of a response, built from the attributes of a `domain` value."""

    model_config = ConfigDict(from_attributes=True)


class ScopeRequest(RequestModel):
    """The documents to search; omitted fields restrict nothing; several values are alternatives."""

    sources: Annotated[list[FilterValue], _SOURCES, _SEVERAL] = []
    collections: Annotated[list[FilterValue], _COLLECTIONS, _SEVERAL] = []
    formats: Annotated[list[FilterValue], _FORMATS, _SEVERAL] = []
    labels: Annotated[list[FilterValue], _LABELS, _SEVERAL] = []
    since: Annotated[str, _SINCE, StringConstraints(pattern=MOMENT)] = ""
    until: Annotated[str, _UNTIL, StringConstraints(pattern=MOMENT)] = ""

    def scope(self) -> domain.Scope:
        """The scope as a domain value; only the search checks whether its names exist."""
        return domain.Scope(
            tuple(self.sources),
            tuple(self.collections),
            tuple(self.formats),
            tuple(self.labels),
            self.since,
            self.until,
        )


class SearchOptions(RequestModel):
    """How to search; omitted or null fields use the configured defaults."""

    scope: Annotated[ScopeRequest, _SCOPE] = ScopeRequest()
    mode: Annotated[domain.SearchMode | None, MODE] = None
    k: Annotated[int | None, _K, Field(ge=1, le=MAX_K), NUMBER] = None
    score_threshold: Annotated[float | None, THRESHOLD, Field(ge=0, le=1, strict=True)] = None
    by_agent: Annotated[StrictBool, _BY_AGENT] = False

    def choice(self) -> domain.SearchChoice:
        """The options as a domain value."""
        return domain.SearchChoice(
            self.scope.scope(), self.mode, self.k, self.score_threshold, self.by_agent
        )


class Scope(ResponseModel):
    """The documents that were searched; empty fields did not restrict the search."""

    sources: Annotated[list[str], _SOURCES]
    collections: Annotated[list[str], _COLLECTIONS]
    formats: Annotated[list[str], _FORMATS]
    labels: Annotated[list[str], _LABELS]
    since: Annotated[str, _SINCE]
    until: Annotated[str, _UNTIL]


class SearchChoice(ResponseModel):
    """How to search; null fields use the configured defaults."""

    scope: Annotated[Scope, _SCOPE]
    mode: Annotated[domain.SearchMode | None, MODE]
    k: Annotated[int | None, _K]
    score_threshold: Annotated[float | None, THRESHOLD]
    by_agent: Annotated[bool, _BY_AGENT]


class ScorePart(ResponseModel):
    """The contribution of one ranked list to a passage's score, which is the sum of all shares."""

    ranker: str = Field(examples=["bm25"])
    """Name of the ranked list: `dense` (vectors) or `bm25`"""
    rank: int | None = Field(examples=[1])
    """Rank in the list, from 1; null if the passage is not in it"""
    score: float | None = Field(examples=[7.31])
    """Score in the list, in no fixed range; null if the passage is not in it"""
    share: float = Field(examples=[0.83])
    """Contribution to the passage's score"""


class Move(ResponseModel):
    """How a reranker moved a passage."""

    score: float | None = Field(examples=[4.2])
    """Score of the reranker, in no fixed range; null if it was skipped"""
    rank_before: int | None = Field(examples=[3])
    """Rank before reranking, from 1; null if it was skipped"""
    rank: int | None = Field(examples=[1])
    """Rank after reranking, from 1; null if it was skipped"""
    skipped: str = Field(examples=[""])
    """Why the reranker was skipped; empty if it ran"""


class Explanation(ResponseModel):
    """Why a passage was found."""

    score: float = Field(examples=[0.83])
    """Sum of the parts' shares"""
    parts: list[ScorePart]
    """Contribution of each ranked list"""
    matched_words: list[str] = Field(examples=[["annual", "leave"]])
    """Words of the passage that share a search token with the question"""
    move: Move | None
    """What the reranker changed; null without a reranker"""
    condition: dict[str, Any] = Field(examples=[{"format": {"$in": ["md"]}}])
    """The metadata filter that the passage matched"""


class FoundPassage(ResponseModel):
    """A passage that was found, with its span in the document's text."""

    passage_id: str = Field(validation_alias="id", examples=["8d0c:3"])
    """Id of the passage"""
    start: int = Field(examples=[120])
    """Start offset in the document's text, in characters"""
    end: int = Field(examples=[480])
    """End offset, exclusive"""


class PassagePlace(ResponseModel):
    """A passage and its place in the library."""

    passage_id: str = Field(examples=["8d0c:3"])
    """Id of the passage"""
    document_id: str = Field(examples=["8d0c"])
    """Id of the document"""
    title: str = Field(examples=["Leave policy"])
    """Title of the document"""
    location: Location
    page: int | None = Field(examples=[2])
    """Page number from 1; null for formats without pages"""
    heading_path: list[str] = Field(examples=[["Leave policy", "Annual leave"]])
    """Headings above the passage, outermost first"""


class Source(PassagePlace):
    """A passage used to answer."""

    n: int = Field(examples=[1])
    """Number of the passage, from 1; the answer cites it as [n]"""
    version: str = Field(examples=["3f8a1c"])
    """Version of the document at the time of the answer; changes with its content"""
    text: str = Field(examples=[_QUOTE])
    """Text of the passage"""
    score: float | None = Field(examples=[0.83])
    """Score, comparable only within one search; null if unknown"""
    start: int = Field(examples=[120])
    """Start offset in the document's text, in characters"""
    why: Explanation | None
    """Why the passage was found; null if unknown"""
    hits: list[FoundPassage]
    """If the passage was extended by its neighbors: the passages found within it, best first;
    otherwise empty"""
    format: str = Field(examples=["md"])
    """Format of the document; empty in old turns"""


class Citation(PassagePlace):
    """A citation of a passage, checked against the document as it was then."""

    n: int = Field(examples=[1])
    """Number of the cited passage"""
    version: str = Field(examples=["3f8a1c"])
    """Version of the document at the time of the answer; changes with its content"""
    state: domain.CitationState = Field(examples=["verified"])
    """`verified`: the quoted words appear in the document, which does not prove that they answer
    the question; `not found`: the document does not contain them, or none of its sentences
    supports the citation; `no such source`: no source has that number; `not verified here`: it was
    imported as verified, but this library does not contain it"""
    quote: str = Field(examples=[_QUOTE])
    """The words that support the answer; empty if there are none"""
    start: int = Field(examples=[120])
    """Start offset of the quote in the document's text, in characters; -1 if not found"""
    end: int = Field(examples=[169])
    """End offset, exclusive; -1 if not found"""
    passage_text: str = Field(examples=[_QUOTE])
    """Text of the passage"""
    quoted_by_answer: bool = Field(examples=[True])
    """Whether the answer contained the quote; otherwise Footnote looked it up"""


Citations = Annotated[
    list[Citation],
    Field(
        description="The checked citations in the order of the answer: one for each number, or "
        "one for each `[n]`"
    ),
]
UnsupportedSentences = Annotated[
    int,
    Field(
        description="Number of sentences that make a claim without a verified citation",
        examples=[0],
    ),
]


class Step(ResponseModel):
    """A tool call of the agent and its result."""

    n: int = Field(examples=[1])
    """Number of the step within the turn, from 1"""
    tool: str = Field(examples=["search_documents"])
    """Name of the tool"""
    arguments: dict[str, Any] = Field(examples=[{"query": "annual leave"}])
    """Arguments of the tool call"""
    state: domain.StepState = Field(examples=["done"])
    """State of the step"""
    result: str = Field(examples=["[1] Leave policy: New employees get 25 days ..."])
    """Result of the tool, shortened if long; empty while it runs"""
    sources: list[int] = Field(examples=[[1, 2]])
    """Numbers of the passages in the result"""
    said: str = Field(examples=["I will look for the rules on leave."])
    """What the agent wrote before the step, which is not part of the answer; may be empty"""
    milliseconds: float = Field(examples=[41.5])
    """Duration in milliseconds; 0 while it runs"""


class Turn(ResponseModel):
    """A question and its answer; turns with the same parent are versions of each other."""

    id: str = Field(examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the turn"""
    conversation_id: str = Field(examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"])
    """Id of the conversation"""
    parent_id: str | None = Field(examples=[None])
    """Id of the previous turn; null for the first one"""
    question: str = Field(examples=["How many days of leave do I get?"])
    """The question as the person typed it"""
    standalone_question: str = Field(examples=["How many days of leave do I get?"])
    """The standalone question that was searched for; empty if no search took place"""
    standalone_given: bool = Field(examples=[False])
    """Whether the caller supplied the standalone question"""
    state: domain.TurnState = Field(examples=["complete"])
    """State of the turn: `incomplete` if a limit ended it, `stopped` if the caller disconnected"""
    error: str = Field(examples=[""])
    """Why the turn did not complete; empty if it did"""
    answer: Annotated[str, AfterValidator(safe_answer)] = Field(
        examples=["New employees get 25 days [1]."]
    )
    r"""The answer in Markdown: `[n]` is a citation; brackets from documents are escaped,
    `\[42\]`, and so are HTML, links, and images; empty before the first token"""
    model: str = Field(examples=["built-in extractive answerer"])
    """Name of the model that answered"""
    sources: list[Source]
    """The passages used to answer, by number"""
    citations: Citations
    unsupported_sentences: UnsupportedSentences
    steps: list[Step]
    """The agent's steps; empty if no agent was used"""
    reasoning: str = Field(examples=[""])
    """What a thinking model wrote before its answer, as plain text; it is not part of the answer,
    and nothing in it was checked"""
    timings_ms: dict[str, float] = Field(
        examples=[{"found": 41.0, "first_token": 320.5, "total": 2210.9}]
    )
    """Milliseconds until the passages were found, until the first token, and in total"""
    usage: dict[str, int] = Field(examples=[{"input_tokens": 812, "output_tokens": 96}])
    """Input and output tokens, if the model reports them"""
    search: SearchChoice
    """Search options, with configured defaults filled in"""
    created_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When the question was asked, in UTC"""
