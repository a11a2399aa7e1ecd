"""Searches that return passages without an answer."""

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter
from pydantic import ConfigDict, Field, StrictBool, StringConstraints, with_config
from typing_extensions import TypedDict  # pydantic supports typing's TypedDict from Python 3.12 on

import domain
from api.authentication import Call, ReadCall
from api.field_types import MOMENT_IN_UTC, NUMBER, Question
from api.problems import problem_responses
from api.rest.answer_schemas import (
    MODE,
    THRESHOLD,
    Explanation,
    PassagePlace,
    RequestModel,
    ResponseModel,
    ScopeRequest,
)
from domain import COMPARED_MODES, FILTER_FIELDS, Filter, SearchMode
from services.search.search_scope import together
from services.search.search_service import explain
from services.texts import MAX_K

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from services.search import lab_service


Text = Annotated[str, StringConstraints(max_length=1000)]
Moment = Annotated[
    str,
    StringConstraints(pattern=MOMENT_IN_UTC),
    Field(examples=["2026-11-21T10:00:00Z"]),
]
"""A date or time in the form that passages store; a date sorts before all times of its day."""
Page = Annotated[int, Field(ge=1), NUMBER]
Texts = Annotated[list[Text], Field(max_length=1000)]
Pages = Annotated[list[Page], Field(max_length=1000)]


def _that(meaning: str, *examples: Any) -> Any:
    return Field(description=meaning, examples=list(examples))


TextCondition = TypedDict(
    "TextCondition",
    {
        "$in": Annotated[Texts, _that("Is one of these", ["md", "pdf"])],
        "$nin": Annotated[Texts, _that("Is none of these", ["html"])],
        "$gt": Annotated[Text, _that("Sorts after this string", "a")],
        "$gte": Annotated[Text, _that("Equals this string or sorts after it", "a")],
        "$lt": Annotated[Text, _that("Sorts before this string", "q")],
        "$lte": Annotated[Text, _that("Equals this string or sorts before it", "q")],
    },
    total=False,
)
MomentCondition = TypedDict(
    "MomentCondition",
    {
        "$gt": Annotated[Moment, _that("Is later than this", "2026-01-01")],
        "$gte": Annotated[Moment, _that("Is at this time or later", "2026-01-01")],
        "$lt": Annotated[Moment, _that("Is earlier than this", "2026-11-21")],
        "$lte": Annotated[Moment, _that("Is at this time or earlier", "2026-11-21")],
    },
    total=False,
)
PageCondition = TypedDict(
    "PageCondition",
    {
        "$in": Annotated[Pages, _that("Is one of these", [1, 2])],
        "$nin": Annotated[Pages, _that("Is none of these", [1])],
        "$gt": Annotated[Page, _that("Is greater than this", 1)],
        "$gte": Annotated[Page, _that("Is this or greater", 2)],
        "$lt": Annotated[Page, _that("Is less than this", 9)],
        "$lte": Annotated[Page, _that("Is this or less", 8)],
    },
    total=False,
)
LabelsCondition = TypedDict(
    "LabelsCondition",
    {
        "$contains": Annotated[Text, _that("Contains this label", "policy")],
        "$contains_any": Annotated[Texts, _that("Contains any of these labels", ["policy", "hr"])],
    },
    total=False,
)
TextCondition.__doc__ = "Conditions on a string, all of which must hold."
MomentCondition.__doc__ = "Conditions on a time, all of which must hold."
PageCondition.__doc__ = "Conditions on a page number, all of which must hold."
LabelsCondition.__doc__ = "Conditions on a list of labels, all of which must hold."


def _about(field: str) -> Any:
    return Field(description=FILTER_FIELDS[field][0].upper() + FILTER_FIELDS[field][1:])


class MetadataFilter(TypedDict, total=False):
    """Conditions on the metadata of passages, all of which must hold.

    A plain value must be equal; an object contains operators, all of which must hold, and an empty
    object always matches. A passage that lacks the field does not match. Strings are compared
    character by character.
    """

    source_id: Annotated[Text | TextCondition, _about("source_id")]
    collection: Annotated[Text | TextCondition, _about("collection")]
    document_id: Annotated[Text | TextCondition, _about("document_id")]
    key: Annotated[Text | TextCondition, _about("key")]
    title: Annotated[Text | TextCondition, _about("title")]
    format: Annotated[Text | TextCondition, _about("format")]
    labels: Annotated[LabelsCondition, _about("labels")]
    modified_at: Annotated[Moment | MomentCondition, _about("modified_at")]
    page: Annotated[Page | PageCondition, _about("page")]
    script: Annotated[Text | TextCondition, _about("script")]


for _model in (TextCondition, MomentCondition, PageCondition, LabelsCondition, MetadataFilter):
    with_config(ConfigDict(extra="forbid"))(_model)


Query = Annotated[
    Question,
    Field(
        description="Question or search words",
        examples=["How many days of annual leave?"],
    ),
]
Passages = Annotated[
    int,
    Field(ge=1, le=MAX_K, description="Maximum number of passages", examples=[5]),
    NUMBER,
]
Modes = Annotated[
    Annotated[list[SearchMode], Field(min_length=1, max_length=20)] | None,
    Field(
        description="Search modes; duplicates are ignored; null for " + ", ".join(COMPARED_MODES),
        examples=[["bm25", "convex"]],
    ),
]


