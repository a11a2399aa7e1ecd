"""What is sent to ask a question, and the events that answer it."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    RootModel,
    TypeAdapter,
)
from pydantic.json_schema import JsonSchemaValue

from api.problems import Problem
from api.schemas.answers import Citation, Given, GivenSearch, Source, Told
from api.schemas.texts import Question
from api.schemas.turns import Step, Turn


class GivenQuestion(Given):
    """A question, asked in a conversation or beginning one."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "How many days of leave do I get?"},
                {
                    "question": "And in the second year?",
                    "conversation_id": "0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b",
                    "search": {"mode": "convex", "k": 8, "scope": {"formats": ["pdf"]}},
                },
            ]
        }
    )

    question: Question = Field(
        description="As a person types it", examples=["How many days of leave do I get?"]
    )
    conversation_id: str | None = Field(
        None,
        description="Id of the conversation to ask in; null: one begins",
        examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"],
    )
    search: GivenSearch | None = Field(
        None,
        description="How to search; null: as the conversation remembers. A conversation that"
        " begins with it remembers it.",
    )
    turn_id: str | None = Field(
        None,
        description="Ask in place of this turn of the conversation, as a version of it; null:"
        " after the branch that is shown",
        examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"],
    )
    standalone: Question | None = Field(
        None,
        description="Searched for as it is, in place of the question read with its history; null:"
        " that is worded from both",
        examples=["How many days of annual leave do I get?"],
    )


@dataclass(frozen=True)
class JsonOf:
    """Describes a text as the JSON of that type: the data of an event is one."""

    type: Any

    def __get_pydantic_json_schema__(
        self, _schema: object, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """What the description says of the text."""
        content = handler(TypeAdapter(self.type).core_schema)
        kind = {"type": "string", "contentMediaType": "application/json"}
        return {**kind, "contentSchema": content}


class Begun(Told):
    """The question is kept, as a turn of that conversation."""

    conversation_id: str = Field(
        description="Id of the conversation", examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"]
    )
    turn_id: str = Field(
        description="Id of the turn", examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"]
    )


class Searched(Told):
    """What is searched for."""

    standalone: str = Field(
        description="The question, made to be understood without its history",
        examples=["How many days of annual leave do new employees get?"],
    )


class Token(Told):
    """A piece of the answer's Markdown: markers are plain [n], documents' brackets escaped."""

    text: str = Field(
        description="To be put behind the pieces before it", examples=["New employees get 25 days"]
    )


class Checked(Told):
    """What checking the answer found."""

    citations: list[Citation] = Field(
        description="Of each number one, or one for each `[n]`, in the order of the answer"
    )
    unsupported_sentences: int = Field(
        description="How many sentences claim something without a verified citation", examples=[0]
    )


class StartedEvent(BaseModel):
    """Comes first."""

    event: Literal["started"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(Begun)] = Field(
        description="The ids of the conversation and the turn"
    )


class QuestionEvent(BaseModel):
    """Comes once the question was read with its history."""

    event: Literal["question"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(Searched)] = Field(description="The standalone question")


class StepEvent(BaseModel):
    """Comes when a step of the agent begins, and again when it is done.

    What was written before a step that begins is no part of the answer: `said` has it.
    """

    event: Literal["step"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(Step)] = Field(description="The step as it stands")


class SourcesEvent(BaseModel):
    """All sources so far, numbered from 1; of an agent it comes several times."""

    event: Literal["sources"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(list[Source])] = Field(
        description="All sources so far, in the order of their numbers"
    )


class TokenEvent(BaseModel):
    """Comes for each piece as it is written."""

    event: Literal["token"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(Token)] = Field(description="The piece")


class CitationsEvent(BaseModel):
    """Comes once the answer is whole."""

    event: Literal["citations"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(Checked)] = Field(description="The checked citations")


class EndEvent(BaseModel):
    """Comes last where all went well: the turn as it is kept."""

    event: Literal["end"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(Turn)] = Field(description="The whole turn")


class ErrorEvent(BaseModel):
    """Comes last where it went wrong; what was written until then is kept."""

    event: Literal["error"] = Field(description="Name of the event")
    data: Annotated[str, JsonOf(Problem)] = Field(description="What went wrong")


class AnswerEvent(
    RootModel[
        StartedEvent
        | QuestionEvent
        | StepEvent
        | SourcesEvent
        | TokenEvent
        | CitationsEvent
        | EndEvent
        | ErrorEvent
    ]
):
    """One event: its name (`event:`), and its data (`data:`), JSON on one line."""
