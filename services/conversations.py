"""The list of a person's conversations: found, renamed, deleted, exported, imported."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import NamedTuple

from domain import Conversation, Principal, SearchChoice
from errors import InputError
from services.questions import MAX_TITLE_CHARS, require_letters, title_of
from storage.conversation_list import ConversationList
from storage.conversations import Conversations

KEPT_DELETED = timedelta(days=30)
LISTED = 12


class Age(StrEnum):
    """How long ago a conversation had its latest turn, in calendar days of the reader."""

    TODAY = "today"
    YESTERDAY = "yesterday"
    WEEK = "7 days"
    OLDER = "older"


class ConversationPage(NamedTuple):
    """Some conversations, the one with the latest turn first, and how many there are in all."""

    items: list[Conversation]
    total: int


class Groups(list[tuple[Age, list[Conversation]]]):
    """Conversations by age; `total` counts also those beyond the limit."""

    total: int = 0


class ConversationService:
    """What a person does with whole conversations."""

    def __init__(self, conversations: ConversationList, begun: Conversations) -> None:
        """Args are kept, nothing is opened.

        Args:
            conversations: The list.
            begun: Where a conversation begins, as it does with a question, and is found by its id.
        """
        self._conversations = conversations
        self._begun = begun

    def begin(
        self, principal: Principal, title: str, search: SearchChoice | None = None
    ) -> Conversation:
        """A new conversation, to put files into or ask in.

        It is called by the first 60 characters of the title, and remembers the search.
        """
        readable = title.encode(errors="replace").decode()
        return self._begun.create(principal, title_of(readable), search)

    def get(self, principal: Principal, conversation_id: str) -> Conversation:
        """The conversation with that id.

        Raises:
            NotFoundError: The person has no such conversation.
        """
        return self._begun.get(principal, conversation_id)

    def grouped(
        self, principal: Principal, now: datetime, words: str = "", *, limit: int = LISTED
    ) -> Groups:
        """The latest conversations by age, the newest first; no group is empty.

        Args:
            principal: Whose conversations.
            now: The reader's time, with its zone: the day begins at the reader's midnight.
            words: As of `page`.
            limit: The most conversations listed.
        """
        found = self.page(principal, words, limit=limit)
        groups = Groups(
            (age, list(group))
            for age, group in groupby(found.items, lambda one: _age(one.updated_at, now))
        )
        groups.total = found.total
        return groups

    def page(
        self, principal: Principal, words: str = "", *, limit: int, offset: int = 0
    ) -> ConversationPage:
        """At most `limit` conversations after the first `offset`.

        Args:
            principal: Whose conversations.
            words: Only conversations in whose title, questions and answers all of these occur,
                in any case and width, also within longer words; "" for all.
            limit: The most conversations listed.
            offset: How many of the latest are left out.
        """
        if sought := words.split():
            found = self._conversations.holding(principal, sought)
            return ConversationPage(found[offset : offset + limit], len(found))
        listed = self._conversations.page(principal, limit=limit, offset=offset)
        return ConversationPage(listed, self._conversations.count(principal))

    def rename(self, principal: Principal, conversation_id: str, title: str) -> None:
        """Give it that title, without the spaces around it.

        Raises:
            InputError: The title is empty, longer than 200 characters or no text.
            NotFoundError: The person has no such conversation.
        """
        self._conversations.rename(principal, conversation_id, _checked_title(title))

    def remember(self, principal: Principal, conversation_id: str, search: SearchChoice) -> None:
        """Keep how the conversation's next question is searched.

        Raises:
            NotFoundError: The person has no such conversation.
        """
        self._conversations.remember(principal, conversation_id, search)

    def delete(self, principal: Principal, conversation_id: str) -> None:
        """Hide it from every other call; for 30 days `restore` brings it back.

        Raises:
            NotFoundError: The person has no such conversation.
        """
        self._conversations.delete(principal, conversation_id, datetime.now(UTC))

    def restore(self, principal: Principal, conversation_id: str) -> None:
        """Take its deletion back.

        Raises:
            NotFoundError: The person has no such conversation, or it was purged.
        """
        self._conversations.restore(principal, conversation_id)

    def purge(self, now: datetime) -> int:
        """Remove for good what anybody deleted more than 30 days ago; how many."""
        return self._conversations.purge(now - KEPT_DELETED)

    def export(self, principal: Principal, conversation_id: str, format: str) -> bytes:
        """The conversation as a file.

        Args:
            principal: Whose conversation.
            conversation_id: Which one.
            format: "md" or "html" for the branch that is shown, "json" for all of it.

        Raises:
            InputError: There is no such format.
            NotFoundError: The person has no such conversation.
        """
        from services.transcripts import TranscriptFormat, render  # loads what writes HTML

        if format not in {*TranscriptFormat}:
            raise InputError(f"There is no transcript {format!r}: choose md, html or json.")
        conversation, turns = self._conversations.whole(principal, conversation_id)
        return render(conversation, turns, TranscriptFormat(format))

    def import_json(self, principal: Principal, data: bytes) -> Conversation:
        """Keep a conversation that was exported as JSON, as a new one of the person.

        It is equal to the exported one but for its ids, its owner, and turns that were still
        being answered, which are incomplete here. Nothing is checked again: its citations say
        what was found where they were checked, by whoever made the file.

        Raises:
            InputError: That is no such file, or one of a newer Footnote; nothing is kept.
        """
        from services.transcript_json import read_json

        conversation, turns = read_json(data)
        owned = replace(conversation, user_id=principal.user_id)
        self._conversations.add(principal, owned, turns)
        return owned


def _age(moment: datetime, now: datetime) -> Age:
    days = (now.date() - moment.astimezone(now.tzinfo).date()).days
    if days <= 0:  # a clock set back must not make the newest the oldest
        return Age.TODAY
    if days == 1:
        return Age.YESTERDAY
    return Age.WEEK if days <= 7 else Age.OLDER


def _checked_title(title: str) -> str:
    given = title.strip()
    if not given:
        raise InputError("The title is empty: type a name for the conversation.")
    if len(given) > MAX_TITLE_CHARS:
        raise InputError(
            f"The title has {len(given):,} characters, the most is {MAX_TITLE_CHARS}: shorten it."
        )
    require_letters(given, "title")
    return given
