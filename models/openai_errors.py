"""Translates exceptions of the OpenAI client to errors that say what to do next."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import SecretStr

from domain.errors import (
    ConfigError,
    ContextOverflowError,
    ForbiddenAddressError,
    ModelError,
    ModelUnavailableError,
    RequestRejectedError,
)
from domain.messages import _
from domain.web.address_guard import AddressGuard
from domain.web.retry_after import retry_after_s

if TYPE_CHECKING:
    import openai

OPENAI_URL = "https://api.openai.com/v1"
_OPENAI_HOST = "api.openai.com"
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
NO_KEY = "none"
"""Sent if no key is set: most self-hosted servers need none, but the client requires one."""
_SHOWN_CHARS = 300
_TOO_LONG = ("context length", "context window", "context size", "prompt is too long")


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible server and the names of its settings, for messages."""

    base_url: str
    model: str
    model_setting: str
    key: SecretStr | None = None
    timeout_s: float = 60
    url_setting: str = "OPENAI_BASE_URL"
    key_setting: str = "OPENAI_API_KEY"
    usual_end: str = "/v1"
    guard: AddressGuard | None = None
    """Permits the server's addresses; None permits all."""
    is_earlier: bool = False
    """Whether the active index was built with it, but another server is configured now."""

    def __post_init__(self) -> None:
        """Reject values that would only fail later in the client, with errors that name no setting.

        Raises:
            ConfigError: The base URL or the key is invalid. Neither is shown, because the key may
                be in the URL setting by mistake.
        """
        if not _is_address(self.base_url):
            raise ConfigError(
                _(
                    "{url_setting} is not a valid address. An address starts with http:// or"
                    " https://, contains a host, and usually ends in {usual_end}."
                ).format(url_setting=self.url_setting, usual_end=self.usual_end)
            )
        key = self.key.get_secret_value() if self.key else ""
        if not (key.isascii() and key.isprintable() and key == key.strip()):
            raise ConfigError(
                _(
                    "{key_setting} is not a valid key: it contains a space, a line break, or"
                    " another character that keys can't contain. Copy it again."
                ).format(key_setting=self.key_setting)
            )

    @property
    def host(self) -> str:
        """Host and port, without a user name and password in the URL."""
        return urlsplit(self.base_url).netloc.rpartition("@")[2] or self.base_url

    @property
    def is_openai(self) -> bool:
        """Whether it is OpenAI's own server, including regional ones such as eu.api.openai.com."""
        name = _name_of(self.base_url)
        return name == _OPENAI_HOST or name.endswith(f".{_OPENAI_HOST}")

    @property
    def takes_completion_tokens(self) -> bool:
        """Whether the server calls the length limit of an answer max_completion_tokens.

        The reasoning models of OpenAI and Azure reject max_tokens. Other servers need max_tokens:
        Ollama, llama-cpp-python, and llama.cpp before 2026 ignore the newer name; Mistral and vLLM
        before 0.6.4 reject it. Sending both does not help, because strict servers reject the name
        that they don't know.
        """
        return self.is_openai or _name_of(self.base_url).endswith(_AZURE_HOSTS)

    @property
    def address(self) -> str:
        """The base URL without user name, password, and query."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{self.host}{parts.path}"

    @property
    def values(self) -> dict[str, object]:
        """What messages may say about the server; never its key."""
        names = ("host", "address", "model", "model_setting", "url_setting", "key_setting")
        others = {"usual_end": self.usual_end, "timeout_s": f"{self.timeout_s:g}"}
        return {name: getattr(self, name) for name in names} | others


class NotStreamedError(Exception):
    """The server sent JSON although a stream was requested."""


@contextmanager
def model_errors(endpoint: Endpoint) -> Iterator[None]:
    """Translate the client's exceptions in the block to user-facing errors; others propagate.

    Raises:
        ModelUnavailableError: The server can't be reached, is overloaded, failed, or disconnected.
        ContextOverflowError: The prompt is too long for the model.
        RequestRejectedError: The server considers the request invalid.
        ModelError: The server denied access, or does not speak OpenAI's protocol.
    """
    import httpx2
    import openai

    from models.answer_limits import AnswerCutError

    try:
        yield
    except ForbiddenAddressError as error:
        raise ModelError(error.args[0]) from error
    except AnswerCutError as error:
        raise ModelUnavailableError(_too_much(endpoint)) from error
    except NotStreamedError as error:
        raise ModelError(_not_streamed(endpoint)) from error
    except openai.APIError as error:
        raise _translate(error, endpoint) from error
    except (httpx2.TimeoutException, TimeoutError) as error:
        raise ModelUnavailableError(_too_slow(endpoint)) from error
    except httpx2.HTTPError as error:
        raise broken_off(endpoint) from error
    except (openai.OpenAIError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise not_understood(endpoint, str(error)) from error


def broken_off(endpoint: Endpoint) -> ModelUnavailableError:
    """The error for an answer that ended early."""
    return ModelUnavailableError(
        _("{host} stopped responding, so the answer is incomplete. Ask again.").format(
            host=endpoint.host
        )
    )


def not_understood(endpoint: Endpoint, what: str = "") -> ModelError:
    """The error for an answer that violates OpenAI's protocol or is empty."""
    return ModelError(
        _(
            "{host} did not respond in OpenAI's protocol.{shown_words} Check {url_setting}"
            " ({address}); it usually ends in /v1."
        ).format(**endpoint.values, shown_words=shown_words(what, endpoint))
    )


def _not_streamed(endpoint: Endpoint) -> str:
    return _(
        "{host} did not respond in OpenAI's protocol: it sent JSON instead of the requested"
        " stream. Check {url_setting} ({address}), or use a server that can stream answers."
    ).format(**endpoint.values)


