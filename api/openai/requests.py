"""What OpenAI's clients send.

Their requests carry much that says how a model shall write (temperature, max_tokens, seed, user
and the like). Here the settings say that: what is not known is let through and changes nothing.
What asks for something that would not come (tools, pictures, several choices) is refused.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictBool, StringConstraints

from api.openai.models import AGENT, CHAIN
from api.schemas.answers import Given, GivenSearch
from api.schemas.texts import Question

MAX_MESSAGES = 1000
MAX_PARTS = 100
MAX_TEXT_CHARS = 1_000_000
MAX_INPUTS = 2048
"""Of one request for embeddings, as OpenAI has it."""
MAX_INPUT_CHARS = 20_000

_Said = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]
_Nothing = Annotated[list[Any], Field(max_length=0)]


def _truth(value: Any) -> Any:
    if not isinstance(value, bool):
        raise ValueError("Input should be a boolean")  # noqa: TRY004  # pydantic tells this one
    return value


_TRUTH = BeforeValidator(_truth)  # pydantic alone takes 0 for false here


class _Open(BaseModel):
    """Clients send fields of their own, and send back what they were told."""

    model_config = ConfigDict(extra="allow")


class QuestionPart(_Open):
    """A piece of a question; pieces are joined by line breaks."""

    type: Literal["text"] = Field(description="Kind of the part")
    text: Question = Field(
        description="What is asked", examples=["How many days of leave do I get?"]
    )


class TextPart(_Open):
    """A piece of a text."""

    type: Literal["text"] = Field(description="Kind of the part")
    text: _Said = Field(description="What is said", examples=["25 days [1]."])


class UserMessage(_Open):
    """A question."""

    role: Literal["user"] = Field(description="Who says it")
    content: Question | Annotated[list[QuestionPart], Field(min_length=1, max_length=MAX_PARTS)] = (
        Field(
            description="A text, or parts of type text: pictures and sound are not read",
            examples=["How many days of leave do I get?"],
        )
    )


class AssistantMessage(_Open):
    """An answer given earlier; its list of sources is no part of the history."""

    role: Literal["assistant"] = Field(description="Who says it")
    content: _Said | Annotated[list[TextPart], Field(max_length=MAX_PARTS)] | None = Field(
        None,
        description="The answer: a text, parts of type text, or null for none",
        examples=["25 days [1]."],
    )
    tool_calls: _Nothing | None = Field(
        None, description="Null or empty: no tools of the caller are called"
    )


class InstructionMessage(_Open):
    """Taken and not followed: answers are written, and checked, by Footnote's own rules."""

    role: Literal["system", "developer"] = Field(description="Who says it")
    content: _Said | Annotated[list[TextPart], Field(max_length=MAX_PARTS)] = Field(
        description="A text, or parts of type text; changes nothing",
        examples=["You are a helpful assistant."],
    )


Message = Annotated[
    UserMessage | AssistantMessage | InstructionMessage, Field(discriminator="role")
]

_ASKS_SOMETHING = {
    "contains": {"type": "object", "properties": {"role": {"const": "user"}}, "required": ["role"]}
}


class StreamOptions(_Open):
    """How is streamed."""

    include_usage: StrictBool | None = Field(
        None,
        description="Whether a chunk with the tokens comes before `[DONE]`; null: not",
        examples=[True],
    )


class TextFormat(_Open):
    """Answers are text."""

    type: Literal["text"] = Field(description="Kind of the answer")


class Wishes(Given):
    """What is Footnote's own in a request; clients send it as `extra_body`."""

    search: GivenSearch | None = Field(
        None,
        description="What to search in and how, null: as the settings say; `by_agent` follows"
        " from the model",
        examples=[{"scope": {"collections": ["HR"]}, "k": 8}],
    )


class ChatRequest(_Open):
    """A question, with what was said before it."""

    model: str = Field(
        max_length=200,
        json_schema_extra={"enum": [CHAIN, AGENT]},
        description="`footnote` searches once for the question made to stand alone; with"
        " `footnote-agent` an agent searches in as many steps as it wants, which"
        " needs a chat model",
        examples=[CHAIN],
    )
    messages: Annotated[list[Message], Field(json_schema_extra=_ASKS_SOMETHING)] = Field(
        min_length=1,
        max_length=MAX_MESSAGES,
        description="The last one of a user is the question, those before it are the history",
        examples=[[{"role": "user", "content": "How many days of leave do I get?"}]],
    )
    stream: StrictBool | None = Field(
        None,
        description="Whether the answer is sent as it is written, in chunks; null: not",
        examples=[False],
    )
    stream_options: StreamOptions | None = Field(
        None, description="How is streamed; changes nothing without `stream`", examples=[None]
    )
    footnote: Wishes | None = Field(
        None, description="What is Footnote's own; clients send it as `extra_body`"
    )
    n: int | None = Field(
        None, ge=1, le=1, description="How many answers: there is one", examples=[1]
    )
    response_format: TextFormat | None = Field(
        None, description="Text is the only form of an answer"
    )
    logprobs: Annotated[Literal[False], _TRUTH] | None = Field(None, description="There are none")
    tools: _Nothing | None = Field(
        None, description="Null or empty: no tools of the caller are called", examples=[[]]
    )
    functions: _Nothing | None = Field(None, description="Null or empty, as `tools`", examples=[[]])

    @property
    def wants_usage(self) -> bool:
        """Whether a stream shall end with the tokens."""
        return bool(self.stream_options and self.stream_options.include_usage)


_Input = Annotated[str, StringConstraints(min_length=1, max_length=MAX_INPUT_CHARS)]


class EmbeddingRequest(_Open):
    """Texts to be made vectors."""

    model: str = Field(
        min_length=1,
        max_length=200,
        description="The embedding among /v1/models: that of the library's index",
        examples=["multilingual-e5-small"],
    )
    input: _Input | Annotated[list[_Input], Field(min_length=1, max_length=MAX_INPUTS)] = Field(
        description="A text or several; tokens are not taken", examples=[["annual leave"]]
    )
    encoding_format: Literal["float", "base64"] | None = Field(
        None, description="`float`: numbers, as null; `base64`: float32 in little-endian order"
    )
    input_type: Literal["query", "passage"] | None = Field(
        None,
        description="What the texts are: some models embed questions (`query`) otherwise than"
        " passages, which null means",
        examples=["passage"],
    )
    dimensions: int | None = Field(
        None,
        ge=1,
        description="Null or as many as the model's vectors have: they are not shortened",
        examples=[384],
    )

    @property
    def texts(self) -> list[str]:
        """The input as a list."""
        return [self.input] if isinstance(self.input, str) else self.input
