"""Operations on conversations: list, create, read, change, delete, export, and import."""

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, File, Query, Response, UploadFile
from pydantic import ConfigDict, Field, StringConstraints

from api.authentication import AskCall, Call
from api.field_types import NOT_BLANK, ConversationId, Page, Paging, TurnId
from api.problems import NOT_FOUND, ProblemError, problem_responses
from api.rest.answer_schemas import RequestModel, ResponseModel, SearchChoice, SearchOptions, Turn
from domain.errors import InputError
from services.export.transcripts import TranscriptFormat, file_name
from services.texts import MAX_TITLE_CHARS, TITLE_CHARS

Title = Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=MAX_TITLE_CHARS)]


class Conversation(ResponseModel):
    """A conversation without its turns."""

    id: str = Field(examples=["0e9d8c7b6a5f4e3d2c1b0a9f8e7d6c5b"])
    """Id of the conversation"""
    title: str = Field(examples=["Annual leave"])
    """Title of the conversation"""
    created_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When the conversation was created, in UTC"""
    updated_at: datetime = Field(examples=["2026-11-21T10:00:02Z"])
    """When the latest turn was asked or ended, in UTC"""
    shown_turn_id: str = Field(examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of the last turn of the selected branch; empty before the first turn"""
    search: SearchChoice
    """Search options for the next question"""


class ConversationPage(Page[Conversation]):
    """Conversations, most recently active first."""


class ShownTurn(Turn):
    """A turn of the selected branch."""

    versions: list[str] = Field(examples=[["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"]])
    """Ids of the turn's versions, including itself, oldest first"""


class ConversationWithTurns(Conversation):
    """A conversation with the turns of its selected branch."""

    turns: list[ShownTurn]
    """The turns of the selected branch, in order"""


class NewConversation(RequestModel):
    """A conversation to create, without a question."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"title": "Annual leave"}]})

    title: Annotated[str, StringConstraints(pattern=NOT_BLANK, max_length=TITLE_CHARS)] = Field(
        examples=["Annual leave"]
    )
    """Title of the conversation"""
    search: SearchOptions = Field(default_factory=SearchOptions)
    """Search options for the questions"""


class ConversationChange(RequestModel):
    """Changes; omitted or null fields stay unchanged."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"title": "Leave"}, {"search": {"scope": {"labels": ["policy"]}}}]
        }
    )

    title: Title | None = Field(None, examples=["Leave"])
    """New title; null leaves it unchanged"""
    search: SearchOptions | None = None
    """Search options for the next question; null leaves them unchanged"""


class VersionRequest(RequestModel):
    """The version of a turn to select."""

    turn_id: str = Field(examples=["5b1f0f3e2d9c4b0f8a7e6d5c4b3a2910"])
    """Id of any turn of the conversation"""


SearchWords = Annotated[
    str,
    Query(
        max_length=1000,
        description="Only conversations whose title, questions, and answers contain all of these "
        "words, which may be parts of longer words; only the 16 longest words count",
        examples=["annual leave"],
    ),
]
Form = Annotated[
    TranscriptFormat,
    Query(
        description="`md` and `html` contain the selected branch, `json` contains all turns",
        examples=["md"],
    ),
]
ExportedFile = Annotated[
    UploadFile, File(description="A conversation exported as `json`, in UTF-8")
]
_TYPES = {
    TranscriptFormat.MARKDOWN: "text/markdown; charset=utf-8",
    TranscriptFormat.HTML: "text/html; charset=utf-8",
    TranscriptFormat.JSON: "application/json",
}
_FILES: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The file",
        "content": {
            "text/markdown": {"schema": {"type": "string"}, "example": "# Annual leave\n"},
            "text/html": {"schema": {"type": "string"}, "example": "<!DOCTYPE html>..."},
            "application/json": {
                "schema": {"type": "object"},
                "example": {
                    "footnote": "conversation",
                    "version": 1,
                    "conversation": {"title": "Annual leave"},
                    "turns": [],
                },
            },
        },
    }
}

router = APIRouter(prefix="/conversations", tags=["conversations"])