class ScopedRequest(RequestModel):
    """A query and its scope."""

    query: Query
    scope: ScopeRequest = ScopeRequest()
    """What to search in, by name"""
    filter: MetadataFilter = Field(
        MetadataFilter(), examples=[{"page": {"$gte": 2, "$lt": 9}, "script": "latin"}]
    )
    """Additional conditions, on fields that the scope does not restrict"""
    k: Passages = 5

    def condition(self) -> Filter:
        """The conditions of the filter."""
        return {name: value for name, value in self.filter.items() if value != {}}


class SearchRequest(ScopedRequest):
    """A search; omitted or null fields use the configured defaults."""

    mode: Annotated[SearchMode | None, MODE] = None
    score_threshold: Annotated[float | None, THRESHOLD, Field(ge=0, le=1, strict=True)] = None
    rerank: StrictBool | None = None
    """Whether to rerank the results; null reranks if a reranker is configured"""
    explain: StrictBool = False
    """Whether to explain why each passage was found"""


class ComparisonRequest(ScopedRequest):
    """A search in several modes."""

    modes: Modes = None
    rerank: StrictBool = False
    """Whether to rerank the results of each mode"""


class SearchHit(PassagePlace):
    """A passage that was found."""

    source_id: str = Field(examples=["7c9e6679742540de944be07fc1f90ae7"])
    """Id of the document's source"""
    key: str = Field(examples=["leave.md"])
    """Key of the document within its source"""
    format: str = Field(examples=["md"])
    """Format of the document"""
    version: str = Field(examples=["3f8a1c"])
    """Version of the indexed document; changes with its content"""
    collection: str = Field(examples=["HR"])
    """Collection of the source"""
    labels: list[str] = Field(examples=[["policy"]])
    """Labels of the document"""
    modified_at: str = Field(examples=["2026-11-21T10:00:00Z"])
    """When the document was last modified, in UTC; empty if unknown"""
    start: int = Field(examples=[120])
    """Start offset in the document's text, in characters"""
    end: int = Field(examples=[169])
    """End offset, exclusive"""
    text: str = Field(examples=["New employees get 25 days of annual leave a year."])
    """Text of the passage"""
    score: float = Field(examples=[0.83])
    """Score, comparable only within one search; its range depends on the mode"""
    why: Explanation | None
    """Why the passage was found; null unless requested"""


class SearchResult(ResponseModel):
    """The passages found, best first."""

    items: list[SearchHit]
    """Passages, best first"""
    total: int = Field(ge=0, examples=[1])
    """Number of passages found, at most k"""
    mode: SearchMode = Field(examples=["convex"])
    """Search mode that was used"""
    notices: list[str] = Field(examples=[[]])
    """Notices about the search, for example a damaged index or why reranking was skipped"""


class ModeResult(ResponseModel):
    """The passages found by one search mode, best first."""

    mode: SearchMode = Field(examples=["bm25"])
    """Search mode"""
    items: list[SearchHit]
    """Passages, best first; empty if the mode failed"""
    milliseconds: float = Field(examples=[12.5])
    """Duration in milliseconds"""
    error: str = Field(examples=[""])
    """Why the mode failed; empty if it did not"""


class Comparison(ResponseModel):
    """The passages found by each search mode."""

    query: str = Field(examples=["annual leave"])
    """The query that was searched"""
    k: int = Field(examples=[5])
    """Maximum number of passages"""
    results: list[ModeResult]
    """Results in the requested order"""
    shared: list[str] = Field(examples=[["8d0c:3"]])
    """Ids of passages found by more than one mode"""


router = APIRouter(prefix="/search", tags=["search"], responses=problem_responses(409, 502))


@router.post("")
def search(call: ReadCall, body: SearchRequest) -> SearchResult:
    """Find passages.

    Files that belong to conversations are not searched.
    """
    condition = _condition(call, body)
    documents = call.services.search.search(
        call.principal,
        body.query,
        mode=body.mode,
        k=body.k,
        condition=condition,
        rerank=body.rerank,
        score_threshold=body.score_threshold,
    )
    why = [explain(body.query, one, condition) for one in documents] if body.explain else []
    return SearchResult(
        items=[_hit(one, why[n] if why else None) for n, one in enumerate(documents)],
        total=len(documents),
        mode=body.mode or call.services.search.mode,
        notices=[*call.services.library.damage(), *_notices(documents)],
    )


@router.post("/compare")
def compare_modes(call: ReadCall, body: ComparisonRequest) -> Comparison:
    """Search in several modes and explain why each passage was found.

    If a mode fails, its error is returned with the results of the others.
    """
    condition = _condition(call, body)
    modes = body.modes or COMPARED_MODES
    comparison = call.services.lab.compare(
        call.principal, body.query, modes, body.k, condition, body.rerank
    )
    results = [_mode_result(one) for one in comparison.results]
    return Comparison.from_objects(comparison, query=comparison.question, results=results)


def _condition(call: Call, body: ScopedRequest) -> Filter:
    return together(
        call.services.search.condition(call.principal, body.scope.scope()), body.condition()
    )


def _mode_result(result: "lab_service.ModeResult") -> ModeResult:
    items = [_hit(one.document, one.explanation) for one in result.hits]
    return ModeResult.from_objects(result, items=items)


def _hit(document: "Document", why: domain.Explanation | None) -> SearchHit:
    fields = {"passage_id": document.id, "text": document.page_content, "why": why}
    return SearchHit.model_validate(document.metadata | fields)


def _notices(documents: "list[Document]") -> list[str]:
    skipped = documents[0].metadata.get("rerank", {}).get("skipped") if documents else ""
    return [f"Not reranked. {skipped}"] if skipped else []
