"""Interprets responses of Confluence: as data, transient errors, or errors for users."""

from typing import TYPE_CHECKING, Any

from domain.errors import SourceError
from domain.messages import _
from domain.web.retry_after import retry_after_s
from loaders.retries import TransientError

if TYPE_CHECKING:
    from requests import Response

_TRANSIENT = {408, 423, 425, 429, 500, 502, 503, 504, 520, 522, 524}
_OF_CONTENT = {403, 404, 410}
_LONGEST_MESSAGE = 300


class ContentRefusedError(SourceError):
    """Confluence rejected a request: not found (404), forbidden (403), or invalid (400)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_of_content(self) -> bool:
        """Whether the status is about the requested content rather than the request."""
        return self.status in _OF_CONTENT


def refuse(response: "Response", url: str) -> None:
    """Raise the error for an unsuccessful response.

    Raises:
        TransientError: There were too many requests, or a server error.
        ContentRefusedError: The request was rejected.
        SourceError: The credentials are wrong.
    """
    status = response.status_code
    if status in _TRANSIENT:
        busy = _("Confluence is busy or failing ({status})").format(status=status)
        reason = (
            _("Confluence asked to wait ({status})").format(status=status)
            if status == 429
            else busy
        )
        raise TransientError(
            reason, retry_after_s=retry_after_s(response.headers.get("Retry-After", ""))
        )
    if status == 401 or "X-Authentication-Denied-Reason" in response.headers:
        raise SourceError(_not_signed_in(response, url))
    if status >= 300:
        message = _("Confluence rejected a request ({status}): {reason}").format(
            status=status, reason=_server_message(response)
        )
        raise ContentRefusedError(message, status)


def data_of(response: "Response", url: str, kind: type = dict) -> Any:
    """The JSON object in a response, or the array of objects if `kind` is list.

    Raises:
        TransientError: The response is broken.
        SourceError: The response is a web page, such as a login page.
    """
    refuse(response, url)
    if is_web_page(response):
        raise SourceError(login_page(url))
    try:
        data = response.json()
    except ValueError as error:
        raise TransientError(_("Confluence's response was incomplete or malformed")) from error
    has_kind = isinstance(data, kind)
    if has_kind and all(isinstance(one, dict) for one in data if kind is list):
        return data
    raise TransientError(_("Confluence did not return the requested data"))


def is_web_page(response: "Response") -> bool:
    """Whether the response is HTML, regardless of its header."""
    kind = response.headers.get("Content-Type", "")
    return "html" in kind.lower() or response.content[:200].lstrip()[:1] == b"<"


def login_page(url: str) -> str:
    """The message for a login page instead of data."""
    return _(
        "{url} returned a web page, such as a login page, instead of data: check the address"
        " and the credentials. If the site uses single sign-on (SSO), use a personal access"
        " token or an API token instead of a password."
    ).format(url=url)


def _not_signed_in(response: "Response", url: str) -> str:
    if "CAPTCHA" in response.headers.get("X-Authentication-Denied-Reason", ""):
        return _(
            "{url} requires a CAPTCHA after failed sign-in attempts: sign in once in a"
            " browser, then try again."
        ).format(url=url)
    return _(
        "{url} rejected the credentials ({status_code}): check the user and the token or"
        " password, and that the token has not expired."
    ).format(url=url, status_code=response.status_code)


def _server_message(response: "Response") -> str:
    """Confluence's message on one line."""
    try:
        data = response.json()
    except ValueError:
        data = None
    message = data.get("message") if isinstance(data, dict) else None
    message = " ".join(str(message or response.reason or "").split())
    return message[:_LONGEST_MESSAGE] or _("no reason given")
