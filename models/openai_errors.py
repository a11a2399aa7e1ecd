"""What the OpenAI client raises, turned into errors that say what to do next."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from errors import ConfigError, ModelError, ModelUnavailableError

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_HOST = "api.openai.com"
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
NO_KEY = "none"
"""Sent where no key is set: most servers of one's own ask for none, the client insists on one."""
_SHOWN_CHARS = 300
_TOO_LONG = ("context length", "context window", "context size", "prompt is too long")


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
    usual_end: str = "/v1"

    def __post_init__(self) -> None:
        """Refuse what the client could only fail on later, in words that name no setting.

        Raises:
            ConfigError: The base URL is no address, or the key can't be one. Neither is shown:
                one is easily set in place of the other.
        """
        if not _is_address(self.base_url):
            raise ConfigError(
                f"{self.url_setting} is no address. It starts with http:// or https://, names a "
                f"server and usually ends in {self.usual_end}."
            )
        key = self.key.get_secret_value() if self.key else ""
        if not (key.isascii() and key.isprintable() and key == key.strip()):
            raise ConfigError(
                f"{self.key_setting} is no key: it holds a blank, a line break or a letter that "
                "no key has. Copy it once more."
            )

    @property
    def host(self) -> str:
        """Host and port, without any name and password the URL may hold."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2] or self.base_url

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own, a region of it such as eu.api.openai.com included."""
        name = _name_of(self.base_url)
        return name == _OPENAI_HOST or name.endswith(f".{_OPENAI_HOST}")

    @property
    def takes_completion_tokens(self) -> bool:
        """Whether the length of an answer is named max_completion_tokens there.

        The reasoning models of OpenAI and of Azure refuse max_tokens. Elsewhere it is the other way
        round: Ollama, llama-cpp-python and llama.cpp before 2026 ignore the newer name, Mistral and
        vLLM before 0.6.4 refuse it. Sending both helps nobody: the strict refuse the other one.
        """
        return self.is_openai or _name_of(self.base_url).endswith(_AZURE_HOSTS)

    @property
    def address(self) -> str:
        """The base URL without any name, password and query it may hold."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{self.host}{parts.path}"


@contextmanager
def model_errors(endpoint: Endpoint) -> Iterator[None]:
    """Turn what the client raises inside into an error for the person; others pass.

    Raises:
        ModelUnavailableError: The server can't be reached, is overloaded, failed or broke off.
        ModelError: It refused, or what answered does not speak OpenAI's protocol.
    """
    import httpx2
    import openai

    from models.answer_limits import AnswerCutError

    try:
        yield
    except AnswerCutError as error:
        raise ModelUnavailableError(_too_much(endpoint)) from error
    except openai.APIError as error:
        raise _translated(error, endpoint) from error
    except (httpx2.TimeoutException, TimeoutError) as error:
        raise ModelUnavailableError(_too_slow(endpoint)) from error
    except httpx2.HTTPError as error:
        raise broken_off(endpoint) from error
    except (openai.OpenAIError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise not_understood(endpoint, str(error)) from error


def broken_off(endpoint: Endpoint) -> ModelUnavailableError:
    """The error for an answer whose end never came."""
    return ModelUnavailableError(
        f"{endpoint.host} broke off: the answer ended without finishing. "
        "What came is incomplete; ask again."
    )


def not_understood(endpoint: Endpoint, what: str = "") -> ModelError:
    """The error for an answer that is not in OpenAI's protocol, or none at all."""
    return ModelError(
        f"{endpoint.host} does not answer in OpenAI's protocol.{shown_words(what, endpoint)} "
        f"Check {endpoint.url_setting} ({endpoint.address}); it usually ends in /v1."
    )


def _name_of(url: str) -> str:
    return (urlsplit(url).hostname or "").rstrip(".")


def _is_address(url: str) -> bool:
    import httpx2

    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
        httpx2.URL(url).raw_host.decode().encode("idna")  # as a connection needs it
    except (ValueError, httpx2.InvalidURL):  # of an open bracket, a port, a name such as a..b
        return False
    return named and parts.scheme in {"http", "https"} and url.isprintable() and " " not in url


