"""Operations on the links with which conversations are shared."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import AfterValidator, Field

from api.authentication import AskCall
from api.field_types import ConversationId
from api.problems import NOT_FOUND, ProblemError
from api.rest.answer_schemas import Citations, ResponseModel, Source, UnsupportedSentences
from domain import TurnState
from services.export.answer_text import safe_answer

_TOKEN = "5Rk0dXbQ1m2v3w4x5y6z7A8B9C0D1E2F3G4H5I6J7K8"  # noqa: S105  # an example
_NO_LINK = "This conversation is not shared: create a link with PUT."
Token = Annotated[str, Path(description="Token of a link", examples=[_TOKEN])]


class ConversationLink(ResponseModel):
    """The link to a conversation; everyone of the team who has it may follow it."""

    token: str = Field(examples=[_TOKEN])
    """What identifies the link: `GET /shared-conversations/{token}` follows it"""
    address: str = Field(examples=[f"https://docs.example.com/?shared={_TOKEN}"])
    """Address of the shared conversation on the pages; empty if people do not sign in there"""
    created_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When the link was created, in UTC"""


class SharedTurn(ResponseModel):
    """A question and its answer, without what only concerns the owner."""

    question: str = Field(examples=["How many days of leave do I get?"])
    """The question as the owner typed it"""
    answer: Annotated[str, AfterValidator(safe_answer)] = Field(
        examples=["New employees get 25 days [1]."]
    )
    """The answer in Markdown, as in a turn"""
    state: TurnState = Field(examples=["complete"])
    """State of the turn"""
    model: str = Field(examples=["built-in extractive answerer"])
    """Name of the model that answered"""
    sources: list[Source]
    """The passages used to answer, by number, without scores and explanations"""
    citations: Citations
    unsupported_sentences: UnsupportedSentences
    created_at: datetime = Field(examples=["2026-11-21T10:00:00Z"])
    """When the question was asked, in UTC"""


class SharedConversation(ResponseModel):
    """A conversation of another person, as far as the caller may read it."""

    owner: str = Field(examples=["Ada Lovelace"])
    """Name of the person who shares it"""
    title: str = Field(examples=["Annual leave"])
    """Title; empty if any turn of the conversation is withheld"""
    updated_at: datetime = Field(examples=["2026-11-21T10:00:02Z"])
    """When the latest turn was asked or ended, in UTC"""
    turns: list[SharedTurn]
    """The turns of the selected branch, in order, up to the first one that is withheld"""
    withheld: int = Field(examples=[0])
    """Number of the turns after these, because one of them uses documents that the caller may not
    read, or that are no longer in the library"""


router = APIRouter(tags=["conversations"])
_LINK = "/conversations/{conversation_id}/link"


@router.get(_LINK, responses=NOT_FOUND)
def read_conversation_link(call: AskCall, conversation_id: ConversationId) -> ConversationLink:
    """Read the link of a conversation; not found if it is not shared."""
    link = call.services.sharing.link(call.principal, conversation_id)
    if link is None:
        raise ProblemError(404, _NO_LINK)
    return ConversationLink.model_validate(link)


@router.put(_LINK, responses=NOT_FOUND)
def share_conversation(call: AskCall, conversation_id: ConversationId) -> ConversationLink:
    """Share a conversation by a link, which is new unless it has one."""
    return ConversationLink.model_validate(
        call.services.sharing.share(call.principal, conversation_id)
    )


@router.delete(_LINK, status_code=204, responses=NOT_FOUND)
def unshare_conversation(call: AskCall, conversation_id: ConversationId) -> None:
    """Remove the link of a conversation; no effect if it has none."""
    call.services.sharing.unshare(call.principal, conversation_id)


@router.get("/shared-conversations/{token}", responses=NOT_FOUND)
def read_shared_conversation(call: AskCall, token: Token) -> SharedConversation:
    """Read the conversation behind a link, as far as the caller may read its documents."""
    return SharedConversation.model_validate(call.services.sharing.follow(call.principal, token))
