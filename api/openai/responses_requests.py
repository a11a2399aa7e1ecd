"""Requests of OpenAI's Responses API; most of their options are ignored, as in `ChatRequest`."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from api.field_types import NO_NUL, Question
from api.openai.openai_requests import (
    ASKS_SOMETHING,
    BOOLEAN,
    MAX_MESSAGES,
    AnswerRequest,
    LenientModel,
    Message,
    TextFormat,
    UserMessage,
)


class ResponseText(LenientModel):
    """Options of the text."""

    format: TextFormat | None = None
    """Format of the answer; only text is supported"""


class ResponseRequest(AnswerRequest):
    """A question with the messages before it."""

    input: (
        Question
        | Annotated[
            list[Message],
            Field(min_length=1, max_length=MAX_MESSAGES, json_schema_extra=ASKS_SOMETHING),
        ]
    ) = Field(examples=["How many days of leave do I get?"])
    """The question, or messages: the last one with the role `user` is the question, and the
    messages before it are the history"""
    instructions: Annotated[str, Field(pattern=NO_NUL)] | None = None
    """Accepted but ignored, like messages with the role `system`"""
    text: ResponseText | None = None
    """Options of the text"""
    previous_response_id: None = None
    """Not supported, because nothing is stored: send the earlier messages as `input`"""
    conversation: None = None
    """Not supported, because nothing is stored: send the earlier messages as `input`"""
    prompt: None = None
    """Not supported"""
    background: Annotated[Literal[False], BOOLEAN] | None = None
    """Not supported"""

    @property
    def messages(self) -> Sequence[Message]:
        """The input as messages."""
        if isinstance(self.input, str):
            return [UserMessage(role="user", content=self.input)]
        return self.input
