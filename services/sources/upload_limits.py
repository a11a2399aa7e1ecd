"""Limits what a person uploads per day, and what all of their uploaded files occupy."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from domain import Principal
from domain.errors import ConflictError, LimitError
from domain.messages import _
from storage.ledger.usage_store import DAY, DailyUpload, Uploads, UploadUse

_MIB = 2**20


@dataclass(frozen=True)
class UploadLimits:
    """The limits of each person, over all processes; None for no limit.

    The operator is not limited. Files of conversations count, too. The use is recorded even
    without limits, so that a limit set later counts the files that exist then.
    """

    uploads: Uploads
    per_day: int | None = None
    mb_per_day: int | None = None
    storage_mb: int | None = None

    def reserve(self, principal: Principal, location: str, sizes: Mapping[str, int]) -> str:
        """Reserve room for files, by key, of an upload to the box at `location`.

        Returns:
            The id for `Uploads.store` or `Uploads.release`.

        Raises:
            LimitError: The person has uploaded too much within the last day.
            ConflictError: The upload alone exceeds a limit, or the stored files do.
        """
        check = partial(self._check, principal, sizes)
        return self.uploads.reserve(principal.user_id, location, sizes, check)

    def _check(self, principal: Principal, sizes: Mapping[str, int], use: UploadUse) -> None:
        if principal.is_operator:
            return
        self._check_files(use.daily, len(sizes))
        size = sum(sizes.values())
        self._check_bytes(use.daily, size)
        self._check_storage(use.stored_bytes, size)

    def _check_files(self, daily: Sequence[DailyUpload], new: int) -> None:
        limit = self.per_day
        used = [(one.at, one.files) for one in daily]
        if limit is None or new + _total(used) <= limit:
            return
        if new > limit:
            raise ConflictError(
                _(
                    "This upload has {new} files, and you may upload {limit} a day"
                    " (FOOTNOTE_UPLOADS_PER_DAY). Nothing was stored. Upload fewer files."
                ).format(new=new, limit=limit)
            )
        seconds = _seconds_until(used, limit - new)
        raise LimitError(
            _(
                "This upload has {new} files, and you have uploaded {used} of the {limit} that you"
                " may upload within 24 hours (FOOTNOTE_UPLOADS_PER_DAY). Nothing was stored. Upload"
                " fewer files, or try again in {hours} h."
            ).format(new=new, used=_total(used), limit=limit, hours=_hours(seconds)),
            retry_after_s=seconds,
        )

    def _check_bytes(self, daily: Sequence[DailyUpload], new: int) -> None:
        limit = self.mb_per_day
        used = [(one.at, one.bytes) for one in daily]
        if limit is None or new + _total(used) <= limit * _MIB:
            return
        if new > limit * _MIB:
            raise ConflictError(
                _(
                    "This upload has {new} MiB, and you may upload {limit} MiB a day"
                    " (FOOTNOTE_UPLOAD_MB_PER_DAY). Nothing was stored. Upload fewer files."
                ).format(new=_mib(new), limit=limit)
            )
        seconds = _seconds_until(used, limit * _MIB - new)
        raise LimitError(
            _(
                "This upload has {new} MiB, and you have uploaded {used} of the {limit} MiB that"
                " you may upload within 24 hours (FOOTNOTE_UPLOAD_MB_PER_DAY). Nothing was stored."
                " Upload fewer files, or try again in {hours} h."
            ).format(new=_mib(new), used=_mib(_total(used)), limit=limit, hours=_hours(seconds)),
            retry_after_s=seconds,
        )

    def _check_storage(self, used: int, new: int) -> None:
        if self.storage_mb is not None and used + new > self.storage_mb * _MIB:
            raise ConflictError(
                _(
                    "This upload has {new} MiB, and your files use {used} of the {limit} MiB that"
                    " they may use (FOOTNOTE_UPLOAD_STORAGE_MB). Nothing was stored. Delete files,"
                    " or conversations with files, or ask an administrator for more storage."
                ).format(new=_mib(new), used=_mib(used), limit=self.storage_mb)
            )


_Amounts = Sequence[tuple[datetime, int]]
"""The times of uploads, oldest first, and their files or bytes."""


def _total(used: _Amounts) -> int:
    return sum(amount for _at, amount in used)


def _seconds_until(used: _Amounts, room: int) -> float:
    """The seconds until the uploads of the last day amount to at most `room`."""
    left = _total(used)
    for at, amount in used:
        left -= amount
        if left <= room:
            return max(1.0, (at + DAY - datetime.now(UTC)).total_seconds())
    return DAY.total_seconds()


def _hours(seconds: float) -> int:
    return math.ceil(seconds / 3600)


def _mib(count: int) -> str:
    return f"{count / _MIB:.1f}"
