"""A user's conversations and turns, and what their answers cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from domain import EXTRACTIVE, Action, Conversation, Principal, SearchChoice, Turn
from domain.errors import InputError
from domain.language.sanitization import sanitize
from domain.messages import _
from services.access import Access
from services.audit_service import AuditService
from services.chat.withheld_turns import readable_turns
from services.texts import MAX_TITLE_CHARS, require_letters, title_of
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations

if TYPE_CHECKING:
    from services.export.imported_evidence import ImportedEvidence

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens as reported by the model's server, and their cost.

    `amount` is None if the price of any answer is unknown: no price is configured, another model
    wrote it, or its server reported no tokens. The built-in answerer costs nothing.
    """

    input_tokens: int
    output_tokens: int
    amount: float | None
    currency: str


@dataclass(frozen=True)
class CostService:
    """Computes the tokens and cost of turns, with the prices per million tokens of one model.

    A price is None if it is not configured.
    """

    model: str
    input: float | None = None
    output: float | None = None
    currency: str = "USD"

    def of(self, turns: Sequence[Turn]) -> Cost:
        """The total tokens and cost of these turns."""
        amounts = [self._amount(turn) for turn in turns]
        prices = [amount for amount in amounts if amount is not None]
        return Cost(
            input_tokens=sum(turn.usage.get("input_tokens", 0) for turn in turns),
            output_tokens=sum(turn.usage.get("output_tokens", 0) for turn in turns),
            amount=sum(prices) if len(prices) == len(amounts) else None,
            currency=self.currency,
        )

    def _amount(self, turn: Turn) -> float | None:
        if turn.model == EXTRACTIVE:
            return 0.0
        if turn.model != self.model or not turn.usage:
            return None
        if self.input is None or self.output is None:
            return None
        tokens_in = turn.usage.get("input_tokens", 0)
        tokens_out = turn.usage.get("output_tokens", 0)
        return (tokens_in * self.input + tokens_out * self.output) / _MILLION


@dataclass(frozen=True)
class TurnService:
    """Reads stored turns, which `ChatService` writes, and switches between their versions.

    Every call raises NotFoundError if the user has no such conversation. Answers whose evidence the
    user may no longer read are withheld.
    """

    conversations: Conversations
    access: Access

    def get(self, principal: Principal, conversation_id: str, turn_id: str) -> Turn:
        """One turn of any branch, in its current state.

        Raises:
            NotFoundError: The conversation has no such turn.
        """
        turn = self.conversations.turn(principal, conversation_id, turn_id)
        return readable_turns(self.access, principal, [turn])[0]

    def list(self, principal: Principal, conversation_id: str) -> list[Turn]:
        """The turns of the displayed branch, the oldest first."""
        turns = self.conversations.turns(principal, conversation_id)
        return readable_turns(self.access, principal, turns)

    def versions(self, principal: Principal, conversation_id: str) -> Mapping[str, tuple[str, ...]]:
        """The ids of all versions of each turn, itself included, oldest first, for all branches."""
        return self.conversations.versions(principal, conversation_id)

    def show(self, principal: Principal, conversation_id: str, turn_id: str) -> None:
        """Switch to the branch of that version, down to its newest descendant.

        Raises:
            NotFoundError: The conversation has no such turn.
        """
        self.conversations.show(principal, conversation_id, turn_id)


DELETED_RETENTION = timedelta(days=30)
"""The default, which the docs and API descriptions state, too: search for "30 days"."""
LIST_LIMIT = 12
MAX_WORDS = 16


class Age(StrEnum):
    """The age of a conversation's latest turn in the reader's calendar days."""

    TODAY = "today"
    YESTERDAY = "yesterday"
    WEEK = "7 days"
    OLDER = "older"


class ConversationPage(NamedTuple):
    """A page of conversations, most recent first, and the total number."""

    items: list[Conversation]
    total: int


class Groups(list[tuple[Age, list[Conversation]]]):
    """Conversations by age; `total` includes those beyond the limit."""

    total: int = 0


