"""Google's own client: one for each thread, for the HTTP beneath it serves one at a time."""

import threading
from dataclasses import dataclass
from functools import partial
from typing import Any

from loaders.google_drive.login import DriveLogin
from loaders.google_drive.trouble import BrokenAnswerError

API_URL = "https://www.googleapis.com/drive/v3/"
TIMEOUT = 60
"""Seconds until an answer that does not come counts as none."""
_OVERLOADED = (408, 429, 500, 502, 503, 504)


@dataclass(frozen=True, slots=True)
class DriveService:
    """A client with what carries its requests."""

    api: Any
    _http: Any
    _credentials: Any

    def sign_in(self) -> None:
        """Have a valid access token.

        Raises:
            Exception: What the library raises; see `trouble_of`.
        """
        if self._credentials.valid:
            return
        try:
            self._credentials.refresh(partial(_once, self._http))
        except (TypeError, AttributeError) as error:  # the library takes any answer for an object
            raise BrokenAnswerError("the answer to the sign-in is broken") from error

    def sign_out(self) -> None:
        """Forget the access token, which Google takes no more: signing in fetches another."""
        self._credentials.token = None

    def disconnect(self) -> None:
        """Close the connections, for one that broke must not serve the next request."""
        self._http.close()


class DriveServices:
    """The services of all threads."""

    def __init__(self, login: DriveLogin, api_url: str) -> None:
        """Args: `api_url` is where the API is, with its path."""
        self._login = login
        self._api_url = api_url
        self._of_thread = threading.local()

    def get(self) -> DriveService:
        """That of this thread.

        Raises:
            SourceError: The login can't be used.
        """
        kept: DriveService | None = getattr(self._of_thread, "service", None)
        if kept is None:
            kept = self._of_thread.service = self._build()
        return kept

    def _build(self) -> DriveService:
        import google_auth_httplib2  # type: ignore[import-untyped]  # slow, all of them
        import httplib2  # type: ignore[import-untyped]  # it has no types
        from googleapiclient.discovery import build  # type: ignore[import-untyped]  # as above

        credentials = self._login.credentials()
        http = httplib2.Http(timeout=TIMEOUT)
        # Renewing tokens is left to `sign_in`: the library would do it out of sight.
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


def _once(http: Any, *args: Any, **kwargs: Any) -> Any:
    """Ask the sign-in server once: the library would repeat, asleep, which nobody could end."""
    from google.auth.exceptions import TransportError
    from google_auth_httplib2 import Request

    answer = Request(http)(*args, **kwargs)
    if answer.status in _OVERLOADED:
        raise TransportError(f"the sign-in server answered {answer.status}")  # type: ignore[no-untyped-call]
    return answer
