"""Every call of the Drive API, asked again where it is worth it."""

import random
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any, TypeVar

from domain import Wait
from errors import SourceError, SourceUnavailableError, UnreadableError, UnreadableNowError
from loaders.google_drive.login import LoginKind
from loaders.google_drive.service import DriveService, DriveServices
from loaders.google_drive.trouble import (
    BrokenAnswerError,
    Trouble,
    exhausted,
    not_exported,
    refusal,
    stale_token,
    told_shortly,
    trouble_of,
)

T = TypeVar("T")
Meaning = Callable[[Trouble], SourceError | None]
File = dict[str, Any]
"""A file as Drive tells it, with the fields asked for."""

ATTEMPTS = 6
_LONGEST_WAIT = 120.0  # seconds; where Google asks for more, other imports go on meanwhile
_PAGE = 1000  # the most that Drive gives
_PART = 8 * 2**20  # bytes
_FILE = (
    "id,name,mimeType,parents,trashed,modifiedTime,md5Checksum,size,webViewLink,driveId,"
    "shortcutDetails(targetId,targetMimeType),capabilities(canDownload)"
)
_FILE_READ = f"{_FILE},owners(displayName),lastModifyingUser(displayName)"
_FILES = f"nextPageToken,files({_FILE})"
_CHANGES = (
    "nextPageToken,newStartPageToken,"
    f"changes(changeType,removed,fileId,file({_FILE}),driveId,drive(name))"
)
_ALL_DRIVES = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}


def _plainly(_: Trouble) -> None:
    """A refusal that means to this call what it means to any."""


