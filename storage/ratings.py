"""Ratings: what people thought of answers, each seen by the user who gave it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from sqlalchemy import ColumnElement, select

from domain import Principal, Turn
from errors import NotFoundError
from storage.database import Database
from storage.tables import ConversationRow, RatingRow, TurnRow
from storage.turn_records import turn_of

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
    """A thumb on an answer: grade 1 is up, 0 is down; the reason is None where none was given."""

    turn_id: str
    grade: int
    reason: Reason | None
    comment: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Rated:
    """A rating beside what it is of: the question, and its conversation by id and title."""

    rating: Rating
    question: str
    conversation_id: str
    conversation: str


class Ratings:
    """The ratings of all users; every call sees those of its principal alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def turn(self, principal: Principal, turn_id: str) -> Turn:
        """The turn to be rated.

        Raises:
            NotFoundError: The principal has no such turn.
        """
        wanted = select(TurnRow).join(ConversationRow, _IN_CONVERSATION)
        with self._database.read() as session:
            row = session.scalar(wanted.where(TurnRow.id == turn_id, *_own(principal)))
            if row is None:
                raise NotFoundError(
                    f"There is no answer {turn_id}, or not any more: see its conversation."
                )
            return turn_of(row)

    def list(self, principal: Principal) -> list[Rated]:
        """All that the principal has given, newest first, save in deleted conversations."""
        columns = (RatingRow, TurnRow.question, ConversationRow.id, ConversationRow.title)
        given = (
            select(*columns)
            .join(TurnRow, TurnRow.id == RatingRow.turn_id)
            .join(ConversationRow, _IN_CONVERSATION)
            .where(RatingRow.user_id == principal.user_id, *_own(principal))
            .order_by(RatingRow.created_at.desc(), RatingRow.turn_id)
        )
        with self._database.read() as session:
            return [Rated(_rating(row), *rest) for row, *rest in session.execute(given)]

    def put(
        self, principal: Principal, turn_id: str, grade: int, reason: Reason | None, comment: str
    ) -> Rating:
        """Keep a rating in place of the one that the principal gave that turn before."""
        row = RatingRow(
            turn_id=turn_id,
            user_id=principal.user_id,
            grade=grade,
            reason=reason or "",
            comment=comment,
            created_at=datetime.now(UTC),
        )
        rating = _rating(row)
        with self._database.write() as session:
            session.merge(row)
        return rating

    def get(self, principal: Principal, turn_id: str) -> Rating | None:
        """What the principal thought of that turn; None where they have not said."""
        with self._database.read() as session:
            row = session.get(RatingRow, (turn_id, principal.user_id))
            return None if row is None else _rating(row)

    def remove(self, principal: Principal, turn_id: str) -> None:
        """Take a rating back; where there is none, nothing happens."""
        with self._database.write() as session:
            if row := session.get(RatingRow, (turn_id, principal.user_id)):
                session.delete(row)


def _own(principal: Principal) -> tuple[ColumnElement[bool], ...]:
    return (ConversationRow.user_id == principal.user_id, ConversationRow.deleted_at.is_(None))


def _rating(row: RatingRow) -> Rating:
    return Rating(
        turn_id=row.turn_id,
        grade=row.grade,
        reason=Reason(row.reason) if row.reason else None,
        comment=row.comment,
        created_at=row.created_at,
    )
