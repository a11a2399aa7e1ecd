"""The calls about changes: changes.getStartPageToken, changes.list."""

from collections.abc import Callable
from typing import Any

from tests.fakes.google_drive_calls import SHARED, Calls, of_drive, partly
from tests.fakes.google_drive_changes import Entry, InvalidTokenError
from tests.fakes.google_drive_items import Item
from tests.fakes.google_drive_wire import ApiError, flag, only_known, page_size
from tests.fakes.loopback import Answer, RefusedError, Request

_KNOWN = ("pageToken", "pageSize", "driveId", "spaces", *SHARED)
_CHOICES = ("includeRemoved", "includeCorpusRemovals", "restrictToMyDrive")
Tell = Callable[[Entry], dict[str, Any] | None]


class ChangeCalls(Calls):
    """The log of the account, or of a shared drive if there is a driveId."""

    def start(self, request: Request, account: str) -> Answer:
        only_known(request.params, "driveId", "supportsAllDrives")
        token = self.drive.log.token(self._log_of(request, account))
        body = {"kind": "drive#startPageToken", "startPageToken": token}
        return partly("StartPageToken", request, body)

    def since(self, request: Request, account: str) -> Answer:
        only_known(request.params, *_KNOWN, *_CHOICES)
        log = self._log_of(request, account)
        size = min(page_size(request.params), self.drive.page_limit)
        tell = self._telling(request, account, log)
        entries = self._entries(request, log, tell)
        changes = [tell(entry) for entry in entries[:size]]
        following = self.drive.log.token(log, entries[size].number if entries[size:] else None)
        name = "nextPageToken" if entries[size:] else "newStartPageToken"
        body = {"kind": "drive#changeList", "changes": changes, name: following}
        return partly("ChangeList", request, body)

    def _log_of(self, request: Request, account: str) -> str:
        drive_id = request.params.get("driveId", "")
        if drive_id and not flag(request.params, "supportsAllDrives"):
            raise RefusedError("driveId needs supportsAllDrives")
        return self.member_of(account, drive_id).id if drive_id else ""

    def _entries(self, request: Request, log: str, tell: Tell) -> list[Entry]:
        token = request.params.get("pageToken", "")
        try:
            return self.drive.log.since(token, log, lambda entry: tell(entry) is not None)
        except InvalidTokenError as error:
            [status] = error.args
            raise ApiError(status, "invalid", "Invalid Value", "pageToken") from error

    def _telling(self, request: Request, account: str, log: str) -> Tell:
        """The entry as this request sees it; None to omit it."""
        supports, everywhere = (flag(request.params, name) for name in SHARED)
        removed = flag(request.params, "includeRemoved", default=True)
        after = flag(request.params, "includeCorpusRemovals")
        at_home = flag(request.params, "restrictToMyDrive")
        if everywhere > supports or (log and not everywhere) or at_home:
            raise RefusedError(f"this needs {' and '.join(SHARED)}, and no restrictToMyDrive")

        def tell(entry: Entry) -> dict[str, Any] | None:
            item = entry.item
            is_elsewhere = item.drive is not None or item.is_shared_drive
            if not (log or account in entry.accounts) or (is_elsewhere and not everywhere):
                return None
            is_there = self._is_in(log, account, item)
            is_told = is_there or (after and self.drive.sees(account, item))
            if item.is_shared_drive:
                return _of_a_drive(entry, is_there=is_there)
            file = {"file": item.resource(account)} if is_told else {}
            return {**_of_a_file(entry, is_there), **file} if removed or is_there else None

        return tell

    def _is_in(self, log: str, account: str, item: Item) -> bool:
        """Whether that log still covers the item."""
        if item.is_shared_drive:
            return account in item.shared
        followed = item.drive is not None and item.drive.id == log
        return self.drive.sees(account, item) and (followed if log else account in item.followers)


def _of_a_drive(entry: Entry, *, is_there: bool) -> dict[str, Any]:
    change = _head(entry, "drive", is_there) | {"driveId": entry.item.id}
    return change | ({"drive": of_drive(entry.item)} if is_there else {})


def _of_a_file(entry: Entry, is_there: bool) -> dict[str, Any]:
    return _head(entry, "file", is_there) | {"fileId": entry.item.id}


def _head(entry: Entry, kind: str, is_there: bool) -> dict[str, Any]:
    change = {"kind": "drive#change", "changeType": kind, "removed": not is_there}
    return {**change, "time": entry.time}
