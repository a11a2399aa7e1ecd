"""Chooses the chat model if the settings name a server but no model."""

import json
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pydantic import SecretStr

from domain import EXTRACTIVE, Answerer
from domain.errors import ForbiddenAddressError
from domain.logs import OutgoingRequest, log_context, outgoing_request
from domain.messages import _
from domain.web.address_guard import AddressGuard
from models.openai_errors import NO_KEY, OPENAI_URL, Endpoint

if TYPE_CHECKING:
    import httpx2
    from langchain_core.language_models import BaseChatModel


MODEL_SETTING = "FOOTNOTE_CHAT_MODEL"
CONNECT_TIMEOUT_S = 10


@dataclass(frozen=True)
class ChatSpec:
    """Configuration of a chat model and its server.

    `timeout_s` is the longest wait for data, `answer_timeout_s` the time limit of one call. If
    `temperature` or `max_tokens` is None, the server decides; some models reject a temperature.
    Before each of the `retries`, a call sleeps for as long as the server's Retry-After says, up to
    two minutes, and can't be interrupted. `guard` permits the addresses of the server; None permits
    all.
    """

    model: str = ""
    base_url: str | None = None
    api_key: SecretStr | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    timeout_s: float = 60
    answer_timeout_s: float = 300
    retries: int = 0
    guard: AddressGuard | None = None

    @property
    def has_server(self) -> bool:
        """Whether a server is configured."""
        return bool(self.base_url) or self.api_key is not None

    def endpoint(self) -> Endpoint:
        """The server, as named in error messages.

        Raises:
            ConfigError: The base URL or the key is invalid.
        """
        return Endpoint(
            base_url=self.base_url or OPENAI_URL,
            model=self.model,
            model_setting=MODEL_SETTING,
            key=self.api_key,
            timeout_s=self.timeout_s,
            guard=self.guard,
        )


def build_chat_model(spec: ChatSpec) -> "BaseChatModel | None":
    """The streaming chat model; None if it has no name, or neither a key nor a base URL.

    No request is sent yet. The model's calls raise only ModelError and ModelUnavailableError; the
    latter is also raised, after the last piece, if a stream ends without finishing.

    Raises:
        ConfigError: The base URL or the key is invalid.
    """
    if not (spec.model and spec.has_server):
        return None
    from openai import Timeout

    from models.answer_limits import AnswerLimits
    from models.openai_chat import TranslatedChatOpenAI

    return TranslatedChatOpenAI(
        spec.endpoint(),
        AnswerLimits(spec.max_tokens, spec.answer_timeout_s),
        model=spec.model,
        # Passed explicitly; otherwise the client reads the environment itself.
        base_url=spec.base_url or OPENAI_URL,
        api_key=spec.api_key or SecretStr(NO_KEY),
        temperature=spec.temperature,
        timeout=Timeout(spec.timeout_s, connect=min(CONNECT_TIMEOUT_S, spec.timeout_s)),
        stream_chunk_timeout=spec.timeout_s,
        max_retries=spec.retries,
        streaming=True,
        stream_usage=True,
        use_responses_api=False,
    )


LIST_S = 3.0
"""The time limit for listing the models, for all attempts together."""
ATTEMPTS = 2
PAUSE_S = 0.2
LIST_BYTES = 16 * 1024 * 1024


class NoListError(Exception):
    """A server did not list its models; the message is a sentence with the reason."""

    def __init__(self, reason: str, *, retryable: bool = False) -> None:
        super().__init__(reason)
        self.retryable = retryable


def listed_models(endpoint: Endpoint) -> list[str]:
    """The names that `GET {base URL}/models` lists, in that order, without duplicates.

    The request is retried once if the server can't be reached or fails.

    Raises:
        NoListError: The server returned no list in time.
    """
    deadline = time.monotonic() + LIST_S
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            with log_context(attempt=ATTEMPTS - attempts_left):
                return _names_in(_fetch(endpoint, deadline))
        except NoListError as error:
            if not (attempts_left and error.retryable) or time.monotonic() + PAUSE_S > deadline:
                raise
            time.sleep(PAUSE_S)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _fetch(endpoint: Endpoint, deadline: float) -> bytes:
    import httpx2

    from models.guarded_http import guard_connections

    url = httpx2.URL(endpoint.base_url)
    url = url.copy_with(path=f"{url.path.rstrip('/')}/models")
    key = endpoint.key.get_secret_value() if endpoint.key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    left = max(deadline - time.monotonic(), 0.001)
    with (
        _http_errors(),
        outgoing_request("GET", str(url)) as sent,
        httpx2.Client(headers=headers, timeout=left, follow_redirects=True) as client,
    ):
        guard_connections(client, endpoint.guard)
        return _listed(client, url, sent, deadline)


def _listed(
    client: "httpx2.Client", url: "httpx2.URL", sent: OutgoingRequest, deadline: float
) -> bytes:
    with client.stream("GET", url) as response:
        status = sent.status = response.status_code
        if status != 200:
            raise NoListError(
                _("It returned HTTP {status}.").format(status=status), retryable=status >= 500
            )
        return _content(response, deadline)


def _content(response: "httpx2.Response", deadline: float) -> bytes:
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > LIST_BYTES or time.monotonic() > deadline:
            raise NoListError(_("Its response did not end."))
    return bytes(content)


@contextmanager
def _http_errors() -> Iterator[None]:
    import httpx2

    try:
        yield
    except ForbiddenAddressError as error:
        raise NoListError(error.args[0]) from error
    except httpx2.TimeoutException as error:
        raise NoListError(
            _("It did not respond within {list_s} s.").format(list_s=f"{LIST_S:g}")
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NoListError(_("It can't be reached."), retryable=True) from error


def _names_in(content: bytes) -> list[str]:
    try:
        listed = json.loads(content)["data"] or ()
        names = [entry["id"] for entry in listed]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise NoListError(_("Its response is not a list of models.")) from error
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))


