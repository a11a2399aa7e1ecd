"""Failures of Drive and of the network: which are transient, and the message for each."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain.errors import (
    SourceError,
    SourceUnavailableError,
    TemporarilyUnreadableError,
    UnreadableError,
)
from domain.messages import _
from domain.web.retry_after import retry_after_s
from loaders.google_drive.drive_login import REFUSED, LoginKind
from loaders.retries import TransientError

_TOO_FAST = {"rateLimitExceeded", "userRateLimitExceeded"}
_SPENT = {"dailyLimitExceeded", "quotaExceeded"}
OVERLOADED = {408, 429, 500, 502, 503, 504}
_NOT_EXPORTED = {"exportSizeLimitExceeded", "badRequest", "fileNotExportable"}
_NOT_ALLOWED = {
    "fileNotDownloadable",
    "insufficientFilePermissions",
    "cannotDownloadFile",
    "cannotDownloadAbusiveFile",
    "cannotExportFile",
}
_OF_PROJECT = {"accessNotConfigured", "SERVICE_DISABLED"}
_OF_SCOPE = {"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"}


class NotVisibleError(TemporarilyUnreadableError):
    """An item does not exist or is hidden from this account; Drive reports both the same way."""


class NotExportedError(UnreadableError):
    """Google does not export the document to this format, but maybe to another."""


class HiddenPermissionsError(SourceError):
    """This account may not see the permissions of a file."""


class StaleTokenError(SourceError):
    """The token to request changes has expired."""


class BrokenAnswerError(ValueError):
    """A response with status 200 does not contain the expected data."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call; `status` is 0 if the network failed.

    `is_transient`: the same call may succeed later. `is_login`: Google no longer accepts the login
    or, if `is_expiry`, the access token, which can be renewed. `retry_after` is in seconds.
    """

    status: int
    reason: str
    message: str
    is_transient: bool = False
    is_login: bool = False
    is_expiry: bool = False
    retry_after: float | None = None


def failure_of(error: Exception) -> Failure | None:
    """Classify an error of the client; None if neither Drive nor the network failed."""
    from google.auth.exceptions import RefreshError, TransportError
    from googleapiclient.errors import HttpError  # type: ignore[import-untyped]
    from httplib2 import HttpLib2Error  # type: ignore[import-untyped]

    if isinstance(error, HttpError):
        return _http_failure(error)
    if isinstance(error, RefreshError):
        is_transient = bool(error.retryable)
        return Failure(
            401,
            "refresh",
            _("The sign-in to Google failed"),
            is_transient,
            is_login=not is_transient,
        )
    if isinstance(error, ValueError):
        return Failure(200, "broken", _("Google Drive's response was malformed"), is_transient=True)
    if isinstance(error, TransportError | HttpLib2Error | http.client.HTTPException | OSError):
        why = str(error) or type(error).__name__
        return Failure(
            0,
            "network",
            _("Google Drive can't be reached ({why})").format(why=why),
            is_transient=True,
        )
    return None


def _http_failure(error: Any) -> Failure:
    status = int(error.resp.status)
    error_data = _error_data(error.content)
    reason, message = _reason(error_data), str(error_data.get("message") or error.reason)
    return Failure(
        status,
        reason,
        message,
        is_transient=status in OVERLOADED or (status == 403 and reason in _TOO_FAST),
        is_login=status == 401,
        is_expiry=status == 401,
        retry_after=retry_after_s(error.resp.get("retry-after", "")),
    )


def _error_data(content: bytes) -> dict[str, Any]:
    try:
        error_data = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):  # an HTML page from a proxy
        return {}
    return error_data if isinstance(error_data, dict) else {}


def _reason(error_data: Mapping[str, Any]) -> str:
    """Drive's name for the reason; newer Google APIs put it in the details."""
    reasons = [
        str(one["reason"])
        for one in [*(error_data.get("details") or ()), *(error_data.get("errors") or ())]
        if isinstance(one, dict) and one.get("reason")
    ]
    configuration_reasons = [reason for reason in reasons if reason in _OF_PROJECT | _OF_SCOPE]
    return next(iter([*configuration_reasons, *reversed(reasons)]), "")


class TransientDriveError(TransientError):
    """A failure of Drive or the network; the next attempt may succeed."""

    def final_error(self, attempts: int) -> SourceUnavailableError:
        """The error to raise after the last attempt; it says how often the call failed."""
        often = _("{reason}, {attempts} times in a row: try again later.").format(
            reason=self.reason, attempts=attempts
        )
        message = (
            often if attempts > 1 else _("{reason}: try again later.").format(reason=self.reason)
        )
        return SourceUnavailableError(message, retry_after_s=self.retry_after_s or 0)


def short_reason(failure: Failure) -> str:
    """The reason for a wait, in a few words."""
    if failure.status == 429 or failure.reason in _TOO_FAST:
        return _("Google Drive asked to wait")
    if failure.status in {0, 200, 401}:
        return failure.message
    return _("Google Drive returned {status}").format(status=failure.status)


def refusal(failure: Failure, login: LoginKind) -> SourceError:
    """The error for a call that would fail again."""
    reason = failure.reason
    if failure.is_login:
        return SourceError(REFUSED[login])
    if reason in _SPENT:
        return SourceUnavailableError(
            _(
                "The project's Google quota for today is used up: the import resumes later."
                " To avoid this, raise the project's quota for the Drive API."
            )
        )
    if reason in _OF_PROJECT:
        return SourceError(
            _(
                "The Google Drive API is not enabled in this account's project: enable it in"
                " the Google Cloud console, and try again in a few minutes."
            )
        )
    if reason in _OF_SCOPE:
        return SourceError(
            _(
                "This sign-in does not include permission to read Google Drive (scope"
                " drive.readonly): sign in again and allow it."
            )
        )
    return _of_document(failure)


def _of_document(failure: Failure) -> SourceError:
    reason = failure.reason
    if failure.status == 404:
        return NotVisibleError(
            _("the file does not exist in Google Drive, or is hidden from this account")
        )
    if reason in _NOT_ALLOWED:
        return UnreadableError(_("Google does not let this account download it"))
    return SourceError(
        _("Google Drive rejected the request ({status} {reason}): {message}").format(
            status=failure.status, reason=reason or _("no reason given"), message=failure.message
        )
    )


def stale_token(failure: Failure) -> SourceError | None:
    """The error for a rejected page token; None for other failures."""
    if failure.status in {400, 404, 410}:  # 404: access to the shared drive is lost
        return StaleTokenError(
            _("Google Drive no longer reports the changes since the last import")
        )
    return None


def hidden_permissions(failure: Failure) -> SourceError | None:
    """The error for permissions that this account may not see; None for other failures."""
    if failure.status in {403, 404} and failure.reason not in _SPENT | _OF_PROJECT | _OF_SCOPE:
        return HiddenPermissionsError(failure.message)
    return None


def export_error(failure: Failure) -> SourceError | None:
    """The error for a document that is not exported to this format; None for other failures."""
    if failure.reason in _NOT_EXPORTED:
        return NotExportedError(
            _("Google refused to export it ({message})").format(message=failure.message)
        )
    return None
