"""Shares conversations by links, and withholds from their readers what they may not read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from domain import Principal, Turn
from services.access import Access
from services.secret_tokens import new_token
from storage.ledger.account_store import Accounts
from storage.ledger.conversation_link_store import ConversationLink, ConversationLinks

SHARED = "shared"
"""The parameter of the chat page's address with the token of a link."""
_RECORDED = frozenset({"search_documents", "ask_documents", "open_document"})
"""The tools of an agent whose evidence becomes sources of the turn."""


class SharedLink(NamedTuple):
    """The link to a conversation; `address` is that on the pages, "" without `public_url`."""

    token: str
    address: str
    created_at: datetime


class SharedConversation(NamedTuple):
    """A conversation as the reader of its link sees it.

    `title` is "" if anything is withheld, because it may repeat a question. `turns` are those of
    the shown branch up to the first one that is withheld; `withheld` is the number of the others.
    """

    owner: str
    title: str
    updated_at: datetime
    turns: Sequence[Turn]
    withheld: int


@dataclass(frozen=True)
class SharingService:
    """The links of conversations. Everyone who is known to the program may follow one.

    `public_url` is the address of the pages, "" if people do not sign in there.
    """

    links: ConversationLinks
    access: Access
    accounts: Accounts
    public_url: str = ""

    def share(self, principal: Principal, conversation_id: str) -> SharedLink:
        """The link of the user's conversation, which is new if there was none.

        Raises:
            NotFoundError: The user has no such conversation.
        """
        return self._shared(self.links.add(principal, conversation_id, new_token()))

    def link(self, principal: Principal, conversation_id: str) -> SharedLink | None:
        """The link of the user's conversation, if any.

        Raises:
            NotFoundError: The user has no such conversation.
        """
        link = self.links.find(principal, conversation_id)
        return None if link is None else self._shared(link)

    def unshare(self, principal: Principal, conversation_id: str) -> None:
        """Remove the link, which never works again; no effect if there is none.

        Raises:
            NotFoundError: The user has no such conversation.
        """
        self.links.remove(principal, conversation_id)

    def _shared(self, link: ConversationLink) -> SharedLink:
        address = f"{self.public_url}/?{SHARED}={link.token}" if self.public_url else ""
        return SharedLink(link.token, address, link.created_at)

    def follow(self, principal: Principal, token: str) -> SharedConversation:
        """The conversation behind a link, as far as the reader may see it.

        A turn is withheld with its question if a document of which it may tell was removed or is
        not readable, or if an agent used a tool that records no sources. So are the turns that
        follow it, because their history contains it. Turns without a search or an answer are left
        out: an introduction has examples from documents that only the owner may be able to read.

        Raises:
            NotFoundError: There is no such link, or its conversation was deleted.
        """
        conversation, turns, shown = self.links.follow(token)
        readable = self._readable(principal, turns)
        seen = [turn for turn in turns if turn.id in readable and turn.id in shown]
        return SharedConversation(
            self._name(conversation.user_id),
            conversation.title if len(readable) == len(turns) else "",
            conversation.updated_at,
            [_for_readers(turn) for turn in seen if turn.answer and turn.standalone_question],
            len(shown) - len(seen),
        )

    def _readable(self, principal: Principal, turns: Sequence[Turn]) -> set[str]:
        """The ids of the turns that are readable together with all turns before them."""
        used = {id_ for turn in turns for id_ in _used(turn)}
        documents = self.access.readable_documents(principal, used)
        readable = set[str]()
        for turn in turns:  # parents come before their children
            follows_readable = turn.parent_id is None or turn.parent_id in readable
            if follows_readable and _is_recorded(turn) and _used(turn) <= documents:
                readable.add(turn.id)
        return readable

    def _name(self, user_id: str) -> str:
        account = self.accounts.find(user_id)
        return (account and (account.name or account.email)) or user_id


def _used(turn: Turn) -> frozenset[str]:
    """`Turn.used`, and "" if the turn uses text of an unknown document."""
    cited = {one.document_id for one in turn.citations if one.passage_text}
    return turn.used | cited | {one.document_id for one in turn.sources}


def _is_recorded(turn: Turn) -> bool:
    return all(step.tool in _RECORDED for step in turn.steps)


def _for_readers(turn: Turn) -> Turn:
    """The turn without what only concerns its owner, and what depends on their permissions.

    It names no conversation, because its reader has no access to it except by the link.
    """
    return Turn(
        turn.id,
        "",
        turn.question,
        turn.state,
        turn.created_at,
        answer=turn.answer,
        model=turn.model,
        sources=tuple(replace(one, score=None, why=None, hits=()) for one in turn.sources),
        citations=turn.citations,
        unsupported_sentences=turn.unsupported_sentences,
    )
