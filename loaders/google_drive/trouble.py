"""What went wrong in a call, whether it passes, and what a person is told of it."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from errors import SourceError, SourceUnavailableError, UnreadableError, UnreadableNowError
from loaders.google_drive.login import REFUSED, LoginKind

_TOO_FAST = {"rateLimitExceeded", "userRateLimitExceeded"}
_SPENT = {"dailyLimitExceeded", "quotaExceeded"}
_PASSING_STATUS = {408, 429, 500, 502, 503, 504}
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


class NotVisibleError(UnreadableNowError):
    """There is no such thing, or this account may not see it; Drive tells them not apart."""


class NotExportedError(UnreadableError):
    """Google does not export the document in this format; perhaps it does in another."""


class StaleTokenError(SourceError):
    """Drive no longer knows from where changes are asked for."""


class BrokenAnswerError(ValueError):
    """What came with status 200 is not what was asked for."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """One answer that is none: `status` is 0 where nothing came of the network.

    `passes`: the same call may succeed in a while. `is_login`: Google knows the login no more,
    or, where `is_expiry`, an access token that a new one can stand in for. `retry_after` is in
    seconds.
    """

    status: int
    reason: str
    message: str
    passes: bool = False
    is_login: bool = False
    is_expiry: bool = False
    retry_after: float | None = None


def trouble_of(error: Exception) -> Trouble | None:
    """What an error of the client means; None where it is none of Drive's or the network's."""
    from google.auth.exceptions import RefreshError, TransportError
    from googleapiclient.errors import HttpError  # type: ignore[import-untyped]  # it has no types
    from httplib2 import HttpLib2Error  # type: ignore[import-untyped]  # as above

    if isinstance(error, HttpError):
        return _answered(error)
    if isinstance(error, RefreshError):
        passes = bool(error.retryable)
        return Trouble(401, "refresh", "Google's sign-in failed", passes, is_login=not passes)
    if isinstance(error, ValueError):
        return Trouble(200, "broken", "Google Drive's answer was broken", passes=True)
    if isinstance(error, TransportError | HttpLib2Error | http.client.HTTPException | OSError):
        why = str(error) or type(error).__name__
        return Trouble(0, "network", f"Google Drive can't be reached ({why})", passes=True)
    return None


def _answered(error: Any) -> Trouble:
    status = int(error.resp.status)
    told = _told(error.content)
    reason, message = _reason(told), str(told.get("message") or error.reason)
    return Trouble(
        status,
        reason,
        message,
        passes=status in _PASSING_STATUS or (status == 403 and reason in _TOO_FAST),
        is_login=status == 401,
        is_expiry=status == 401,
        retry_after=_seconds(error.resp.get("retry-after")),
    )


def _told(content: bytes) -> dict[str, Any]:
    try:
        told = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):  # an HTML page of a proxy
        return {}
    return told if isinstance(told, dict) else {}


def _reason(told: Mapping[str, Any]) -> str:
    """The reason as Drive calls it; newer parts of Google tell it among the details."""
    named = [
        str(one["reason"])
        for one in [*(told.get("details") or ()), *(told.get("errors") or ())]
        if isinstance(one, dict) and one.get("reason")
    ]
    known = [reason for reason in named if reason in _OF_PROJECT | _OF_SCOPE]
    return next(iter([*known, *reversed(named)]), "")


def _seconds(text: str | None) -> float | None:
    return float(text) if text and text.isdigit() else None


def exhausted(trouble: Trouble, attempts: int) -> SourceUnavailableError:
    """What is raised where trouble that passes has not passed."""
    told = told_shortly(trouble)
    often = f"{told}, {attempts} times in a row: try again in a while."
    message = often if attempts > 1 else f"{told}: try again in a while."
    return SourceUnavailableError(message, retry_after_s=trouble.retry_after or 0)


def told_shortly(trouble: Trouble) -> str:
    """Why one waits, in a few words."""
    if trouble.status == 429 or trouble.reason in _TOO_FAST:
        return "Google Drive asked to wait"
    if trouble.status in {0, 200, 401}:
        return trouble.message
    return f"Google Drive answered {trouble.status}"


def refusal(trouble: Trouble, login: LoginKind) -> SourceError:
    """What is raised where the same call would fail again."""
    reason = trouble.reason
    if trouble.is_login:
        return SourceError(REFUSED[login])
    if reason in _SPENT:
        return SourceUnavailableError(
            "What Google allows this project for today is used up: the import goes on later, or"
            " raise the project's limit for the Drive API."
        )
    if reason in _OF_PROJECT:
        return SourceError(
            "The Google Drive API is not switched on in the project of this login: switch it on"
            " in the Google Cloud console and try again in a few minutes."
        )
    if reason in _OF_SCOPE:
        return SourceError(
            "This sign-in may not read Google Drive (scope drive.readonly): sign in again and"
            " allow it."
        )
    return _of_document(trouble)


def _of_document(trouble: Trouble) -> SourceError:
    reason = trouble.reason
    if trouble.status == 404:
        return NotVisibleError("Google Drive has no such file, or does not show it to this account")
    if reason in _NOT_ALLOWED:
        return UnreadableError("Google does not let this account download it")
    return SourceError(
        f"Google Drive refused ({trouble.status} {reason or 'without a reason'}): {trouble.message}"
    )


def stale_token(trouble: Trouble) -> SourceError | None:
    """What is raised where a page token is refused; None: it is not that."""
    if trouble.status in {400, 404, 410}:  # 404: a shared drive that is this account's no more
        return StaleTokenError("Google Drive no longer tells what has changed since then")
    return None


def not_exported(trouble: Trouble) -> SourceError | None:
    """What is raised where a document is not exported in this format; None: it is not that."""
    if trouble.reason in _NOT_EXPORTED:
        return NotExportedError(f"Google does not export it ({trouble.message})")
    return None