@router.get("")
def list_conversations(call: AskCall, paging: Paging, words: SearchWords = "") -> ConversationPage:
    """List conversations, most recently active first."""
    page = call.services.conversations.page(call.principal, words, **paging._asdict())
    return ConversationPage.of(page.items, page.total)


@router.post("", status_code=201)
def create_conversation(call: AskCall, body: NewConversation) -> Conversation:
    """Create a conversation without a question."""
    begun = call.services.conversations.begin(call.principal, body.title, body.search.choice())
    return Conversation.model_validate(begun)


@router.post("/import", status_code=201, responses=problem_responses(409, 413))
def import_conversation(call: AskCall, file: ExportedFile) -> Conversation:
    """Import a conversation exported as JSON, as a new conversation.

    Verified citations are checked again, against this library; those that it does not contain
    become `not verified here`.
    """
    try:
        conversation = call.services.conversations.import_json(call.principal, file.file.read())
    except InputError as error:
        raise ProblemError(409, str(error)) from error  # the file may be anything
    return Conversation.model_validate(conversation)


@router.get("/{conversation_id}", responses=NOT_FOUND)
def read_conversation(call: AskCall, conversation_id: ConversationId) -> ConversationWithTurns:
    """Read a conversation with the turns of its selected branch."""
    return _with_turns(call, conversation_id)


@router.patch("/{conversation_id}", responses=NOT_FOUND)
def change_conversation(
    call: AskCall, conversation_id: ConversationId, body: ConversationChange
) -> Conversation:
    """Rename a conversation, or change the search options for its next question."""
    if body.title is not None:
        call.services.conversations.rename(call.principal, conversation_id, body.title)
    if body.search is not None:
        call.services.conversations.remember(call.principal, conversation_id, body.search.choice())
    return Conversation.model_validate(
        call.services.conversations.get(call.principal, conversation_id)
    )


@router.delete("/{conversation_id}", status_code=204, responses=NOT_FOUND)
def delete_conversation(call: AskCall, conversation_id: ConversationId) -> None:
    """Delete a conversation; it can be restored for 30 days by default."""
    call.services.conversations.delete(call.principal, conversation_id)


@router.post("/{conversation_id}/restore", responses=NOT_FOUND)
def restore_conversation(call: AskCall, conversation_id: ConversationId) -> Conversation:
    """Restore a deleted conversation; one that is not deleted stays unchanged."""
    call.services.conversations.restore(call.principal, conversation_id)
    return Conversation.model_validate(
        call.services.conversations.get(call.principal, conversation_id)
    )


@router.get("/{conversation_id}/turns/{turn_id}", responses=NOT_FOUND)
def read_turn(call: AskCall, conversation_id: ConversationId, turn_id: TurnId) -> Turn:
    """Read a turn of any branch, even while it is being answered."""
    return Turn.model_validate(call.services.turns.get(call.principal, conversation_id, turn_id))


@router.put("/{conversation_id}/shown", responses=NOT_FOUND)
def show_version(
    call: AskCall, conversation_id: ConversationId, body: VersionRequest
) -> ConversationWithTurns:
    """Select the branch of a version, down to its newest turn."""
    call.services.turns.show(call.principal, conversation_id, body.turn_id)
    return _with_turns(call, conversation_id)


@router.get("/{conversation_id}/export", response_class=Response, responses=_FILES | NOT_FOUND)
def export_conversation(
    call: AskCall, conversation_id: ConversationId, format: Form = TranscriptFormat.MARKDOWN
) -> Response:
    """Download a conversation as a file."""
    title = call.services.conversations.get(call.principal, conversation_id).title
    name = quote(file_name(title, format))
    return Response(
        call.services.conversations.export(call.principal, conversation_id, format),
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}"},
        media_type=_TYPES[format],
    )


def _with_turns(call: Call, conversation_id: str) -> ConversationWithTurns:
    conversation = call.services.conversations.get(call.principal, conversation_id)
    turns = call.services.turns.list(call.principal, conversation_id)
    versions = call.services.turns.versions(call.principal, conversation_id)
    shown = [ShownTurn.from_objects(one, versions=versions[one.id]) for one in turns]
    return ConversationWithTurns.from_objects(conversation, turns=shown)
