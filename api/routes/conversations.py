"""Conversations: listed, begun, read, changed, and as files."""

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, File, Query, Response, UploadFile

from api.access import Asker, OpenServices
from api.paging import FIRST, Limit, Offset
from api.problems import ProblemError, problem_responses
from api.routes.ids import ConversationId, TurnId
from api.schemas.conversations import (
    Conversation,
    ConversationChange,
    ConversationPage,
    ConversationWithTurns,
    GivenVersion,
    NewConversation,
    ShownTurn,
)
from api.schemas.turns import Turn
from bootstrap import Services
from domain import Principal
from errors import InputError
from services.transcripts import TranscriptFormat, file_name

Words = Annotated[
    str,
    Query(
        max_length=1000,
        description="Only conversations in whose title, questions and answers all of these words "
        "occur, also within longer ones",
        examples=["annual leave"],
    ),
]
Form = Annotated[
    TranscriptFormat,
    Query(
        description="`md` and `html` hold the branch that is shown, `json` all turns",
        examples=["md"],
    ),
]
Given = Annotated[UploadFile, File(description="What an export as `json` gave, in UTF-8")]
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
_OF_ONE = problem_responses(404)


@router.get("")
def list_conversations(
    services: OpenServices,
    principal: Asker,
    words: Words = "",
    limit: Limit = FIRST,
    offset: Offset = 0,
) -> ConversationPage:
    """List conversations, the one with the latest turn first."""
    found = services.conversations.page(principal, words, limit=limit, offset=offset)
    items = [Conversation.model_validate(one) for one in found.items]
    return ConversationPage(items=items, total=found.total)


@router.post("", status_code=201)
def create_conversation(
    services: OpenServices, principal: Asker, given: NewConversation
) -> Conversation:
    """Begin a conversation before anything is asked in it."""
    begun = services.conversations.begin(principal, given.title, given.search.choice())
    return Conversation.model_validate(begun)


@router.post("/import", status_code=201, responses=problem_responses(409, 413))
def import_conversation(services: OpenServices, principal: Asker, file: Given) -> Conversation:
    """Keep a conversation that was exported as JSON, as a new one.

    Nothing is checked again: its citations say what was found where they were checked.
    """
    try:
        kept = services.conversations.import_json(principal, file.file.read())
    except InputError as error:
        raise ProblemError(409, str(error)) from error  # any file may be sent, not any is one
    return Conversation.model_validate(kept)


@router.get("/{conversation_id}", responses=_OF_ONE)
def read_conversation(
    services: OpenServices, principal: Asker, conversation_id: ConversationId
) -> ConversationWithTurns:
    """Read a conversation with the turns of the branch that is shown."""
    return _with_turns(services, principal, conversation_id)


@router.patch("/{conversation_id}", responses=_OF_ONE)
def change_conversation(
    services: OpenServices,
    principal: Asker,
    conversation_id: ConversationId,
    given: ConversationChange,
) -> Conversation:
    """Rename a conversation, or say how its next question is searched."""
    if given.title is not None:
        services.conversations.rename(principal, conversation_id, given.title)
    if given.search is not None:
        services.conversations.remember(principal, conversation_id, given.search.choice())
    return Conversation.model_validate(services.conversations.get(principal, conversation_id))


@router.delete("/{conversation_id}", status_code=204, responses=_OF_ONE)
def delete_conversation(
    services: OpenServices, principal: Asker, conversation_id: ConversationId
) -> None:
    """Delete a conversation; for 30 days it can be restored."""
    services.conversations.delete(principal, conversation_id)


@router.post("/{conversation_id}/restore", responses=_OF_ONE)
def restore_conversation(
    services: OpenServices, principal: Asker, conversation_id: ConversationId
) -> Conversation:
    """Take the deletion of a conversation back; one that is not deleted stays as it is."""
    services.conversations.restore(principal, conversation_id)
    return Conversation.model_validate(services.conversations.get(principal, conversation_id))


@router.get("/{conversation_id}/turns/{turn_id}", responses=_OF_ONE)
def read_turn(
    services: OpenServices, principal: Asker, conversation_id: ConversationId, turn_id: TurnId
) -> Turn:
    """Read a turn of any branch, such as one that is still being answered."""
    return Turn.model_validate(services.turns.get(principal, conversation_id, turn_id))


@router.put("/{conversation_id}/shown", responses=_OF_ONE)
def show_version(
    services: OpenServices, principal: Asker, conversation_id: ConversationId, given: GivenVersion
) -> ConversationWithTurns:
    """Show the branch of a version, down to the newest turn that came of it."""
    services.turns.show(principal, conversation_id, given.turn_id)
    return _with_turns(services, principal, conversation_id)


@router.get("/{conversation_id}/export", response_class=Response, responses=_FILES | _OF_ONE)
def export_conversation(
    services: OpenServices,
    principal: Asker,
    conversation_id: ConversationId,
    format: Form = TranscriptFormat.MARKDOWN,
) -> Response:
    """Download a conversation as a file."""
    title = services.conversations.get(principal, conversation_id).title
    name = quote(file_name(title, format))
    return Response(
        services.conversations.export(principal, conversation_id, format),
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}"},
        media_type=_TYPES[format],
    )


def _with_turns(
    services: Services, principal: Principal, conversation_id: str
) -> ConversationWithTurns:
    conversation = services.conversations.get(principal, conversation_id)
    turns = services.turns.list(principal, conversation_id)
    versions = services.turns.versions(principal, conversation_id)
    return ConversationWithTurns(
        **Conversation.model_validate(conversation).__dict__,
        turns=[
            ShownTurn(**Turn.model_validate(one).__dict__, versions=list(versions[one.id]))
            for one in turns
        ],
    )
