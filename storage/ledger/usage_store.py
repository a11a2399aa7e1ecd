"""How many questions people asked within the last minute, and what they uploaded."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import InstrumentedAttribute, Session

from storage.ledger.database import Store, change_all
from storage.ledger.usage_tables import RecentQuestionRow, UploadedFileRow, UploadRow

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
_UNFINISHED = timedelta(hours=1)
"""After this time, an upload that is not stored has failed: its process must have died."""


class RecentQuestions(Store):
    """The questions of the last minute (a moving window), over all processes."""

    def add(self, user_id: str, limit: int) -> float:
        """Record a question, unless the person asked `limit` questions within the last minute.

        Returns:
            0 if it was recorded; otherwise, the seconds until the next question is possible.
        """
        at, own = RecentQuestionRow.at, RecentQuestionRow.user_id == user_id
        with self._database.write(synced=False) as session:
            now = datetime.now(UTC)  # after waiting for other writers
            session.execute(delete(RecentQuestionRow).where(~_within(at, now, MINUTE)))
            times = list(session.scalars(select(at).where(own).order_by(at)))
            if len(times) >= limit:
                return (times[-limit] + MINUTE - now).total_seconds()
            session.add(RecentQuestionRow(user_id=user_id, at=now))
            return 0.0


class DailyUpload(NamedTuple):
    """An upload within the last day: its time, the number of its files, and their bytes."""

    at: datetime
    files: int
    bytes: int


class UploadUse(NamedTuple):
    """What a person has uploaded: the uploads within the last day, oldest first, and all bytes.

    `stored_bytes` are those of files in boxes, and of other uploads that are being stored.
    """

    daily: list[DailyUpload]
    stored_bytes: int


class Uploads(Store):
    """Who uploaded what, over all processes."""

    def reserve(
        self,
        user_id: str,
        location: str,
        sizes: Mapping[str, int],
        check: Callable[[UploadUse], None],
    ) -> str:
        """Record an upload to a box that begins now, and return its id.

        Args:
            user_id: The person.
            location: The location of the box.
            sizes: The bytes of each file by its key.
            check: Receives what else the person has uploaded, without files that this upload
                replaces. If it raises an error, nothing is recorded.
        """
        with self._database.write() as session:
            now = datetime.now(UTC)
            session.execute(delete(UploadRow).where(~_within(UploadRow.at, now, DAY)))
            check(_use(session, user_id, location, sizes, now))
            row = UploadRow(
                id=uuid.uuid4().hex,
                user_id=user_id,
                at=now,
                files=len(sizes),
                bytes=sum(sizes.values()),
                is_stored=False,
            )
            session.add(row)
            return row.id

    def store(self, upload_id: str, user_id: str, location: str, sizes: Mapping[str, int]) -> None:
        """Record that the files of an upload are in the box, and whose they are."""
        with self._database.write() as session:
            row = session.get(UploadRow, upload_id)
            if row is not None:
                row.is_stored = True
            for key, size in sizes.items():
                session.merge(
                    UploadedFileRow(location=location, key=key, user_id=user_id, bytes=size)
                )

    def release(self, upload_id: str) -> None:
        """Forget an upload that has failed."""
        self._execute(delete(UploadRow).where(UploadRow.id == upload_id))

    def forget(self, location: str, keys: Iterable[str]) -> None:
        """Forget files that were deleted from a box."""
        own = delete(UploadedFileRow).where(UploadedFileRow.location == location)
        with self._database.write() as session:
            change_all(session, own, UploadedFileRow.key, list(keys))

    def forget_box(self, location: str) -> None:
        """Forget all files of a box that was deleted."""
        self._execute(delete(UploadedFileRow).where(UploadedFileRow.location == location))


def _use(
    session: Session, user_id: str, location: str, sizes: Mapping[str, int], now: datetime
) -> UploadUse:
    own = select(UploadRow).where(UploadRow.user_id == user_id).order_by(UploadRow.at)
    rows = list(session.scalars(own))
    pending = sum(row.bytes for row in rows if not row.is_stored and row.at > now - _UNFINISHED)
    daily = [DailyUpload(row.at, row.files, row.bytes) for row in rows]
    files = UploadedFileRow.user_id == user_id
    stored = session.scalar(select(func.sum(UploadedFileRow.bytes)).where(files)) or 0
    in_box = select(UploadedFileRow.key, UploadedFileRow.bytes).where(
        files, UploadedFileRow.location == location
    )
    replaced = sum(size for key, size in session.execute(in_box) if key in sizes)
    return UploadUse(daily, int(stored) - replaced + pending)


def _within(
    at: InstrumentedAttribute[datetime], now: datetime, window: timedelta
) -> ColumnElement[bool]:
    """Whether a time is in the window; a later one than now was set by a clock that was ahead."""
    return (at > now - window) & (at <= now)