QUERY_INTERVAL_S = 30.0
"""Seconds until a server without a usable model is queried again: it may have started late."""
FIRST_WAIT_S = 0.25
"""How long a page waits for the first list; it never waits for later ones."""
NAMES_SHOWN = 8


class AnsweringModel(NamedTuple):
    """A chat model (None for the built-in answerer) and the label shown on its answers."""

    model: "BaseChatModel | None"
    label: str


class ChatModelChoice:
    """The configured chat model, or the only one that the configured server offers.

    A server is queried for its models only if OPENAI_BASE_URL names a server other than OpenAI's: a
    key alone may be in the environment for another program. Once found, the only model is used as
    long as this process runs.
    """

    def __init__(self, spec: ChatSpec, other_models: Collection[str] = ()) -> None:
        """Create the choice; no request is sent yet.

        Args:
            spec: The settings.
            other_models: Names of models that the same server offers for other purposes.

        Raises:
            ConfigError: The base URL or the key is invalid.
        """
        self._spec = spec
        self._other_models = frozenset(other_models)
        self._needs_list = bool(spec.base_url) and not spec.model and not spec.endpoint().is_openai
        self._answerer = Answerer(EXTRACTIVE) if self._needs_list else _configured_answerer(spec)
        self._queried_at: float | None = None
        self._lock = threading.Lock()
        self._query: threading.Thread | None = None

    def current(self) -> Answerer:
        """The answerer known so far; if a query is due, it runs in the background."""
        if self._is_due() and not (self._query and self._query.is_alive()):
            is_first = self._queried_at is None
            self._query = threading.Thread(target=self.resolve, daemon=True)
            self._query.start()
            if is_first:
                self._query.join(FIRST_WAIT_S)
        return self._answerer

    def resolve(self) -> Answerer:
        """The answerer for a question that is asked now.

        If the server has to be queried, wait for it, for at most `models.chat_choice.LIST_S`
        seconds.
        """
        with self._lock:
            if self._is_due():
                self._answerer = self._query_server()
                self._queried_at = time.monotonic()
            return self._answerer

    def answering_model(self) -> AnsweringModel:
        """The model of `resolve`, built when it is first needed."""
        label = self.resolve().label
        return AnsweringModel(None if label == EXTRACTIVE else self._model, label)

    @cached_property
    def _model(self) -> "BaseChatModel | None":
        """The chosen model, built once: the choice is final for this process."""
        return build_chat_model(replace(self._spec, model=self.resolve().label))

    def _is_due(self) -> bool:
        if not self._needs_list or self._answerer.label != EXTRACTIVE:
            return False
        return self._queried_at is None or time.monotonic() - self._queried_at > QUERY_INTERVAL_S

    def _query_server(self) -> Answerer:
        endpoint = self._spec.endpoint()
        try:
            listed = listed_models(endpoint)
        except NoListError as error:
            return _without_list(endpoint, str(error))
        return _choose(endpoint, [name for name in listed if name not in self._other_models])


def _configured_answerer(spec: ChatSpec) -> Answerer:
    """The answerer that follows from the settings alone."""
    if not spec.has_server:
        return Answerer(EXTRACTIVE)
    if spec.model:
        spec.endpoint()  # raises ConfigError for an invalid base URL or key
        return Answerer(spec.model)
    # The key is not checked: it may be meant for another program.
    setting = "OPENAI_API_KEY" if spec.api_key else "OPENAI_BASE_URL"
    host = Endpoint(spec.base_url or OPENAI_URL, "", MODEL_SETTING).host
    return Answerer(
        EXTRACTIVE,
        notice=_(
            "{setting} is set, but FOOTNOTE_CHAT_MODEL is not, so answers come from the"
            " built-in answerer and no question is sent to {host}. To use a model of {host},"
            " choose it on the settings page, or set FOOTNOTE_CHAT_MODEL to its name."
        ).format(setting=setting, host=host),
    )


def _choose(endpoint: Endpoint, names: Sequence[str]) -> Answerer:
    host = endpoint.host
    if not names:
        return Answerer(
            EXTRACTIVE,
            notice=_(
                "FOOTNOTE_CHAT_MODEL is not set and {host} offers no chat model, so answers"
                " come from the built-in answerer. Load a model there, or enter its name on the"
                " settings page or in FOOTNOTE_CHAT_MODEL."
            ).format(host=host),
        )
    if len(names) == 1:
        model = names[0]
        return Answerer(
            model,
            notice=_(
                "FOOTNOTE_CHAT_MODEL is not set, so answers come from {model}, the only model that"
                " {host} offers."
            ).format(model=model, host=host),
        )
    shown = ", ".join(names[:NAMES_SHOWN]) + (", …" if len(names) > NAMES_SHOWN else "")
    return Answerer(
        EXTRACTIVE,
        notice=_(
            "FOOTNOTE_CHAT_MODEL is not set and {host} offers {names} models, so answers come from"
            " the built-in answerer. Choose one on the settings page, or set FOOTNOTE_CHAT_MODEL"
            " to one of them: {shown}"
        ).format(host=host, names=len(names), shown=shown),
    )


def _without_list(endpoint: Endpoint, reason: str) -> Answerer:
    return Answerer(
        EXTRACTIVE,
        notice=_(
            "FOOTNOTE_CHAT_MODEL is not set and {host} does not list its models, so answers"
            " come from the built-in answerer. {reason} Check the endpoint ({address}), or enter"
            " the name of the model, on the settings page or in OPENAI_BASE_URL and"
            " FOOTNOTE_CHAT_MODEL."
        ).format(**endpoint.values, reason=reason),
    )
