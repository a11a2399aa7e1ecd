"""All calls to the Drive API, with retries; each thread has its own Google client."""

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, TypeVar

from domain import Wait
from domain.errors import (
    SourceError,
    SourceUnavailableError,
    TemporarilyUnreadableError,
    UnreadableError,
)
from loaders.document_reader import over_limit
from loaders.google_drive.drive_errors import (
    OVERLOADED,
    BrokenAnswerError,
    Failure,
    TransientDriveError,
    export_error,
    failure_of,
    hidden_permissions,
    refusal,
    short_reason,
    stale_token,
)
from loaders.google_drive.drive_login import DriveLogin, LoginKind
from loaders.retries import RetryPolicy

API_URL = "https://www.googleapis.com/drive/v3/"
TIMEOUT = 60
"""Seconds to wait for data."""


@dataclass(frozen=True, slots=True)
class DriveService:
    """A Google client with its HTTP connection and credentials."""

    api: Any
    _http: Any
    _credentials: Any

    def sign_in(self) -> None:
        """Fetch an access token unless the current one is valid.

        Raises:
            Exception: Any exception of the library; see `failure_of`.
        """
        if self._credentials.valid:
            return
        try:
            self._credentials.refresh(partial(_once, self._http))
        except (TypeError, AttributeError) as error:  # the library expects an object
            raise BrokenAnswerError("the response to the sign-in is malformed") from error

    def sign_out(self) -> None:
        """Discard an access token that Google no longer accepts; signing in fetches a new one."""
        self._credentials.token = None

    def disconnect(self) -> None:
        """Close the connections: a broken one must not be used for the next request."""
        self._http.close()


def _once(http: Any, *args: Any, **kwargs: Any) -> Any:
    """Send a sign-in request once: between the library's own retries, it could not be canceled."""
    from google.auth.exceptions import TransportError
    from google_auth_httplib2 import Request  # type: ignore[import-untyped]

    answer = Request(http)(*args, **kwargs)
    if answer.status in OVERLOADED:
        raise TransportError(f"the sign-in server returned {answer.status}")  # type: ignore[no-untyped-call]
    return answer


T = TypeVar("T")
Meaning = Callable[[Failure], SourceError | None]
File = dict[str, Any]
"""A file as Drive describes it, with the requested fields."""

_MAX_RETRY_AFTER_S = 120.0
_PAGE = 1000  # Drive's maximum
_PERMISSIONS_PAGE = 100  # Drive's maximum
_PART = 8 * 2**20  # bytes
_FILE = (
    "id,name,mimeType,parents,trashed,modifiedTime,md5Checksum,size,webViewLink,driveId,"
    "shortcutDetails(targetId,targetMimeType),capabilities(canDownload)"
)
_READ = "owners(displayName),lastModifyingUser(displayName)"
_PERMISSION = "id,type,emailAddress,domain,allowFileDiscovery,deleted,view"
_PERMISSIONS = f"permissionIds,permissions({_PERMISSION})"
_ALL_DRIVES = {"supportsAllDrives": True, "includeItemsFromAllDrives": True}


def _no_meaning(_: Failure) -> None:
    """For calls that don't interpret failures in their own way."""


