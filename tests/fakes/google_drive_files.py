"""The calls about files: files.list, files.get, files.export."""

import hashlib
from collections.abc import Callable

from tests.fakes.google_drive_calls import SHARED, Calls, partial_answer
from tests.fakes.google_drive_export import export
from tests.fakes.google_drive_items import APP, FOLDER, Item
from tests.fakes.google_drive_query import Query
from tests.fakes.google_drive_wire import ApiError, file_answer, flag, not_found, only_known
from tests.fakes.loopback import Answer, RefusedError, Request

_ORDERS = {
    "name": lambda item: item.name.lower(),
    "modifiedTime": lambda item: item.modified,
    "createdTime": lambda item: item.created,
    "folder": lambda item: item.mime != FOLDER,
}


class FileCalls(Calls):
    """The calls cover all drives in which the account can see something."""

    def search(self, request: Request, account: str) -> Answer:
        known = ("q", "corpora", "driveId", "orderBy", "pageSize", "pageToken", "spaces")
        only_known(request.params, *known, *SHARED)
        query = Query(request.params.get("q", ""), self.drive.root_of(account).id)
        for folder in query.folders:
            if not self.visible_item(account, folder, all_drives=True):
                raise not_found(".")
        order = _order(request.params.get("orderBy", ""))
        in_corpus = self._corpus(request, account)
        page, more = self.page(request, account, lambda: order(self._matches(query, in_corpus)))
        incomplete = bool(self.drive.incomplete) and request.params.get("corpora") == "allDrives"
        head = {"kind": "drive#fileList", "incompleteSearch": incomplete}
        files = [item.resource(account) for item in page if self.drive.sees(account, item)]
        return partial_answer("FileList", request, {**head, "files": files, **more})

    def _matches(self, query: Query, in_corpus: Callable[[Item], bool]) -> list[Item]:
        matching = filter(query.matches, self.drive.items.values())
        return [item for item in matching if item.parents and in_corpus(item)]

    def _corpus(self, request: Request, account: str) -> Callable[[Item], bool]:
        """Whether the search covers an item."""
        corpora, drive_id = request.params.get("corpora", "user"), request.params.get("driveId")
        supports, everywhere = (flag(request.params, name) for name in SHARED)
        if corpora not in ("user", "drive", "allDrives") or (corpora == "drive") != bool(drive_id):
            raise RefusedError("The driveId parameter must be given if corpora is drive, only then")
        if (corpora != "user" and not everywhere) or everywhere > supports:
            raise RefusedError(f"corpora {corpora} needs {' and '.join(SHARED)}")
        drive = self.member_of(account, drive_id) if drive_id else None
        skipped = self.drive.incomplete if corpora == "allDrives" else ()

        def is_in(item: Item) -> bool:
            home = item.drive
            is_covered = home is drive if drive else home is None or everywhere
            is_skipped = home is not None and home.id in skipped
            return is_covered and not is_skipped and self.drive.sees(account, item)

        return is_in

    def get(self, request: Request, account: str, file_id: str) -> Answer:
        only_known(request.params, "supportsAllDrives", "acknowledgeAbuse")
        file_id = self.drive.root_of(account).id if file_id == "root" else file_id
        item = self.visible_item(account, file_id, flag(request.params, "supportsAllDrives"))
        if item is None:
            raise not_found(file_id)
        if request.params.get("alt") != "media":
            return partial_answer("File", request, item.resource(account))
        if not isinstance(item.content, bytes):
            message = "Only files with binary content can be downloaded. Use Export."
            raise ApiError(403, "fileNotDownloadable", message, "alt")
        return file_answer(self._allowed(item).content, item.mime, request)

    def export(self, request: Request, account: str, file_id: str) -> Answer:
        only_known(request.params, "mimeType")
        item = self.visible_item(account, file_id, all_drives=True)
        if item is None:
            raise not_found(file_id)
        if not item.mime.startswith(APP) or item.content is None:
            raise ApiError(403, "fileNotExportable", "Export only supports Docs Editors files.")
        data = export(self._allowed(item), request.params.get("mimeType", ""))
        if data is None:
            raise ApiError(400, "badRequest", "The requested conversion is not supported.")
        if len(data) > self.drive.export_limit:
            raise ApiError(403, "exportSizeLimitExceeded", "This file is too large to be exported.")
        return Answer(200, data, request.params["mimeType"])

    def _allowed(self, item: Item) -> Item:
        if not item.can_download:
            message = "This file cannot be downloaded by the user."
            raise ApiError(403, "cannotDownloadFile", message)
        return item


def _order(text: str) -> Callable[[list[Item]], list[Item]]:
    """Sort by `orderBy`; without it, in an order that clients cannot rely on."""
    keys = [key.split() for key in text.split(",")] if text else []
    if any(key[0] not in _ORDERS or key[1:] not in ([], ["desc"]) for key in keys):
        raise RefusedError(f"Invalid value of orderBy: {text}")

    def order(items: list[Item]) -> list[Item]:
        items = sorted(items, key=lambda item: hashlib.md5(item.id.encode()).digest())
        for name, *desc in reversed(keys):
            items.sort(key=_ORDERS[name], reverse=bool(desc))
        return items

    return order
