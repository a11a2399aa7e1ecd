"""Code shared by the calls of the fake Google Drive: result pages and visibility."""

import hashlib
from collections.abc import Callable
from typing import Any

from tests.fakes.google_drive_fields import partial
from tests.fakes.google_drive_items import Item, stamp
from tests.fakes.google_drive_wire import ApiError, page_size
from tests.fakes.loopback import Answer, Request, json_answer

SHARED = ("supportsAllDrives", "includeItemsFromAllDrives")


class Calls:
    """A group of API calls over a `FakeDrive`."""

    def __init__(self, drive: Any) -> None:
        self.drive = drive
        self._pages: dict[str, tuple[tuple, list[Item]]] = {}

    def page(
        self, request: Request, account: str, search: Callable[[], list[Item]], most: int = 1000
    ) -> tuple[list[Item], dict[str, str]]:
        """One page of the results of the first request, and the token of the next page."""
        size = min(page_size(request.params, most), self.drive.page_limit)
        key = (account, request.path, *sorted(_without_page(request.params).items()))
        token = request.params.get("pageToken")
        if token is not None and (token not in self._pages or self._pages[token][0] != key):
            raise ApiError(400, "invalid", "Invalid Value", "pageToken")
        results = search() if token is None else self._pages[token][1]
        if len(results) <= size:
            return results, {}
        next_token = f"~!!~{hashlib.sha256(f'{key}{len(self._pages)}'.encode()).hexdigest()}"
        self._pages[next_token] = key, results[size:]
        return results[:size], {"nextPageToken": next_token}

    def visible_item(self, account: str, item_id: str, all_drives: bool) -> Item | None:
        item = self.drive.items.get(item_id)
        if item is None or not self.drive.sees(account, item):
            return None
        return item if all_drives or item.drive is None else None

    def is_member(self, account: str, item: Item) -> bool:
        return item.is_shared_drive and account in item.shared

    def member_of(self, account: str, drive_id: str) -> Item:
        drive = self.drive.items.get(drive_id)
        if drive is None or not self.is_member(account, drive):
            raise ApiError(404, "notFound", f"Shared drive not found: {drive_id}", "driveId")
        return drive


def partial_answer(schema: str, request: Request, value: dict[str, Any]) -> Answer:
    return json_answer(200, partial(schema, request.params.get("fields"), value))


def drive_resource(item: Item) -> dict[str, Any]:
    created = stamp(item.created)
    return {"kind": "drive#drive", "id": item.id, "name": item.name, "createdTime": created}


def _without_page(params: dict[str, str]) -> dict[str, str]:
    return {name: params[name] for name in params if name not in ("pageToken", "pageSize")}
