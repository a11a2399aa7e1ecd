"""Ratings of answers and labels of passages, visible only to the user who gave them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, delete, insert, select

from domain import Principal, Turn, digest_of
from domain.errors import NotFoundError
from domain.messages import _
from storage.ledger.columns import from_row
from storage.ledger.database import Store, change_all, scalars_with
from storage.ledger.ledger_tables import ConversationRow, LabelRow, RatingRow, TurnRow

_IN_CONVERSATION = ConversationRow.id == TurnRow.conversation_id


class Reason(StrEnum):
    """Why an answer was not good."""

    WRONG = "wrong"
    INCOMPLETE = "incomplete"
    WRONG_SOURCES = "wrong sources"
    NOT_FOUND = "not found"
    TOO_SLOW = "too slow"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating of an answer: grade 1 is thumbs up, 0 is thumbs down; the reason is optional."""

    turn_id: str
    grade: int
    reason: Reason | None
    comment: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating with its question and conversation (id and title)."""

    rating: Rating
    question: str
    conversation_id: str
    conversation: str


class Ratings(Store):
    """Ratings; each call sees only those of its principal."""

    def turn(self, principal: Principal, turn_id: str) -> Turn:
        """The turn to be rated.

        Raises:
            NotFoundError: The principal has no such turn.
        """
        query = select(TurnRow).join(ConversationRow, _IN_CONVERSATION)
        with self._database.read() as session:
            row = session.scalar(query.where(TurnRow.id == turn_id, *_own(principal)))
            if row is None:
                raise NotFoundError(
                    _("There is no answer {turn_id}, or its conversation was deleted.").format(
                        turn_id=turn_id
                    )
                )
            return from_row(Turn, row)

    def list(self, principal: Principal) -> list[Rated]:
        """All ratings of the principal, newest first, without those in deleted conversations."""
        columns = (RatingRow, TurnRow.question, ConversationRow.id, ConversationRow.title)
        query = (
            select(*columns)
            .join(TurnRow, TurnRow.id == RatingRow.turn_id)
            .join(ConversationRow, _IN_CONVERSATION)
            .where(RatingRow.user_id == principal.user_id, *_own(principal))
            .order_by(RatingRow.created_at.desc(), RatingRow.turn_id)
        )
        with self._database.read() as session:
            return [Rated(from_row(Rating, row), *rest) for row, *rest in session.execute(query)]

    def put(
        self, principal: Principal, turn_id: str, grade: int, reason: Reason | None, comment: str
    ) -> Rating:
        """Store a rating, replacing the principal's earlier one of that turn."""
        rating = Rating(turn_id, grade, reason, comment, datetime.now(UTC))
        stored = asdict(rating) | {"reason": reason or "", "user_id": principal.user_id}
        with self._database.write() as session:
            session.merge(RatingRow(**stored))
        return rating

    def get(self, principal: Principal, turn_id: str) -> Rating | None:
        """The principal's rating of a turn, if any."""
        with self._database.read() as session:
            row = session.get(RatingRow, (turn_id, principal.user_id))
            return None if row is None else from_row(Rating, row)

    def remove(self, principal: Principal, turn_id: str) -> None:
        """Delete a rating, if there is one."""
        with self._database.write() as session:
            if row := session.get(RatingRow, (turn_id, principal.user_id)):
                session.delete(row)


def _own(principal: Principal) -> tuple[ColumnElement[bool], ...]:
    return (ConversationRow.user_id == principal.user_id, ConversationRow.deleted_at.is_(None))


class LabelOrigin(StrEnum):
    """Where a label was created."""

    LAB = "lab"
    CHAT = "chat"
    IMPORT = "import"
    API = "api"


@dataclass(frozen=True, slots=True)
class Label:
    """A judgment of a passage for a question: grade 1 is relevant, 0 is not.

    Document, span, and text are those of the passage when it was labeled. They identify the passage
    after the document has been imported or split again and passage ids have changed.
    """

    question: str
    passage_id: str
    document_id: str
    start: int
    end: int
    text: str
    grade: int
    origin: LabelOrigin
    created_at: datetime


class Labels(Store):
    """Labels; each call sees only those of its principal."""

    def put(self, principal: Principal, labels: Sequence[Label]) -> None:
        """Store labels; each replaces an earlier label of the same question and passage.

        If `labels` contains several for the same question and passage, the last one wins.
        """
        rows = {
            label_id(principal, label.question, label.passage_id): asdict(label) for label in labels
        }
        values = [{**row, "id": id_, "user_id": principal.user_id} for id_, row in rows.items()]
        with self._database.write() as session:
            change_all(session, delete(LabelRow), LabelRow.id, list(rows))
            if values:
                session.execute(insert(LabelRow), values)

    def remove(self, principal: Principal, question: str, passage_ids: Sequence[str]) -> None:
        """Delete the labels of these passages for a question; missing ones are ignored."""
        ids = [label_id(principal, question, passage_id) for passage_id in passage_ids]
        with self._database.write() as session:
            change_all(session, delete(LabelRow), LabelRow.id, ids)

    def discard(self, principal: Principal, id_: str) -> None:
        """Delete the label with this id (see `label_id`).

        Raises:
            NotFoundError: The principal has no such label.
        """
        own = (LabelRow.id == id_, LabelRow.user_id == principal.user_id)
        statement = delete(LabelRow).where(*own)
        with self._database.write() as session:
            if session.scalar(statement.returning(LabelRow.id)) is None:
                raise NotFoundError(
                    _("there is no label {id}: it was already deleted").format(id=id_)
                )

    def for_passages(
        self, principal: Principal, question: str, passage_ids: Sequence[str]
    ) -> list[Label]:
        """The labels of these passages for a question, unordered."""
        ids = [label_id(principal, question, passage_id) for passage_id in passage_ids]
        with self._database.read() as session:
            rows = scalars_with(session, select(LabelRow), LabelRow.id, ids)
            return [from_row(Label, row) for row in rows]

    def list(self, principal: Principal) -> Iterator[Label]:
        """All labels of the principal, oldest first."""
        query = (
            select(LabelRow)
            .where(LabelRow.user_id == principal.user_id)
            .order_by(LabelRow.created_at, LabelRow.id)
        )
        return iter(self._each(Label, query))


def label_id(principal: Principal, question: str, passage_id: str) -> str:
    """A digest of user, question, and passage, because a question is too long for a key."""
    return digest_of(principal.user_id, question, passage_id)
