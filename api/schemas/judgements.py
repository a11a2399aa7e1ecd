"""What people think of passages and of answers, and the figures that follow from it."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from api.paging import Page
from api.schemas.answers import Given, Told
from api.schemas.numbers import NUMBER
from api.schemas.search import Modes, Passages, Query
from api.schemas.turns import Turn
from domain import SearchMode
from services.labels import LabelOrigin
from services.ratings import MAX_COMMENT_CHARS, Reason

Grade = Annotated[int, Field(ge=0, le=1), NUMBER]
_PASSAGE = Field(description="Id of the passage", examples=["8d0c:3"])
_TURN = Field(description="Id of the turn", examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
_RIGHT = Field(description="1: right for the question, 0: not", examples=[1])
_THUMB = Field(description="1: up, 0: down", examples=[0])
_REASON = Field(description="Why the answer is not good", examples=["incomplete"])
_COMMENT = Field(description="In the person's words", examples=["It says nothing of part-time."])


class GivenLabel(Given):
    """A judgement of a passage for a question."""

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


class Label(Told):
    """A judgement of a passage for a question, with the passage as it was then."""

    id: str = Field(description="Id of the label", examples=["0c6f1d2e3b4a59687786950a1b2c3d4e"])
    question: str = Field(
        description="What the passage was judged for", examples=["How many days of leave?"]
    )
    passage_id: Annotated[str, _PASSAGE]
    document_id: str = Field(description="Id of its document", examples=["8d0c"])
    start: int = Field(
        description="Where it began in the document's text, in characters", examples=[120]
    )
    end: int = Field(description="Where it ended, itself not included", examples=[169])
    text: str = Field(
        description="The whole passage",
        examples=["New employees get 25 days of annual leave a year."],
    )
    grade: Annotated[int, _RIGHT]
    origin: LabelOrigin = Field(
        description="Where it was given: in the search lab, under an answer in the chat, by an"
        " import of labels, or here",
        examples=["api"],
    )
    created_at: datetime = Field(
        description="When it was given, in UTC", examples=["2026-11-21T10:00:00Z"]
    )


class LabelPage(Page[Label]):
    """Some of the labels, the oldest first."""


class GivenRating(Given):
    """A thumb on an answer."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"grade": 1},
                {"grade": 0, "reason": "incomplete", "comment": "It says nothing of part-time."},
            ]
        }
    )

    grade: Annotated[Grade, _THUMB]
    reason: Annotated[Reason | None, _REASON] = None
    comment: Annotated[str, _COMMENT, StringConstraints(max_length=MAX_COMMENT_CHARS)] = ""


class Rating(Told):
    """What a person thinks of an answer."""

    turn_id: Annotated[str, _TURN]
    grade: Annotated[int, _THUMB]
    reason: Annotated[Reason | None, _REASON]
    comment: Annotated[str, _COMMENT]
    created_at: datetime = Field(
        description="When it was given, in UTC", examples=["2026-11-21T10:00:00Z"]
    )


class Rated(Told):
    """A rating beside what it is of."""

    rating: Rating = Field(description="What the person thinks")
    question: str = Field(
        description="The question that was answered", examples=["How many days of leave do I get?"]
    )
    conversation_id: str = Field(
        description="Id of the conversation that it is in",
        examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"],
    )
    conversation: str = Field(description="Title of the conversation", examples=["Leave"])


class RatedPage(Page[Rated]):
    """Some of the ratings, the newest first."""


class Replayed(Told):
    """A passage that either answer was given."""

    title: str = Field(description="Title of the document", examples=["Leave policy"])
    location: str = Field(description="Where it is", examples=["handbook/leave.md"])
    page: int | None = Field(description="The page from 1; null in formats without", examples=[2])
    passage_id: Annotated[str, _PASSAGE]
    then: int | None = Field(description="Its number then; null where it is new", examples=[1])
    now: int | None = Field(description="Its number now; null where it is gone", examples=[2])


class Replay(Told):
    """An answer, beside what the same question is answered now."""

    before: Turn = Field(description="The turn as it is kept")
    after: Turn = Field(description="The same question, answered now; not kept")
    passages: list[Replayed] = Field(description="Those of then in their order, then the new ones")


class GivenEvaluation(Given):
    """What is to be measured."""

    modes: Modes = None
    k: Passages = 10


class Estimate(Told):
    """A mean over the questions, from 0 to 1, with its 95 % interval."""

    mean: float = Field(ge=0, le=1, description="The mean", examples=[0.82])
    low: float = Field(ge=0, le=1, description="Where the interval begins", examples=[0.74])
    high: float = Field(ge=0, le=1, description="Where the interval ends", examples=[0.89])


class ModeFigures(Told):
    """How well one search mode finds the right passages."""

    mode: SearchMode = Field(description="The search mode", examples=["convex"])
    queries: int = Field(ge=1, description="How many questions were searched", examples=[40])
    k: int = Field(description="How many of the first passages count", examples=[10])
    ndcg: Estimate = Field(
        description="nDCG: 1 where all right passages come first, less the later they come"
    )
    recall: Estimate = Field(description="The share of the right passages that was found")
    mrr: Estimate = Field(
        description="One divided by the rank of the first right passage; 0 where none was found"
    )
    ms_per_query: float = Field(description="Milliseconds of a whole search", examples=[9.5])


class Evaluation(Told):
    """The search modes over the labelled questions of the person."""

    results: list[ModeFigures] = Field(description="In the order that was asked for")
    notices: list[str] = Field(
        description="What to know before relying on the figures", examples=[[]]
    )
