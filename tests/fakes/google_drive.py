"""A strict Google Drive on loopback: the calls of API version 3 that readers need, and sign-in.

Members of a shared drive find changes in it only in that drive's own log (`driveId`), as with
Google: see google_drive_changes.py.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.fakes.google_drive_changes import Entry, InvalidTokenError
from tests.fakes.google_drive_export import exported
from tests.fakes.google_drive_fields import partial
from tests.fakes.google_drive_items import APP, Doc, Item, Sheet, Slides, person, stamp
from tests.fakes.google_drive_people import IMPORTER, PERSON, READ_ONLY, People, may_read
from tests.fakes.google_drive_query import Query
from tests.fakes.google_drive_site import DriveSite
from tests.fakes.google_drive_wire import (
    DRIVE_FAULTS,
    ApiError,
    DriveFault,
    fault_error,
    flag,
    not_found,
    only_known,
    page_size,
    sent,
)
from tests.fakes.loopback import Answer, Loopback, RefusedError, Request, json_answer

__all__ = [
    "DRIVE_FAULTS",
    "IMPORTER",
    "PERSON",
    "READ_ONLY",
    "Doc",
    "DriveFault",
    "FakeDrive",
    "Item",
    "Sheet",
    "Slides",
]

_BASE = "/drive/v3"
_SHARED = ("supportsAllDrives", "includeItemsFromAllDrives")
_ORDERS = {
    "name": lambda item: item.name.lower(),
    "modifiedTime": lambda item: item.modified,
    "createdTime": lambda item: item.created,
    "folder": lambda item: item.mime != APP + "folder",
}


class FakeDrive(DriveSite, Loopback):
    """`url` is what the client takes as its address; `people` signs accounts in.

    `page_limit` is the most a page holds, however much is asked for, as Drive is free to do.
    `incomplete` are the ids of shared drives that a search of all drives says it left out.
    """

    def __init__(self, seed: int = 0) -> None:
        Loopback.__init__(self)
        DriveSite.__init__(self, seed)
        self.people = People()
        self.page_limit = 1000
        self.export_limit = 10 * 2**20
        self.incomplete: set[str] = set()
        self._pages: dict[str, tuple[tuple, list[Item]]] = {}
        self._calls: dict[str, Callable[[Request, str, str], Answer]] = {
            r"files": self._files,
            r"files/([\w-]+)": self._file,
            r"files/([\w-]+)/export": self._export,
            r"changes/startPageToken": self._start,
            r"changes": self._changes,
            r"drives": self._drives,
            r"drives/([\w-]+)": self._drive,
            r"about": self._about,
        }

    @property
    def url(self) -> str:
        return f"{self.origin}{_BASE}/"

    def plug(self) -> None:
        super().plug()
        self.people.origin = self.origin

    def service_account(self, account: str = IMPORTER) -> dict[str, str]:
        """The key file of an account, whose tokens this very server gives."""
        return self.people.service_account(account)

    def calls(self) -> Counter[str]:
        """How often each call was asked, ids left out: "files", "files/ID/export" ..."""
        return Counter(
            re.sub(r"(files|drives)/[\w-]+", r"\1/ID", asked.path.removeprefix(f"{_BASE}/"))
            for asked in self.requests
        )

    def refusal(self, message: str) -> Any:
        return ApiError(400, "badRequest", message).body()

    def instead(self, fault: Any) -> Answer | None:
        error = fault_error(fault)
        if error is None:
            return super().instead(fault)
        asks = fault.value == "429 with Retry-After"
        return error.answer(**({"Retry-After": str(self.faults.retry_after)} if asks else {}))

    def answer(self, request: Request) -> Answer:
        if request.path == "/token":
            return self.people.token(request)
        if request.path == "/o/oauth2/auth":
            return self.people.consent(request)
        for pattern, call in self._calls.items():
            found = re.fullmatch(f"{_BASE}/{pattern}", request.path)
            if found and request.method == "GET":
                try:
                    return call(request, self._account(request), *found.groups())
                except ApiError as error:
                    return error.answer()
        raise RefusedError(f"{request.method} {request.path}: no such call")

    def _account(self, request: Request) -> str:
        known = self.people.account_of(request)
        if known is None:
            raise ApiError(401, "authError", "Invalid Credentials")
        account, scopes = known
        if not may_read(scopes):
            message = "Request had insufficient authentication scopes."
            raise ApiError(403, "insufficientPermissions", message)
        return account

    def _about(self, request: Request, account: str) -> Answer:
        only_known(request.params)
        if "fields" not in request.params:
            message = "The 'fields' parameter is required for this method."
            raise RefusedError(message)
        user = {**person(account), "me": True}
        storage = {"limit": str(15 * 2**30), "usage": "0"}
        return _told(
            "About", request, {"kind": "drive#about", "user": user, "storageQuota": storage}
        )

    def _drives(self, request: Request, account: str) -> Answer:
        only_known(request.params, "pageSize", "pageToken")
        drives = [item for item in self.items.values() if self._is_member(account, item)]
        page, more = self._page(request, account, lambda: drives, most=100)
        told = {"kind": "drive#driveList", "drives": [_told_of_drive(item) for item in page]}
        return _told("DriveList", request, told | more)

    def _drive(self, request: Request, account: str, drive_id: str) -> Answer:
        only_known(request.params)
        return _told("Drive", request, _told_of_drive(self._member_of(account, drive_id)))

    def _files(self, request: Request, account: str) -> Answer:
        known = ("q", "corpora", "driveId", "orderBy", "pageSize", "pageToken", "spaces")
        only_known(request.params, *known, *_SHARED)
        wanted = self._corpus(request, account)
        query = Query(request.params["q"], self.my_drive.id) if "q" in request.params else None
        for folder in query.folders if query else ():
            if not self._seen(account, folder, is_shared_asked=True):
                raise not_found(".")
        order = _order(request.params.get("orderBy", ""))

        def search() -> list[Item]:
            found = [item for item in self.items.values() if query is None or query.matches(item)]
            return order([item for item in found if item.parents and wanted(item)])

        page, more = self._page(request, account, search)
        incomplete = bool(self.incomplete) and request.params.get("corpora") == "allDrives"
        told = {"kind": "drive#fileList", "incompleteSearch": incomplete}
        files = [item.resource(account) for item in page if self.sees(account, item)]
        return _told("FileList", request, {**told, "files": files, **more})

    def _corpus(self, request: Request, account: str) -> Callable[[Item], bool]:
        """Whether an item is among those that this search looks through."""
        corpora, drive_id = request.params.get("corpora", "user"), request.params.get("driveId")
        both = [flag(request.params, name) for name in _SHARED]
        if corpora not in ("user", "drive", "allDrives") or (corpora == "drive") != bool(drive_id):
            raise RefusedError("The driveId parameter must be given if corpora is drive, only then")
        if (corpora != "user" and not all(both)) or both[0] < both[1]:
            raise RefusedError(f"corpora {corpora} needs {' and '.join(_SHARED)}")
        if drive_id:
            drive = self._member_of(account, drive_id)
            return lambda item: item.drive is drive and self.sees(account, item)
        return lambda item: (
            self.sees(account, item)
            and (item.drive is None or all(both))
            and not (corpora == "allDrives" and item.drive and item.drive.id in self.incomplete)
        )

    def _file(self, request: Request, account: str, file_id: str) -> Answer:
        only_known(request.params, "supportsAllDrives", "acknowledgeAbuse")
        file_id = self.my_drive.id if file_id == "root" else file_id
        item = self._seen(account, file_id, flag(request.params, "supportsAllDrives"))
        if item is None:
            raise not_found(file_id)
        if request.params.get("alt") != "media":
            return _told("File", request, item.resource(account))
        if not isinstance(item.content, bytes):
            message = "Only files with binary content can be downloaded. Use Export."
            raise ApiError(403, "fileNotDownloadable", message, "alt")
        return sent(self._allowed(item).content, item.mime, request)

    def _export(self, request: Request, account: str, file_id: str) -> Answer:
        only_known(request.params, "mimeType")
        item = self._seen(account, file_id, is_shared_asked=True)
        if item is None:
            raise not_found(file_id)
        if not item.mime.startswith(APP) or item.content is None:
            raise ApiError(403, "fileNotExportable", "Export only supports Docs Editors files.")
        data = exported(self._allowed(item), request.params.get("mimeType", ""))
        if data is None:
            raise ApiError(400, "badRequest", "The requested conversion is not supported.")
        if len(data) > self.export_limit:
            raise ApiError(403, "exportSizeLimitExceeded", "This file is too large to be exported.")
        return Answer(200, data, request.params["mimeType"])

    def _allowed(self, item: Item) -> Item:
        if not item.can_download:
            message = "This file cannot be downloaded by the user."
            raise ApiError(403, "cannotDownloadFile", message)
        return item

    def _start(self, request: Request, account: str) -> Answer:
        only_known(request.params, "driveId", "supportsAllDrives")
        token = self.log.token(self._log_of(request, account))
        told = {"kind": "drive#startPageToken", "startPageToken": token}
        return _told("StartPageToken", request, told)

    def _log_of(self, request: Request, account: str) -> str:
        drive_id = request.params.get("driveId", "")
        if drive_id and not flag(request.params, "supportsAllDrives"):
            raise RefusedError("driveId needs supportsAllDrives")
        return self._member_of(account, drive_id).id if drive_id else ""

    def _changes(self, request: Request, account: str) -> Answer:
        known = (
            "pageToken",
            "pageSize",
            "driveId",
            "includeRemoved",
            "restrictToMyDrive",
            "spaces",
        )
        only_known(request.params, *known, *_SHARED)
        drive, size = (
            self._log_of(request, account),
            min(page_size(request.params), self.page_limit),
        )
        told = self._telling(request, account, drive)
        try:
            token = request.params.get("pageToken", "")
            entries = self.log.since(token, drive, lambda entry: told(entry) is not None)
        except InvalidTokenError as error:
            [status] = error.args
            raise ApiError(status, "invalid", "Invalid Value", "pageToken") from error
        changes = [told(entry) for entry in entries[:size]]
        next_ = self.log.token(drive, entries[size].number if entries[size:] else None)
        name = "nextPageToken" if entries[size:] else "newStartPageToken"
        return _told(
            "ChangeList", request, {"kind": "drive#changeList", "changes": changes, name: next_}
        )

    def _telling(
        self, request: Request, account: str, drive: str
    ) -> Callable[[Entry], dict[str, Any] | None]:
        """What this request is told of an entry; None: nothing."""
        both = [flag(request.params, name) for name in _SHARED]
        removed = flag(request.params, "includeRemoved", default=True)
        flag(request.params, "restrictToMyDrive")
        if both[0] < both[1] or (drive and not all(both)):
            raise RefusedError(f"this needs {' and '.join(_SHARED)}")

        def told(entry: Entry) -> dict[str, Any] | None:
            shown = drive or account in entry.accounts
            item = entry.item
            if not shown or (not both[1] and (item.drive or item.is_shared_drive)):
                return None
            change = _change(entry, account, is_there=self._is_in(drive, account, item))
            return change if removed or not change["removed"] else None

        return told

    def _is_in(self, drive: str, account: str, item: Item) -> bool:
        """Whether that log still follows the item."""
        if item.is_shared_drive:
            return account in item.shared
        there = item.drive is not None and item.drive.id == drive
        return self.sees(account, item) and (there if drive else account in item.followers)

    def _page(
        self, request: Request, account: str, search: Callable[[], list[Item]], most: int = 1000
    ) -> tuple[list[Item], dict[str, str]]:
        """One page of what was found when the first was asked for, and the token of the next."""
        size = min(page_size(request.params, most), self.page_limit)
        asked = (account, request.path, *sorted(_without_page(request.params).items()))
        token = request.params.get("pageToken")
        if token is not None and (token not in self._pages or self._pages[token][0] != asked):
            raise ApiError(400, "invalid", "Invalid Value", "pageToken")
        found = search() if token is None else self._pages[token][1]
        if len(found) <= size:
            return found, {}
        following = f"~!!~{hashlib.sha256(f'{asked}{len(self._pages)}'.encode()).hexdigest()}"
        self._pages[following] = asked, found[size:]
        return found[:size], {"nextPageToken": following}

    def _seen(self, account: str, item_id: str, is_shared_asked: bool) -> Item | None:
        item = self.items.get(item_id)
        if item is None or not self.sees(account, item):
            return None
        return item if is_shared_asked or item.drive is None else None

    def _is_member(self, account: str, item: Item) -> bool:
        return item.is_shared_drive and account in item.shared

    def _member_of(self, account: str, drive_id: str) -> Item:
        drive = self.items.get(drive_id)
        if drive is None or not self._is_member(account, drive):
            raise ApiError(404, "notFound", f"Shared drive not found: {drive_id}", "driveId")
        return drive


def _told(schema: str, request: Request, value: dict[str, Any]) -> Answer:
    return json_answer(200, partial(schema, request.params.get("fields"), value))


def _told_of_drive(item: Item) -> dict[str, Any]:
    created = stamp(item.created)
    return {"kind": "drive#drive", "id": item.id, "name": item.name, "createdTime": created}


def _change(entry: Entry, account: str, *, is_there: bool) -> dict[str, Any]:
    item = entry.item
    told = {"kind": "drive#change", "removed": not is_there, "time": entry.time}
    if item.is_shared_drive:
        drive = {"drive": _told_of_drive(item)} if is_there else {}
        return {**told, "changeType": "drive", "driveId": item.id, **drive}
    file = {"file": item.resource(account)} if is_there else {}
    return {**told, "changeType": "file", "fileId": item.id, **file}


def _without_page(params: dict[str, str]) -> dict[str, str]:
    return {name: params[name] for name in params if name not in ("pageToken", "pageSize")}


def _order(text: str) -> Callable[[list[Item]], list[Item]]:
    """Sorts as `orderBy` says; without it in an order that nobody should count on."""
    keys = [key.split() for key in text.split(",")] if text else []
    if any(key[0] not in _ORDERS or key[1:] not in ([], ["desc"]) for key in keys):
        raise RefusedError(f"Invalid value of orderBy: {text}")

    def order(items: list[Item]) -> list[Item]:
        items = sorted(items, key=lambda item: hashlib.md5(item.id.encode()).digest())
        for name, *desc in reversed(keys):
            items.sort(key=_ORDERS[name], reverse=bool(desc))
        return items

    return order
