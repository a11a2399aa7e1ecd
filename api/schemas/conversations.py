"""Conversations, as they are listed, read and changed."""

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from api.paging import Page
from api.schemas.answers import Given, GivenSearch, SearchChoice, Told
from api.schemas.texts import NOT_BLANK
from api.schemas.turns import Turn
from services.questions import MAX_TITLE_CHARS, TITLE_CHARS

Title = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=MAX_TITLE_CHARS)]


class Conversation(Told):
    """A conversation without its turns."""

    id: str = Field(
        description="Id of the conversation", examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"]
    )
    title: str = Field(description="What it is called", examples=["Annual leave"])
    created_at: datetime = Field(
        description="When it began, in UTC", examples=["2026-11-21T10:00:00Z"]
    )
    updated_at: datetime = Field(
        description="When its latest turn was asked or ended, in UTC",
        examples=["2026-11-21T10:00:02Z"],
    )
    shown_turn_id: str = Field(
        description='Id of the last turn of the branch that is shown, "" before the first',
        examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"],
    )
    search: SearchChoice = Field(description="How its next question is searched")


class ConversationPage(Page[Conversation]):
    """Some conversations, the one with the latest turn first."""


class ShownTurn(Turn):
    """A turn of the branch that is shown."""

    versions: list[str] = Field(
        description="The ids of its versions, itself among them, the oldest first",
        examples=[["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"]],
    )


class ConversationWithTurns(Conversation):
    """A conversation with the branch of it that is shown."""

    turns: list[ShownTurn] = Field(
        description="Those of the branch that is shown, from the first question on"
    )


class NewConversation(Given):
    """A conversation to be begun, without a question."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Annual leave"}]})

    title: Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=TITLE_CHARS)] = Field(
        description="What it is called", examples=["Annual leave"]
    )
    search: GivenSearch = Field(
        default_factory=GivenSearch, description="How its questions are searched"
    )


class ConversationChange(Given):
    """What changes; what is left out or null stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"title": "Leave"}, {"search": {"scope": {"labels": ["policy"]}}}]
        }
    )

    title: Title | None = Field(
        None, description="What it is called; null: as it is", examples=["Leave"]
    )
    search: GivenSearch | None = Field(
        None, description="How its next question is searched; null: as it is"
    )


class GivenVersion(Given):
    """The version of a turn to be shown."""

    turn_id: str = Field(
        description="Id of any turn of the conversation",
        examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"],
    )