def too_long(endpoint: Endpoint, what: str = "") -> ContextOverflowError:
    """The error for a prompt that exceeds the model's context; `what` is the server's message."""
    return ContextOverflowError(
        _(
            "The question with its passages is too long for {model} on {host}.{details}"
            " Retrieve fewer passages, lower FOOTNOTE_PASSAGES_TOKENS,"
            " FOOTNOTE_HISTORY_TOKENS, or FOOTNOTE_CHAT_MAX_TOKENS, or choose a model"
            " with a larger context window."
        ).format(**endpoint.values, details=shown_words(what, endpoint))
    )


def _name_of(url: str) -> str:
    return (urlsplit(url).hostname or "").rstrip(".")


def _is_address(url: str) -> bool:
    import httpx2

    try:
        parts = urlsplit(url)
        named = bool(parts.hostname) and parts.port != 0
        httpx2.URL(url).raw_host.decode().encode("idna")  # as a connection does
    except (ValueError, httpx2.InvalidURL):  # open bracket, bad port, name such as a..b
        return False
    return named and parts.scheme in {"http", "https"} and url.isprintable() and " " not in url


def _translate(error: "openai.APIError", endpoint: Endpoint) -> ModelError:
    import openai

    if isinstance(error, openai.APIConnectionError):
        return _connection_error(error, endpoint)
    if isinstance(error, openai.APIStatusError):
        return _access_denied(error, endpoint)
    return ModelUnavailableError(
        _("{host} stopped with an error.{shown_words} Ask again.").format(
            host=endpoint.host, shown_words=shown_words(error.message, endpoint)
        )
    )


def _connection_error(error: "openai.APIConnectionError", endpoint: Endpoint) -> ModelError:
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
        _(
            "{host} can't be reached. Check that the server is running and {url_setting}"
            " ({address}) is correct."
        ).format(**endpoint.values)
    )


def _access_denied(error: "openai.APIStatusError", endpoint: Endpoint) -> ModelError:
    host, status = endpoint.host, error.status_code
    details = shown_words(error.message, endpoint)
    if status in (401, 403) and endpoint.is_earlier:
        return ModelError(
            _(
                "{host} denied access (HTTP {status}): the index was built with the endpoint"
                " {address}, whose key is no longer set. Run `python cli.py reindex`, or restore"
                " the endpoint and its key."
            ).format(**endpoint.values, status=status)
        )
    if status in (401, 403):
        # Not shown, because servers often repeat the key in their message.
        state = _("is not set") if endpoint.key is None else _("was rejected")
        return ModelError(
            _(
                "{host} denied access (HTTP {status}): {key_setting} {state}. Set a key that"
                " is valid for this server and this model."
            ).format(**endpoint.values, status=status, state=state)
        )
    if status == 404:
        return ModelError(
            _(
                "{host} has no model named {model}, or no such address (HTTP 404). Check"
                " {model_setting} and {url_setting} ({address})."
            ).format(**{**endpoint.values, "model": repr(endpoint.model)})
        )
    if status == 429:
        return _too_many(error, endpoint)
    if status == 408 or status >= 500:
        return ModelUnavailableError(
            _("{host} failed (HTTP {status}).{details} Try again later.").format(
                host=host, status=status, details=details
            )
        )
    if _is_too_long(error):
        return too_long(endpoint, error.message)
    return RequestRejectedError(
        _(
            "{host} rejected the request (HTTP {status}).{details} Check {model_setting}"
            " ({model}) and the server's log."
        ).format(**endpoint.values, status=status, details=details)
    )


def _too_many(error: "openai.APIStatusError", endpoint: Endpoint) -> ModelError:
    if error.code == "insufficient_quota":
        return ModelError(
            _(
                "The account behind {key_setting} has no quota left at {host} (HTTP 429). Add"
                " credit there, or set another key."
            ).format(**endpoint.values)
        )
    return rate_limit_error(endpoint.host, error.response.headers.get("retry-after", ""))


def rate_limit_error(host: str, retry_after: str) -> ModelUnavailableError:
    """The error for HTTP 429; the Retry-After header is "" if it is missing."""
    seconds = retry_after_s(retry_after)
    if seconds is None:
        when = _("in a minute")
    else:
        when = _("in {retry_after} s").format(retry_after=max(1, math.ceil(seconds)))
    return ModelUnavailableError(
        _(
            "{host} is rejecting requests because of its rate limit (HTTP 429). Try again {when}."
        ).format(host=host, when=when)
    )


def _is_too_long(error: "openai.APIStatusError") -> bool:
    message = error.message.lower()
    return error.code == "context_length_exceeded" or any(sign in message for sign in _TOO_LONG)


def _too_slow(endpoint: Endpoint) -> str:
    return _(
        "{host} sent nothing for {timeout_s} s. Ask again. If the model is slow, raise the"
        " time limit."
    ).format(**endpoint.values)


def _too_much(endpoint: Endpoint) -> str:
    return _(
        "The answer from {host} exceeded FOOTNOTE_CHAT_MAX_TOKENS or"
        " FOOTNOTE_CHAT_ANSWER_TIMEOUT_S: raise the limit, or ask for less at once."
    ).format(host=endpoint.host)


def shown_words(message: str, endpoint: Endpoint) -> str:
    """The server's message as a sentence to append, without the key; "" if there is none."""
    key = endpoint.key.get_secret_value() if endpoint.key else ""
    text = re.sub(r"^Error code: \d+(?: - )?", "", " ".join(message.split()))
    text = text.replace(key, "***") if key else text
    return (
        _(" The server says: {value}.").format(value=text[:_SHOWN_CHARS].rstrip("."))
        if text
        else ""
    )
