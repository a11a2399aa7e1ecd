"""Tells what an answer of Confluence means: data, wait and ask again, or an error for a person."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from errors import AppError, SourceError, SourceUnavailableError

if TYPE_CHECKING:
    from requests import Response

_PASSING = {408, 423, 425, 429, 500, 502, 503, 504, 520, 522, 524}
_OF_CONTENT = {403, 404, 410}
_LONGEST_MESSAGE = 300


class ContentRefusedError(SourceError):
    """Confluence gives nothing there (404), not to this account (403), or not as asked (400)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_of_content(self) -> bool:
        """Whether it tells of the content asked for, not of how it was asked."""
        return self.status in _OF_CONTENT


class PassingError(Exception):
    """Something that may be over when one asks again.

    `why` is for a person who waits, `after` the seconds that Confluence asks for, `error` what is
    raised once nobody asks again.
    """

    def __init__(self, why: str, *, after: float | None = None) -> None:
        super().__init__(why)
        self.why, self.after = why, after
        self.error: AppError = SourceUnavailableError(
            f"{why}. Try again later.", retry_after_s=after or 0
        )


def refuse(response: "Response", url: str) -> None:
    """Raise what an answer means that is no success.

    Raises:
        PassingError: It may be over soon: too many requests, a server error.
        ContentRefusedError: It refuses this request.
        SourceError: The credentials are wrong.
    """
    status = response.status_code
    if status in _PASSING:
        busy = f"Confluence is busy or failing ({status})"
        why = f"Confluence asked to wait ({status})" if status == 429 else busy
        raise PassingError(why, after=_retry_after(response))
    if status == 401 or "X-Authentication-Denied-Reason" in response.headers:
        raise SourceError(_not_signed_in(response, url))
    if status >= 300:
        told = f"Confluence refused a request ({status}): {_told(response)}"
        raise ContentRefusedError(told, status)


def data_of(response: "Response", url: str) -> dict[str, Any]:
    """The JSON object in an answer.

    Raises:
        PassingError: It is broken.
        SourceError: It is a web page, as signing in shows one.
    """
    refuse(response, url)
    if is_web_page(response):
        raise SourceError(login_page(url))
    try:
        data = response.json()
    except ValueError as error:
        raise PassingError("Confluence's answer was cut off or broken") from error
    if not isinstance(data, dict):
        raise PassingError("Confluence's answer was not what was asked for")
    return data


def is_web_page(response: "Response") -> bool:
    """Whether it is HTML, whatever its header says."""
    kind = response.headers.get("Content-Type", "")
    return "html" in kind.lower() or response.content[:200].lstrip()[:1] == b"<"


def login_page(url: str) -> str:
    """The message where a page to sign in came in place of data."""
    return (
        f"{url} answered with a web page in place of data, as a page to sign in: check the address"
        " and the credentials. Where the site uses single sign-on (SSO), a personal access token"
        " or an API token is needed, not a password."
    )


def _not_signed_in(response: "Response", url: str) -> str:
    if "CAPTCHA" in response.headers.get("X-Authentication-Denied-Reason", ""):
        return (
            f"{url} wants a CAPTCHA after failed attempts to sign in: sign in once in a browser,"
            " then try again."
        )
    return (
        f"{url} refused the credentials ({response.status_code}): check the user and the token or"
        " password, and that the token has not expired."
    )


def _told(response: "Response") -> str:
    """What Confluence says of it."""
    try:
        data = response.json()
    except ValueError:
        data = None
    message = data.get("message") if isinstance(data, dict) else None
    told = " ".join(str(message or response.reason or "without a reason").split())
    return told[:_LONGEST_MESSAGE]


def _retry_after(response: "Response") -> float | None:
    """Seconds to wait, from a number or a date; None where it tells neither."""
    told = response.headers.get("Retry-After", "")
    if re.fullmatch("[0-9]+", told.strip()):
        return float(told)
    try:
        moment = parsedate_to_datetime(told)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