class DriveCalls:
    """The calls for one login, with one Google client per thread.

    Besides the documented errors, each call raises SourceError if a person must act, and
    SourceUnavailableError if Drive can't be reached now.
    """

    def __init__(
        self,
        login: DriveLogin,
        wait: Wait,
        api_url: str = API_URL,
        *,
        with_permissions: bool = False,
    ) -> None:
        """Create the calls; `wait` is called between attempts.

        `api_url` is the address of the API, including its path. With permissions, files have
        `permissionIds` and `permissions`, as far as this account may see them.
        """
        self._fields = f"{_FILE},{_PERMISSIONS}" if with_permissions else _FILE
        self._login = login
        self._api_url = api_url
        self._retries = RetryPolicy(wait, _MAX_RETRY_AFTER_S)
        self._of_thread = threading.local()

    def user(self) -> dict[str, str]:
        """The signed-in user: displayName and emailAddress."""
        user: dict[str, str] = self._request(lambda api: api.about().get(fields="user"))["user"]
        return user

    def drive_name(self, drive_id: str) -> str:
        """The name of a shared drive.

        Raises:
            NotVisibleError: The drive does not exist or is not visible to this account.
        """
        return str(self._request(lambda api: api.drives().get(driveId=drive_id))["name"])

    def file(self, file_id: str) -> File:
        """A file, folder, or shortcut.

        Raises:
            NotVisibleError: The item does not exist or is not visible to this account.
        """
        return self._request(
            lambda api: api.files().get(
                fileId=file_id, fields=f"{self._fields},{_READ}", supportsAllDrives=True
            )
        )

    def permissions(self, file_id: str) -> list[dict[str, Any]]:
        """The permissions of a file, including those inherited from folders and shared drives.

        Raises:
            HiddenPermissionsError: This account may not see them.
        """
        params = {
            "fileId": file_id,
            "pageSize": _PERMISSIONS_PAGE,
            "fields": f"nextPageToken,permissions({_PERMISSION})",
            "supportsAllDrives": True,
        }
        pages = self._pages("permissions", params, hidden_permissions)
        return [one for page in pages for one in page.get("permissions", ())]

    def readable_file(self, file_id: str) -> File:
        """Like `file`, but a failure concerns only this document as long as others can be read.

        Raises:
            TemporarilyUnreadableError: The file can't be read this time.
        """
        return self._for_one_document(lambda: self.file(file_id))

    def files(self, query: str, drive_id: str = "") -> Iterator[File]:
        """Yield all matching files, page by page; with `drive_id`, only from that shared drive."""
        of_drive = {"corpora": "drive", "driveId": drive_id} if drive_id else {"corpora": "user"}
        params = {
            "q": query,
            "pageSize": _PAGE,
            "fields": f"nextPageToken,files({self._fields})",
            **of_drive,
            **_ALL_DRIVES,
        }
        for page in self._pages("files", params):
            yield from page.get("files", ())

    def start_token(self, drive_id: str = "") -> str:
        """A token to request later changes of a shared drive, or of the user.

        Raises:
            NotVisibleError: The account is not a member of the shared drive and sees only parts of
                it.
        """
        of_drive = {"driveId": drive_id} if drive_id else {}
        response = self._request(
            lambda api: api.changes().getStartPageToken(supportsAllDrives=True, **of_drive)
        )
        return str(response["startPageToken"])

    def changes(self, token: str, drive_id: str = "") -> Iterator[tuple[list[dict[str, Any]], str]]:
        """Yield the changes since the token, page by page, each page with the next token.

        Raises:
            StaleTokenError: The token has expired.
        """
        of_drive = {"driveId": drive_id} if drive_id else {}
        params = {
            "pageSize": _PAGE,
            "fields": "nextPageToken,newStartPageToken,changes(changeType,removed,fileId,"
            f"file({self._fields}),driveId,drive(name))",
            "includeRemoved": True,
            "includeCorpusRemovals": True,
            "pageToken": token,
            **of_drive,
            **_ALL_DRIVES,
        }
        for page in self._pages("changes", params, stale_token):
            following = page.get("nextPageToken") or page["newStartPageToken"]
            yield page.get("changes", []), str(following)

    def _pages(
        self, resource: str, params: Mapping[str, Any], meaning: Meaning = _no_meaning
    ) -> Iterator[dict[str, Any]]:
        page = self._list(resource, params, meaning)
        yield page
        while token := page.get("nextPageToken"):
            page = self._list(resource, {**params, "pageToken": token}, meaning)
            yield page

    def _list(self, resource: str, params: Mapping[str, Any], meaning: Meaning) -> dict[str, Any]:
        return self._request(lambda api: getattr(api, resource)().list(**params), meaning)

    def export(self, file_id: str, mime: str) -> bytes:
        """Export a document of Google's editors to another format.

        Raises:
            NotExportedError: Google does not export it to this format.
            UnreadableError: Downloading the document is not allowed.
            TemporarilyUnreadableError: The export fails this time.
        """

        def fetch(service: DriveService) -> bytes:
            headers: dict[str, str] = {}
            request = service.api.files().export_media(fileId=file_id, mimeType=mime)
            request.add_response_callback(headers.update)
            data: bytes = request.execute(num_retries=0)
            if "html" in headers.get("content-type", "") and "html" not in mime:
                raise BrokenAnswerError("a login page instead of the document")
            return data

        return self._for_one_document(lambda: self._with_retries(fetch, export_error))

    def download(self, file_id: str, max_bytes: int) -> bytes:
        """Download a file's bytes, part by part.

        Raises:
            UnreadableError: The file must not be downloaded, or is larger than `max_bytes`;
                TemporarilyUnreadableError if the download fails this time.
        """
        return self._for_one_document(lambda: self._in_parts(file_id, max_bytes))

    def _in_parts(self, file_id: str, max_bytes: int) -> bytes:
        from googleapiclient.http import MediaIoBaseDownload  # type: ignore[import-untyped]

        data, ends = BytesIO(), False
        request = self._service().api.files().get_media(fileId=file_id, supportsAllDrives=True)
        parts = MediaIoBaseDownload(data, request, chunksize=min(_PART, max_bytes + 1))
        while not ends:
            ends = self._with_retries(lambda service: parts.next_chunk(num_retries=0)[1])  # noqa: ARG005
            if data.tell() > max_bytes:
                raise UnreadableError(over_limit(max_bytes))
        return data.getvalue()

    def _service(self) -> DriveService:
        """The service of the current thread.

        Raises:
            SourceError: The login can't be used.
        """
        service: DriveService | None = getattr(self._of_thread, "service", None)
        if service is None:
            service = self._of_thread.service = self._new_service()
        return service

    def _new_service(self) -> DriveService:
        import google_auth_httplib2  # all of these are slow
        from googleapiclient.discovery import build  # type: ignore[import-untyped]

        from loaders.google_drive.logged_http import LoggedHttp

        credentials = self._login.credentials()
        http = LoggedHttp(timeout=TIMEOUT)
        # Only `sign_in` renews tokens; the library would renew them unnoticed.
        signed = google_auth_httplib2.AuthorizedHttp(credentials, http, refresh_status_codes=())
        api = build(
            "drive",
            "v3",
            http=signed,
            static_discovery=True,
            cache_discovery=False,
            client_options={"api_endpoint": self._api_url},
        )
        return DriveService(api, http, credentials)

    def _request(
        self, request: Callable[[Any], Any], meaning: Meaning = _no_meaning
    ) -> dict[str, Any]:
        def fetch(service: DriveService) -> dict[str, Any]:
            response = request(service.api).execute(num_retries=0)
            if not isinstance(response, dict):
                raise BrokenAnswerError("not an object")
            return response

        return self._with_retries(fetch, meaning)

    def _with_retries(
        self, fetch: Callable[[DriveService], T], meaning: Meaning = _no_meaning
    ) -> T:
        """Send a request; `meaning` returns the error for failures specific to this request.

        An expired access token is renewed once, without waiting.
        """
        is_renewed = False

        def attempt() -> T:
            nonlocal is_renewed
            service = self._service()
            try:
                service.sign_in()
                return fetch(service)
            except Exception as error:
                failure = failure_of(error)
                if failure is None:
                    raise
                service.disconnect()
                if not failure.is_expiry or is_renewed:
                    raise _error_of(failure, meaning, self._login.kind) from error
            is_renewed = True
            service.sign_out()
            return attempt()

        return self._retries.with_retries(attempt)

    def _for_one_document(self, fetch: Callable[[], T]) -> T:
        """Fetch part of a document; after a failure, another call checks whether Drive is down."""
        try:
            return fetch()
        except SourceUnavailableError as error:
            self.user()  # raises SourceUnavailableError if Drive is down
            raise TemporarilyUnreadableError(str(error)) from error


def _error_of(failure: Failure, meaning: Meaning, login: LoginKind) -> Exception:
    if failure.is_transient:
        return TransientDriveError(reason=short_reason(failure), retry_after_s=failure.retry_after)
    return meaning(failure) or refusal(failure, login)
