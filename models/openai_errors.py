"""What the OpenAI client raises, turned into errors that say what to do next."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from errors import ModelError, ModelUnavailableError

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
NO_KEY = "none"
"""Sent where no key is set: most servers of one's own ask for none, the client insists on one."""
_SHOWN_CHARS = 300


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible server as messages name it, with the settings that chose it."""

    base_url: str
    model: str
    model_setting: str
    key: SecretStr | None = None
    timeout_s: float = 60
    url_setting: str = "OPENAI_BASE_URL"
    key_setting: str = "OPENAI_API_KEY"

    @property
    def host(self) -> str:
        """Host and port, without any name and password the URL may hold."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2] or self.base_url


@contextmanager
def model_errors(endpoint: Endpoint) -> Iterator[None]:
    """Turn what the client raises inside into an error for the person; others pass.

    Raises:
        ModelUnavailableError: The server can't be reached, is overloaded, failed or broke off.
        ModelError: It refused, or what answered does not speak OpenAI's protocol.
    """
    import httpx2
    import openai

    try:
        yield
    except openai.APIError as error:
        raise _translated(error, endpoint) from error
    except (httpx2.TimeoutException, TimeoutError) as error:
        raise ModelUnavailableError(_too_slow(endpoint)) from error
    except httpx2.HTTPError as error:
        raise broken_off(endpoint) from error
    except (openai.OpenAIError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(
            f"{endpoint.host} answered with something that is not OpenAI's protocol: "
            f"{_shown(str(error), endpoint)} Check {endpoint.url_setting} "
            f"({endpoint.base_url}); it usually ends in /v1."
        ) from error


def broken_off(endpoint: Endpoint) -> ModelUnavailableError:
    """The error for an answer whose end never came."""
    return ModelUnavailableError(
        f"{endpoint.host} broke off: the answer ended without finishing. "
        "What came is incomplete; ask again."
    )


def _translated(error: "openai.APIError", endpoint: Endpoint) -> ModelError:
    import openai

    if isinstance(error, openai.APITimeoutError):
        return ModelUnavailableError(_too_slow(endpoint))
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailableError(
            f"{endpoint.host} can't be reached. Check that the server is running and "
            f"{endpoint.url_setting} ({endpoint.base_url}) is right."
        )
    if isinstance(error, openai.APIStatusError):
        return _refused(error, endpoint)
    return ModelUnavailableError(
        f"{endpoint.host} stopped with an error: {_shown(error.message, endpoint)} Ask again."
    )


def _refused(error: "openai.APIStatusError", endpoint: Endpoint) -> ModelError:
    host, status = endpoint.host, error.status_code
    said = _shown(error.message, endpoint)
    if status in (401, 403):
        # Servers like to repeat the key in their message, so it isn't shown.
        state = "is not set" if endpoint.key is None else "was refused"
        return ModelError(
            f"{host} refuses access (HTTP {status}): {endpoint.key_setting} {state}. "
            "Set a key that is valid for this server and this model."
        )
    if status == 404:
        return ModelError(
            f"{host} knows no model named {endpoint.model!r}, or no such address (HTTP 404). "
            f"Check {endpoint.model_setting} and {endpoint.url_setting} ({endpoint.base_url})."
        )
    if status == 429:
        return _too_many(error, endpoint)
    if status == 408 or status >= 500:
        return ModelUnavailableError(f"{host} failed (HTTP {status}): {said} Try again soon.")
    if _is_too_long(error):
        return ModelError(
            f"The question with its passages is too long for {endpoint.model} on {host}: {said} "
            "Retrieve fewer passages, start a new conversation, or choose a model that reads more."
        )
    return ModelError(
        f"{host} refuses the request (HTTP {status}): {said} "
        f"Check {endpoint.model_setting} ({endpoint.model}) and the server's own log."
    )


def _too_many(error: "openai.APIStatusError", endpoint: Endpoint) -> ModelError:
    if error.code == "insufficient_quota":
        return ModelError(
            f"The account behind {endpoint.key_setting} has no quota left at {endpoint.host} "
            "(HTTP 429). Add credit there, or set another key."
        )
    wait = error.response.headers.get("retry-after", "")
    when = f"in {wait} s" if wait.isdigit() else f"after {wait}" if wait else "in a minute"
    return ModelUnavailableError(
        f"{endpoint.host} takes no more requests for now (HTTP 429). Try again {when}."
    )


def _is_too_long(error: "openai.APIStatusError") -> bool:
    return error.code == "context_length_exceeded" or "context" in error.message.lower()


def _too_slow(endpoint: Endpoint) -> str:
    return (
        f"{endpoint.host} sent nothing for {endpoint.timeout_s:g} s. Ask again; if it is a slow "
        "model, raise the time limit."
    )


def _shown(message: str, endpoint: Endpoint) -> str:
    key = endpoint.key.get_secret_value() if endpoint.key else ""
    text = " ".join(message.split())
    text = text.replace(key, "***") if key else text
    return f"{text[:_SHOWN_CHARS].rstrip('.')}."