@dataclass(frozen=True)
class ConversationService:
    """Lists, renames, deletes, exports, and imports conversations.

    `deleted_retention` is how long a deletion can be undone. `inactive_retention` is how long a
    conversation without new questions is kept; None is forever.
    """

    conversations: ConversationList
    store: Conversations
    evidence: "ImportedEvidence"
    access: Access
    audit: AuditService
    deleted_retention: timedelta = DELETED_RETENTION
    inactive_retention: timedelta | None = None

    def begin(
        self, principal: Principal, title: str, search: SearchChoice | None = None
    ) -> Conversation:
        """Create a conversation titled with the first 60 characters, and store its search."""
        return self.store.create(principal, title_of(sanitize(title)), search)

    def get(self, principal: Principal, conversation_id: str) -> Conversation:
        """The conversation with that id.

        Raises:
            NotFoundError: The user has no such conversation.
        """
        return self.store.get(principal, conversation_id)

    def grouped(
        self, principal: Principal, now: datetime, words: str = "", *, limit: int = LIST_LIMIT
    ) -> Groups:
        """The latest conversations by age, newest first; no group is empty.

        Args:
            principal: The owner.
            now: The reader's time with its zone; days begin at the reader's midnight.
            words: See `page`.
            limit: The maximum number of conversations.
        """
        page = self.page(principal, words, limit=limit)
        groups = Groups(
            (age, list(group))
            for age, group in groupby(page.items, lambda one: _age(one.updated_at, now))
        )
        groups.total = page.total
        return groups

    def page(
        self, principal: Principal, words: str = "", *, limit: int, offset: int = 0
    ) -> ConversationPage:
        """At most `limit` conversations after the first `offset`, most recent first.

        Args:
            principal: The owner.
            words: Select conversations whose title, questions, and answers contain all of these,
                even inside longer words, ignoring case and width; "" selects all. Only the
                `MAX_WORDS` longest ones count, because each takes a search. Turns that are withheld
                from the owner don't count, not even their questions.
            limit: The maximum number of conversations.
            offset: The number of conversations to skip.
        """
        terms = sorted(dict.fromkeys(words.split()), key=len, reverse=True)[:MAX_WORDS]
        withheld = self._withheld(principal, terms)
        found = self.conversations.page(principal, terms, withheld, limit=limit, offset=offset)
        if found and len(found) < limit:  # the last page: its number of entries tells the total
            return ConversationPage(found, offset + len(found))
        return ConversationPage(found, self.conversations.count(principal, terms, withheld))

    def _withheld(self, principal: Principal, words: Sequence[str]) -> list[str]:
        """The ids of those turns with any of the words that are withheld; see `readable_turns`."""
        if not words or principal.is_operator:
            return []
        used = self.conversations.basis(principal, words)
        unreadable = self.access.unreadable(principal, frozenset[str]().union(*used.values()))
        return [turn_id for turn_id, ids in used.items() if not unreadable.isdisjoint(ids)]

    def rename(self, principal: Principal, conversation_id: str, title: str) -> None:
        """Change the title; surrounding spaces are removed.

        Raises:
            InputError: The title is empty, longer than 200 characters, or not text.
            NotFoundError: The user has no such conversation.
        """
        self.conversations.rename(principal, conversation_id, _checked_title(title))

    def remember(self, principal: Principal, conversation_id: str, search: SearchChoice) -> None:
        """Store the search choice for the conversation's next question.

        Raises:
            NotFoundError: The user has no such conversation.
        """
        self.conversations.remember(principal, conversation_id, search)

    def delete(self, principal: Principal, conversation_id: str) -> None:
        """Hide the conversation from all other calls; `restore` undoes this until it is purged.

        Raises:
            NotFoundError: The user has no such conversation.
        """
        self.conversations.delete(principal, conversation_id, datetime.now(UTC))
        self.audit.record(principal, Action.CONVERSATION_DELETED, conversation_id)

    def restore(self, principal: Principal, conversation_id: str) -> None:
        """Undo a deletion.

        Raises:
            NotFoundError: The user has no such conversation, or it was purged.
        """
        self.conversations.restore(principal, conversation_id)

    def purge(self, now: datetime) -> int:
        """Permanently remove conversations whose retention is over; returns their number."""
        inactive = None if self.inactive_retention is None else now - self.inactive_retention
        return self.conversations.purge(now - self.deleted_retention, inactive)

    def export(
        self,
        principal: Principal,
        conversation_id: str,
        format: str,
        *,
        language: str = "en",
        translate: Callable[[str], str] = str,
    ) -> bytes:
        """The contents of a file with the conversation.

        Args:
            principal: The owner.
            conversation_id: The conversation.
            format: "md" or "html" for the displayed branch, "json" for all branches.
            language: The language of the program's own words in HTML.
            translate: Returns a message in that language.

        Raises:
            InputError: The format is unknown.
            NotFoundError: The user has no such conversation.
        """
        from services.export.transcripts import TranscriptFormat, render  # loads the HTML renderer

        if format not in {*TranscriptFormat}:
            raise InputError(
                _("There is no transcript format {format}: choose md, html, or json.").format(
                    format=repr(format)
                )
            )
        conversation, turns = self.conversations.whole(principal, conversation_id)
        chosen = TranscriptFormat(format)
        turns = readable_turns(self.access, principal, turns)
        return render(conversation, turns, chosen, language=language, translate=translate)

    def import_json(self, principal: Principal, data: bytes) -> Conversation:
        """Import a conversation exported as JSON as a new one of the user.

        It gets new ids and the user as its owner; turns that were still running are incomplete.
        Verified citations are checked again (see `ImportedEvidence`).

        Raises:
            InputError: The file is not an export, or comes from a newer Footnote.
        """
        from services.export.transcript_json import read_json

        conversation, turns = read_json(data)
        owned = replace(conversation, user_id=principal.user_id)
        checked = self.evidence.check(principal, turns)
        complete = [replace(one, basis=tuple(sorted(one.used))) for one in checked]
        self.conversations.add(principal, owned, complete)
        return owned


def _age(moment: datetime, now: datetime) -> Age:
    days = (now.date() - moment.astimezone(now.tzinfo).date()).days
    if days <= 0:  # a clock that was set back must not make the newest the oldest
        return Age.TODAY
    if days == 1:
        return Age.YESTERDAY
    return Age.WEEK if days <= 7 else Age.OLDER


def _checked_title(title: str) -> str:
    title = title.strip()
    if not title:
        raise InputError(_("The title is empty: enter a title for the conversation."))
    if len(title) > MAX_TITLE_CHARS:
        raise InputError(
            _(
                "The title has {length} characters; the limit is {max_title_chars}. Shorten it."
            ).format(length=f"{len(title):,}", max_title_chars=MAX_TITLE_CHARS)
        )
    require_letters(title, _("title"))
    return title
