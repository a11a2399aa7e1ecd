"""A strict Google Drive on loopback: sign-in, and the calls of API version 3 that readers need.

As with Google, members of a shared drive find its changes only in the drive's own log
(`driveId`): see google_drive_changes.py.
"""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from tests.fakes.google_drive_calls import Calls, drive_resource, partial_answer
from tests.fakes.google_drive_feed import ChangeCalls
from tests.fakes.google_drive_files import FileCalls
from tests.fakes.google_drive_items import Doc, Item, Sheet, Slides, person
from tests.fakes.google_drive_people import IMPORTER, PERSON, READ_ONLY, People, may_read
from tests.fakes.google_drive_permissions import PermissionCalls
from tests.fakes.google_drive_site import DriveSite
from tests.fakes.google_drive_wire import (
    DRIVE_FAULTS,
    ApiError,
    DriveFault,
    fault_error,
    only_known,
)
from tests.fakes.loopback import Answer, Loopback, RefusedError, Request

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


class AboutCalls(Calls):
    """The calls about the current user and the shared drives they belong to."""

    def about(self, request: Request, account: str) -> Answer:
        only_known(request.params)
        if "fields" not in request.params:
            message = "The 'fields' parameter is required for this method."
            raise RefusedError(message)
        user = {**person(account), "me": True}
        storage = {"limit": str(15 * 2**30), "usage": "0"}
        return partial_answer(
            "About", request, {"kind": "drive#about", "user": user, "storageQuota": storage}
        )

    def drives(self, request: Request, account: str) -> Answer:
        only_known(request.params, "pageSize", "pageToken")
        drives = [item for item in self.drive.items.values() if self.is_member(account, item)]
        page, more = self.page(request, account, lambda: drives, most=100)
        body = {"kind": "drive#driveList", "drives": [drive_resource(item) for item in page]}
        return partial_answer("DriveList", request, body | more)

    def drive_of(self, request: Request, account: str, drive_id: str) -> Answer:
        only_known(request.params)
        return partial_answer("Drive", request, drive_resource(self.member_of(account, drive_id)))


class FakeDrive(DriveSite, Loopback):
    """`url` is the API endpoint for the client; `people` signs accounts in.

    `page_limit` caps every page below the requested size, as Drive may do. `incomplete` are the
    ids of shared drives that a search of all drives reports as not searched.
    """

    def __init__(self, seed: int = 0) -> None:
        Loopback.__init__(self)
        DriveSite.__init__(self, seed)
        self.people = People()
        self.page_limit = 1000
        self.export_limit = 10 * 2**20
        self.incomplete: set[str] = set()
        files, changes, about = FileCalls(self), ChangeCalls(self), AboutCalls(self)
        self._calls: dict[str, Callable[..., Answer]] = {
            r"files": files.search,
            r"files/([\w-]+)": files.get,
            r"files/([\w-]+)/export": files.export,
            r"files/([\w-]+)/permissions": PermissionCalls(self).list,
            r"changes/startPageToken": changes.start,
            r"changes": changes.since,
            r"drives": about.drives,
            r"drives/([\w-]+)": about.drive_of,
            r"about": about.about,
        }

    @property
    def url(self) -> str:
        return f"{self.origin}{_BASE}/"

    def plug(self) -> None:
        super().plug()
        self.people.origin = self.origin

    def service_account(self, account: str = IMPORTER) -> dict[str, str]:
        """The key file of an account whose tokens come from this server."""
        return self.people.service_account(account)

    def calls(self) -> Counter[str]:
        """Number of requests by call without ids: "files", "files/ID/export" ..."""
        return Counter(
            re.sub(r"(files|drives)/[\w-]+", r"\1/ID", request.path.removeprefix(f"{_BASE}/"))
            for request in self.requests
        )

    def refusal(self, message: str) -> Any:
        return ApiError(400, "badRequest", message).body()

    def fault_answer(self, fault: Any, request: Request) -> Answer | None:
        error = fault_error(fault, is_api=request.path.startswith(_BASE))
        if error is None:
            return super().fault_answer(fault, request)
        has_header = fault.value == "429 with Retry-After"
        return error.answer(**({"Retry-After": str(self.faults.retry_after)} if has_header else {}))

    def answer(self, request: Request) -> Answer:
        if request.path == "/token":
            return self.people.token(request)
        if request.path == "/o/oauth2/auth":
            return self.people.consent(request)
        for pattern, call in self._calls.items():
            match = re.fullmatch(f"{_BASE}/{pattern}", request.path)
            if match and request.method == "GET":
                try:
                    return call(request, self._account(request), *match.groups())
                except ApiError as error:
                    return error.answer()
        raise RefusedError(f"{request.method} {request.path}: no such call")

    def _account(self, request: Request) -> str:
        grant = self.people.account_of(request)
        if grant is None:
            raise ApiError(401, "authError", "Invalid Credentials")
        account, scopes = grant
        if not may_read(scopes):
            message = "Request had insufficient authentication scopes."
            raise ApiError(403, "insufficientPermissions", message)
        return account
