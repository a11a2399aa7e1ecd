"""Labels: which passage is right for which question, each seen by the user who gave it."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import delete, insert, select

from domain import Principal
from errors import NotFoundError
from storage.database import Database
from storage.groups import in_groups
from storage.tables import LabelRow


class LabelOrigin(StrEnum):
    """Where a label was given."""

    LAB = "lab"
    CHAT = "chat"
    IMPORT = "import"
    API = "api"


@dataclass(frozen=True, slots=True)
class Label:
    """A passage judged for a question: grade 1 is right, 0 is not.

    Document, span and text are those of the passage as it was then. By them it is found again
    once the document was imported or split anew and has passages with other ids.
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


class Labels:
    """The labels of all users; every call sees those of its principal alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, principal: Principal, labels: Sequence[Label]) -> None:
        """Keep the labels; each replaces the one of its question and passage, if there is one.

        Of two for the same question and passage the later in the list is kept.
        """
        rows = {
            label_id(principal, label.question, label.passage_id): asdict(label) for label in labels
        }
        named = [{**row, "id": id_, "user_id": principal.user_id} for id_, row in rows.items()]
        with self._database.write() as session:
            for group in in_groups(list(rows)):
                session.execute(delete(LabelRow).where(LabelRow.id.in_(group)))
            if named:
                session.execute(insert(LabelRow), named)

    def remove(self, principal: Principal, question: str, passage_ids: Sequence[str]) -> None:
        """Take back the labels of these passages for the question; those not given stay so."""
        ids = [label_id(principal, question, passage_id) for passage_id in passage_ids]
        with self._database.write() as session:
            for group in in_groups(ids):
                session.execute(delete(LabelRow).where(LabelRow.id.in_(group)))

    def discard(self, principal: Principal, id_: str) -> None:
        """Take back the label of that id (see `label_id`).

        Raises:
            NotFoundError: The principal has given no such label.
        """
        wanted = delete(LabelRow).where(LabelRow.id == id_, LabelRow.user_id == principal.user_id)
        with self._database.write() as session:
            if session.scalar(wanted.returning(LabelRow.id)) is None:
                raise NotFoundError(f"there is no label {id_}: it was taken back already")

    def given(self, principal: Principal, question: str, passage_ids: Sequence[str]) -> list[Label]:
        """The labels of these passages for the question, in no order."""
        ids = [label_id(principal, question, passage_id) for passage_id in passage_ids]
        with self._database.read() as session:
            return [
                _label(row)
                for group in in_groups(ids)
                for row in session.scalars(select(LabelRow).where(LabelRow.id.in_(group)))
            ]

    def list(self, principal: Principal) -> Iterator[Label]:
        """All labels of the principal, oldest first."""
        wanted = (
            select(LabelRow)
            .where(LabelRow.user_id == principal.user_id)
            .order_by(LabelRow.created_at, LabelRow.id)
        )
        with self._database.read() as session:
            return iter([_label(row) for row in session.scalars(wanted)])


def label_id(principal: Principal, question: str, passage_id: str) -> str:
    """One for each user, question and passage: a question is too long for a key."""
    digest = hashlib.sha256()
    for part in (principal.user_id, question, passage_id):
        encoded = part.encode()
        digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()[:32]


def _label(row: LabelRow) -> Label:
    return Label(
        question=row.question,
        passage_id=row.passage_id,
        document_id=row.document_id,
        start=row.start,
        end=row.end,
        text=row.text,
        grade=row.grade,
        origin=LabelOrigin(row.origin),
        created_at=row.created_at,
    )