def _translated(error: "openai.APIError", endpoint: Endpoint) -> ModelError:
    import openai

    if isinstance(error, openai.APIConnectionError):
        return _disconnected(error, endpoint)
    if isinstance(error, openai.APIStatusError):
        return _refused(error, endpoint)
    return ModelUnavailableError(
        f"{endpoint.host} stopped with an error.{shown_words(error.message, endpoint)} Ask again."
    )


def _disconnected(error: "openai.APIConnectionError", endpoint: Endpoint) -> ModelError:
    import httpx2
    import openai

    root: BaseException = error
    while root.__cause__ is not None and not isinstance(root, httpx2.HTTPError):
        root = root.__cause__
    if isinstance(root, httpx2.RemoteProtocolError | httpx2.ReadError):
        return broken_off(endpoint)
    if isinstance(error, openai.APITimeoutError) and not isinstance(root, httpx2.ConnectTimeout):
        return ModelUnavailableError(_too_slow(endpoint))
    return ModelUnavailableError(
        f"{endpoint.host} can't be reached. Check that the server is running and "
        f"{endpoint.url_setting} ({endpoint.address}) is right."
    )


def _refused(error: "openai.APIStatusError", endpoint: Endpoint) -> ModelError:
    host, status = endpoint.host, error.status_code
    said = shown_words(error.message, endpoint)
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
            f"Check {endpoint.model_setting} and {endpoint.url_setting} ({endpoint.address})."
        )
    if status == 429:
        return _too_many(error, endpoint)
    if status == 408 or status >= 500:
        return ModelUnavailableError(f"{host} failed (HTTP {status}).{said} Try again soon.")
    if _is_too_long(error):
        return ModelError(
            f"The question with its passages is too long for {endpoint.model} on {host}.{said} "
            "Retrieve fewer passages, lower FOOTNOTE_PASSAGES_TOKENS, FOOTNOTE_HISTORY_TOKENS or "
            "FOOTNOTE_CHAT_MAX_TOKENS, or choose a model that reads more."
        )
    return ModelError(
        f"{host} refuses the request (HTTP {status}).{said} "
        f"Check {endpoint.model_setting} ({endpoint.model}) and the server's own log."
    )


def _too_many(error: "openai.APIStatusError", endpoint: Endpoint) -> ModelError:
    if error.code == "insufficient_quota":
        return ModelError(
            f"The account behind {endpoint.key_setting} has no quota left at {endpoint.host} "
            "(HTTP 429). Add credit there, or set another key."
        )
    when = _retry_when(error.response.headers.get("retry-after", ""))
    return ModelUnavailableError(
        f"{endpoint.host} takes no more requests for now (HTTP 429). Try again {when}."
    )


def _retry_when(retry_after: str) -> str:
    """The header holds seconds, or a date, or is missing."""
    try:
        return f"in {math.ceil(float(retry_after))} s"
    except (ValueError, OverflowError):
        return f"after {retry_after}" if retry_after else "in a minute"


def _is_too_long(error: "openai.APIStatusError") -> bool:
    message = error.message.lower()
    return error.code == "context_length_exceeded" or any(sign in message for sign in _TOO_LONG)


def _too_slow(endpoint: Endpoint) -> str:
    return (
        f"{endpoint.host} sent nothing for {endpoint.timeout_s:g} s. Ask again; if it is a slow "
        "model, raise the time limit."
    )


def _too_much(endpoint: Endpoint) -> str:
    return (
        f"{endpoint.host} sent more, or for longer, than FOOTNOTE_CHAT_MAX_TOKENS and "
        "FOOTNOTE_CHAT_ANSWER_TIMEOUT_S allow: raise them, or ask for less at once."
    )


def shown_words(message: str, endpoint: Endpoint) -> str:
    """What the server said, as a sentence to append, or nothing; without the key."""
    key = endpoint.key.get_secret_value() if endpoint.key else ""
    text = re.sub(r"^Error code: \d+(?: - )?", "", " ".join(message.split()))
    text = text.replace(key, "***") if key else text
    return f" It says: {text[:_SHOWN_CHARS].rstrip('.')}." if text else ""
