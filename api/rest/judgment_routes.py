"""Labels and ratings, evaluations based on them, and replays of rated answers."""

from collections.abc import Generator
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import ConfigDict, Field, StringConstraints

from api.authentication import AskCall, Call, ReadCall
from api.field_types import NUMBER, LabelId, Page, Paging, TurnId
from api.problems import NOT_FOUND, ProblemError, problem_responses
from api.rest.answer_schemas import Location, RequestModel, ResponseModel, Turn
from api.rest.search_routes import Modes, Passages, Query
from api.streaming import Answering
from domain import SearchMode
from services.evaluation import rating_service
from services.evaluation.label_service import Label as StoredLabel
from services.evaluation.label_service import LabelOrigin
from services.evaluation.rating_service import MAX_COMMENT_CHARS, Reason

Grade = Annotated[int, Field(ge=0, le=1), NUMBER]
_PASSAGE = Field(description="Id of the passage", examples=["8d0c:3"])
_RIGHT = Field(description="1: relevant to the question, 0: not relevant", examples=[1])
_THUMB = Field(description="1: thumbs up, 0: thumbs down", examples=[0])
_REASON = Field(description="Why the answer is not good", examples=["incomplete"])
_COMMENT = Field(
    description="The person's comment", examples=["It does not mention part-time work."]
)


class LabelRequest(RequestModel):
    """A judgment of a passage's relevance to a question."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "How many days of leave?", "passage_id": "8d0c:3", "grade": 1}
            ]
        }
    )

    question: Query
    passage_id: Annotated[str, _PASSAGE, StringConstraints(max_length=200)]
    grade: Annotated[Grade, _RIGHT]


class Label(ResponseModel):
    """A judgment of a passage's relevance to a question, with the passage as it was when judged."""

    id: str = Field(examples=["0c6f1d2e3b4a59687786950a1b2c3d4e"])
    """Id of the label"""
    question: str = Field(examples=["How many days of leave?"])
    """The question that the passage was judged for"""
    passage_id: Annotated[str, _PASSAGE]
    document_id: str = Field(examples=["8d0c"])
    """Id of the document"""
    start: int = Field(examples=[120])
    """Start offset of the passage in the document's text when it was judged, in characters"""
    end: int = Field(examples=[169])
    """End offset of the passage when it was judged, exclusive"""
    text: str = Field(examples=["New employees get 25 days of annual leave a year."])
    """Text of the passage"""
    grade: Annotated[int, _RIGHT]
    origin: LabelOrigin = Field(examples=["api"])
    """Where the label came from: the retrieval lab, an answer in the chat, an import of labels,
    or this API"""
    created_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When it was submitted, in UTC"""


class LabelPage(Page[Label]):
    """A page of labels, oldest first."""


class RatingRequest(RequestModel):
    """A thumbs up or down for an answer."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"grade": 1},
                {
                    "grade": 0,
                    "reason": "incomplete",
                    "comment": "It does not mention part-time work.",
                },
            ]
        }
    )

    grade: Annotated[Grade, _THUMB]
    reason: Annotated[Reason | None, _REASON] = None
    comment: Annotated[str, _COMMENT, StringConstraints(max_length=MAX_COMMENT_CHARS)] = ""