class DriveCalls:
    """The calls, as this login.

    Besides what it says, each raises SourceError where a person must act, and
    SourceUnavailableError where Drive can't be reached now.
    """

    def __init__(self, services: DriveServices, login: LoginKind, wait: Wait) -> None:
        """Args: `wait` is called between attempts."""
        self._services = services
        self._login = login
        self._wait = wait

    def user(self) -> dict[str, str]:
        """Who is signed in: displayName and emailAddress."""
        told: dict[str, str] = self._ask(lambda api: api.about().get(fields="user"))["user"]
        return told

    def drive_name(self, drive_id: str) -> str:
        """The name of a shared drive.

        Raises:
            NotVisibleError: There is none such for this account.
        """
        return str(self._ask(lambda api: api.drives().get(driveId=drive_id))["name"])

    def file(self, file_id: str) -> File:
        """A file, folder or shortcut.

        Raises:
            NotVisibleError: There is none such for this account.
        """
        return self._ask(
            lambda api: api.files().get(fileId=file_id, fields=_FILE_READ, supportsAllDrives=True)
        )

    def readable_file(self, file_id: str) -> File:
        """As `file`; what goes wrong here is this document's alone while others can be read.

        Raises:
            UnreadableNowError: It can't be had this time.
        """
        return self._of_one(lambda: self.file(file_id))

    def files(self, query: str, drive_id: str = "") -> Iterator[File]:
        """All files that match, page by page; with a `drive_id` of that shared drive alone."""
        of_drive = {"corpora": "drive", "driveId": drive_id} if drive_id else {"corpora": "user"}
        asked = {"q": query, "pageSize": _PAGE, "fields": _FILES, **of_drive, **_ALL_DRIVES}
        token = None
        while True:
            told = self._page(asked if token is None else {**asked, "pageToken": token})
            yield from told.get("files", ())
            token = told.get("nextPageToken")
            if not token:
                return

    def _page(self, asked: dict[str, Any]) -> dict[str, Any]:
        return self._ask(lambda api: api.files().list(**asked))

    def start_token(self, drive_id: str = "") -> str:
        """From where what changes after now can be asked for; of a shared drive, or of the user.

        Raises:
            NotVisibleError: The shared drive is not this account's: it sees but parts of it.
        """
        of_drive = {"driveId": drive_id} if drive_id else {}
        told = self._ask(
            lambda api: api.changes().getStartPageToken(supportsAllDrives=True, **of_drive)
        )
        return str(told["startPageToken"])

    def changes(self, token: str, drive_id: str = "") -> Iterator[tuple[list[dict[str, Any]], str]]:
        """The changes since the token, page by page, each with the token that comes next.

        Raises:
            StaleTokenError: The token is no longer known.
        """
        of_drive = {"driveId": drive_id} if drive_id else {}
        asked = {
            "pageSize": _PAGE,
            "fields": _CHANGES,
            "includeRemoved": True,
            "includeCorpusRemovals": True,
            **of_drive,
            **_ALL_DRIVES,
        }
        ends = False
        while not ends:
            told = self._changes_page({**asked, "pageToken": token})
            ends = "nextPageToken" not in told
            token = str(told["newStartPageToken" if ends else "nextPageToken"])
            yield told.get("changes", []), token

    def _changes_page(self, asked: dict[str, Any]) -> dict[str, Any]:
        return self._ask(lambda api: api.changes().list(**asked), stale_token)

    def export(self, file_id: str, mime: str) -> bytes:
        """A document of Google's editors in another format.

        Raises:
            NotExportedError: Not in this format.
            UnreadableError: It may not be downloaded; UnreadableNowError where it fails this time.
        """

        def fetch(service: DriveService) -> bytes:
            headers: dict[str, str] = {}
            request = service.api.files().export_media(fileId=file_id, mimeType=mime)
            request.add_response_callback(headers.update)
            data: bytes = request.execute(num_retries=0)
            if "html" in headers.get("content-type", "") and "html" not in mime:
                raise BrokenAnswerError("a login page in place of the document")
            return data

        return self._of_one(lambda: self._patiently(fetch, not_exported))

    def download(self, file_id: str, max_bytes: int) -> bytes:
        """A file's bytes, fetched part by part.

        Raises:
            UnreadableError: It may not be downloaded, or is larger than `max_bytes`;
                UnreadableNowError where it fails this time.
        """
        return self._of_one(lambda: self._in_parts(file_id, max_bytes))

    def _in_parts(self, file_id: str, max_bytes: int) -> bytes:
        from googleapiclient.http import MediaIoBaseDownload  # type: ignore[import-untyped]

        data, ends = BytesIO(), False
        request = self._services.get().api.files().get_media(fileId=file_id, supportsAllDrives=True)
        parts = MediaIoBaseDownload(data, request, chunksize=min(_PART, max_bytes + 1))
        while not ends:
            _, ends = self._patiently(lambda _: parts.next_chunk(num_retries=0))
            if data.tell() > max_bytes:
                limit = max_bytes / 2**20
                raise UnreadableError(
                    f"the file is larger than the limit of {limit:.1f} MiB: split it"
                )
        return data.getvalue()

    def _ask(self, request: Callable[[Any], Any], meaning: Meaning = _plainly) -> dict[str, Any]:
        def fetch(service: DriveService) -> dict[str, Any]:
            told = request(service.api).execute(num_retries=0)
            if not isinstance(told, dict):
                raise BrokenAnswerError("not an object")
            return told

        return self._patiently(fetch, meaning)

    def _patiently(self, fetch: Callable[[DriveService], T], meaning: Meaning = _plainly) -> T:
        """What comes of it in the end; `meaning` is what a refusal means to this call alone."""
        is_renewed = False
        for attempt in range(1, ATTEMPTS + 1):
            service = self._services.get()
            try:
                service.sign_in()
                return fetch(service)
            except Exception as error:
                trouble = trouble_of(error)
                if trouble is None:
                    raise
                service.disconnect()
                if trouble.is_expiry and not is_renewed:
                    is_renewed = True
                    service.sign_out()
                    continue
                if not trouble.passes:
                    raise (meaning(trouble) or refusal(trouble, self._login)) from error
                if attempt == ATTEMPTS or (trouble.retry_after or 0) > _LONGEST_WAIT:
                    raise exhausted(trouble, attempt) from error
            self._wait(_pause(trouble, attempt), told_shortly(trouble))
        raise AssertionError("the last attempt returns or raises")

    def _of_one(self, fetch: Callable[[], T]) -> T:
        """One document's part; whether all of Drive is away is told by a call of no document."""
        try:
            return fetch()
        except SourceUnavailableError as error:
            self.user()  # raises SourceUnavailableError itself
            raise UnreadableNowError(str(error)) from error


def _pause(trouble: Trouble, attempt: int) -> float:
    """Seconds to wait: what was asked for, else twice as long each time, never quite the same."""
    if trouble.retry_after is not None:
        return trouble.retry_after
    return float(2 ** (attempt - 1)) * random.uniform(0.5, 1.5)  # noqa: S311  # nothing secret
