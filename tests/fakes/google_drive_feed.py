"""The calls about changes: changes.getStartPageToken, changes.list."""

from collections.abc import Callable
from typing import Any

from tests.fakes.google_drive_calls import SHARED, Calls, drive_resource, partial_answer
from tests.fakes.google_drive_changes import Entry, InvalidTokenError
from tests.fakes.google_drive_items import Item
from tests.fakes.google_drive_wire import ApiError, flag, only_known, page_size
from tests.fakes.loopback import Answer, RefusedError, Request

_KNOWN = ("pageToken", "pageSize", "driveId", "spaces", *SHARED)
_CHOICES = ("includeRemoved", "includeCorpusRemovals", "restrictToMyDrive")
Render = Callable[[Entry], dict[str, Any] | None]


class ChangeCalls(Calls):
    """The log of the account, or of a shared drive if there is a driveId."""

    def start(self, request: Request, account: str) -> Answer:
        only_known(request.params, "driveId", "supportsAllDrives")
        token = self.drive.log.token(self._log_of(request, account))
        body = {"kind": "drive#startPageToken", "startPageToken": token}
        return partial_answer("StartPageToken", request, body)

    def since(self, request: Request, account: str) -> Answer:
        only_known(request.params, *_KNOWN, *_CHOICES)
        log = self._log_of(request, account)
        size = min(page_size(request.params), self.drive.page_limit)
        render = self._renderer(request, account, log)
        entries = self._entries(request, log, render)
        changes = [render(entry) for entry in entries[:size]]
        next_token = self.drive.log.token(log, entries[size].number if entries[size:] else None)
        name = "nextPageToken" if entries[size:] else "newStartPageToken"
        body = {"kind": "drive#changeList", "changes": changes, name: next_token}
        return partial_answer("ChangeList", request, body)

    def _log_of(self, request: Request, account: str) -> str:
        drive_id = request.params.get("driveId", "")
        if drive_id and not flag(request.params, "supportsAllDrives"):
            raise RefusedError("driveId needs supportsAllDrives")
        return self.member_of(account, drive_id).id if drive_id else ""

    def _entries(self, request: Request, log: str, render: Render) -> list[Entry]:
        token = request.params.get("pageToken", "")
        try:
            return self.drive.log.since(token, log, lambda entry: render(entry) is not None)
        except InvalidTokenError as error:
            [status] = error.args
            raise ApiError(status, "invalid", "Invalid Value", "pageToken") from error

    def _renderer(self, request: Request, account: str, log: str) -> Render:
        """The entry as this request sees it; None to omit it."""
        supports, everywhere = (flag(request.params, name) for name in SHARED)
        removed = flag(request.params, "includeRemoved", default=True)
        after = flag(request.params, "includeCorpusRemovals")
        at_home = flag(request.params, "restrictToMyDrive")
        if everywhere > supports or (log and not everywhere) or at_home:
            raise RefusedError(f"this needs {' and '.join(SHARED)}, and no restrictToMyDrive")

        def render(entry: Entry) -> dict[str, Any] | None:
            item = entry.item
            is_in_shared_drive = item.drive is not None or item.is_shared_drive
            if not (log or account in entry.accounts) or (is_in_shared_drive and not everywhere):
                return None
            is_visible = self._is_in(log, account, item)
            has_file = is_visible or (after and self.drive.sees(account, item))
            if item.is_shared_drive:
                return _drive_change(entry, is_visible=is_visible)
            file = {"file": item.resource(account)} if has_file else {}
            return {**_file_change(entry, is_visible), **file} if removed or is_visible else None

        return render

    def _is_in(self, log: str, account: str, item: Item) -> bool:
        """Whether that log still covers the item."""
        if item.is_shared_drive:
            return account in item.shared
        is_in_drive = item.drive is not None and item.drive.id == log
        return self.drive.sees(account, item) and (
            is_in_drive if log else account in item.followers
        )


def _drive_change(entry: Entry, *, is_visible: bool) -> dict[str, Any]:
    change = _head(entry, "drive", is_visible) | {"driveId": entry.item.id}
    return change | ({"drive": drive_resource(entry.item)} if is_visible else {})


def _file_change(entry: Entry, is_visible: bool) -> dict[str, Any]:
    return _head(entry, "file", is_visible) | {"fileId": entry.item.id}


def _head(entry: Entry, kind: str, is_visible: bool) -> dict[str, Any]:
    change = {"kind": "drive#change", "changeType": kind, "removed": not is_visible}
    return {**change, "time": entry.time}