class Rating(ResponseModel):
    """A person's rating of an answer."""

    turn_id: str = Field(examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the turn"""
    grade: Annotated[int, _THUMB]
    reason: Annotated[Reason | None, _REASON]
    comment: Annotated[str, _COMMENT]
    created_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When it was submitted, in UTC"""


class RatedAnswer(ResponseModel):
    """A rating with its question and conversation."""

    rating: Rating
    """The rating of the answer"""
    question: str = Field(examples=["How many days of leave do I get?"])
    """The question that was answered"""
    conversation_id: str = Field(examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"])
    """Id of the conversation"""
    conversation: str = Field(examples=["Leave"])
    """Title of the conversation"""


class RatedAnswerPage(Page[RatedAnswer]):
    """A page of ratings, newest first."""


class ReplayedPassage(ResponseModel):
    """A passage used by either answer."""

    title: str = Field(examples=["Leave policy"])
    """Title of the document"""
    location: Location
    page: int | None = Field(examples=[2])
    """Page number from 1; null for formats without pages"""
    passage_id: Annotated[str, _PASSAGE]
    then: int | None = Field(examples=[1])
    """Number of the passage in the stored answer; null if that answer did not use it"""
    now: int | None = Field(examples=[2])
    """Number of the passage in the new answer; null if that answer did not use it"""


class Replay(ResponseModel):
    """A stored answer and a new answer to the same question."""

    before: Turn
    """The stored turn"""
    after: Turn
    """The new answer to the same question; not stored"""
    passages: list[ReplayedPassage]
    """Passages of the stored answer in their order, then new ones"""


class EvaluationRequest(RequestModel):
    """The modes to measure, and the number of top passages to consider."""

    modes: Modes = None
    k: Passages = 10


class Estimate(ResponseModel):
    """A mean over the questions, from 0 to 1, with its 95% confidence interval."""

    mean: float = Field(ge=0, le=1, examples=[0.82])
    """Mean over the questions"""
    low: float = Field(ge=0, le=1, examples=[0.74])
    """Lower bound of the interval"""
    high: float = Field(ge=0, le=1, examples=[0.89])
    """Upper bound of the interval"""


class ModeFigures(ResponseModel):
    """How well a search mode finds the relevant passages."""

    mode: SearchMode = Field(examples=["convex"])
    """Search mode"""
    queries: int = Field(ge=1, examples=[40])
    """Number of questions searched"""
    k: int = Field(examples=[10])
    """Number of top passages considered"""
    ndcg: Estimate
    """nDCG: 1 if all relevant passages come first, lower the later they come"""
    recall: Estimate
    """Share of the relevant passages that were found"""
    mrr: Estimate
    """Reciprocal rank of the first relevant passage; 0 if none was found"""
    ms_per_query: float = Field(examples=[9.5])
    """Mean duration of a search, in milliseconds"""


class Evaluation(ResponseModel):
    """Quality metrics of the search modes on the person's labeled questions."""

    results: list[ModeFigures]
    """Results in the requested order"""
    notices: list[str] = Field(examples=[[]])
    """Notices to consider before relying on the figures"""


labels_router = APIRouter(prefix="/labels", tags=["labels"])


@labels_router.get("")
def list_labels(call: ReadCall, paging: Paging) -> LabelPage:
    """List your labels, oldest first."""
    labels = call.services.labels.list(call.principal)
    items = [_label_response(call, one) for one in paging.slice(labels)]
    return LabelPage(items=items, total=len(labels))


@labels_router.put("", responses=NOT_FOUND)
def put_label(call: AskCall, body: LabelRequest) -> Label:
    """Label a passage as relevant to a question, or not.

    It replaces your earlier label of that passage for that question.
    """
    label = call.services.labels.label(
        call.principal, body.question, body.passage_id, body.grade, LabelOrigin.API
    )
    return _label_response(call, label)


@labels_router.delete("/{label_id}", status_code=204, responses=NOT_FOUND)
def delete_label(call: AskCall, label_id: LabelId) -> None:
    """Delete a label."""
    call.services.labels.discard(call.principal, label_id)


def _label_response(call: Call, label: StoredLabel) -> Label:
    return Label.from_objects(label, id=call.services.labels.id_of(call.principal, label))


evaluation_router = APIRouter(tags=["evaluation"])


@evaluation_router.post("/evaluation", responses=problem_responses(409, 502))
def evaluate_search(call: ReadCall, body: EvaluationRequest) -> Evaluation:
    """Measure the search modes on the questions that you have labeled.

    Each question with a relevant passage is searched in each mode, in the current library.
    """
    figures = call.services.labels.evaluate(call.principal, body.modes, body.k)
    return Evaluation.from_objects(figures, results=figures.rows)


feedback_router = APIRouter(prefix="/ratings", tags=["feedback"])


@feedback_router.get("")
def list_ratings(call: ReadCall, paging: Paging) -> RatedAnswerPage:
    """List your ratings, newest first, except in deleted conversations."""
    return RatedAnswerPage.slice_of(call.services.ratings.list(call.principal), paging)


@feedback_router.get("/{turn_id}", responses=NOT_FOUND)
def read_rating(call: ReadCall, turn_id: TurnId) -> Rating:
    """Read your rating of an answer."""
    rating = call.services.ratings.rating(call.principal, turn_id)
    if rating is None:
        raise ProblemError(404, f"You have not rated an answer {turn_id}.")
    return Rating.model_validate(rating)


@feedback_router.put("/{turn_id}", responses=NOT_FOUND)
def put_rating(call: AskCall, turn_id: TurnId, body: RatingRequest) -> Rating:
    """Rate an answer, replacing your earlier rating.

    A thumbs up labels the passages with verified citations as relevant to the question. A thumbs
    down labels them as not relevant, unless its reason has nothing to do with passages.
    """
    rating = call.services.ratings.rate(
        call.principal, turn_id, body.grade, body.reason, body.comment
    )
    return Rating.model_validate(rating)


@feedback_router.delete("/{turn_id}", status_code=204, responses=NOT_FOUND)
def delete_rating(call: AskCall, turn_id: TurnId) -> None:
    """Delete your rating of an answer, and the labels derived from it."""
    call.services.ratings.rate(call.principal, turn_id, None)


@feedback_router.post("/{turn_id}/replay", responses=problem_responses(404, 409, 502))
async def replay_answer(call: Answering, turn_id: TurnId) -> Replay:
    """Ask a turn's question again with the same search options; nothing is stored."""

    def replay() -> Generator[rating_service.Replay, None, None]:
        yield call.services.ratings.replay(call.principal, turn_id)

    [replayed] = await call.read(replay)
    return Replay.model_validate(replayed)
