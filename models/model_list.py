"""The models that an OpenAI-compatible server says it has."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from models.openai_errors import Endpoint

if TYPE_CHECKING:
    import httpx2

LIST_S = 3.0
"""How long listing may take, all attempts together."""
ATTEMPTS = 2
PAUSE_S = 0.2
LIST_BYTES = 16 * 1024 * 1024


class NoListError(Exception):
    """A server did not list its models; the message is a sentence that says why."""

    def __init__(self, reason: str, *, retryable: bool = False) -> None:
        super().__init__(reason)
        self.retryable = retryable


def listed_models(endpoint: Endpoint) -> list[str]:
    """The names that `GET {base URL}/models` lists, in its order, each once.

    A server that can't be reached or fails is asked once more.

    Raises:
        NoListError: It gave no list in time.
    """
    deadline = time.monotonic() + LIST_S
    for attempts_left in reversed(range(ATTEMPTS)):
        try:
            return _names_in(_fetched(endpoint, deadline))
        except NoListError as error:
            if not (attempts_left and error.retryable) or time.monotonic() + PAUSE_S > deadline:
                raise
            time.sleep(PAUSE_S)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _fetched(endpoint: Endpoint, deadline: float) -> bytes:
    import httpx2

    url = httpx2.URL(endpoint.base_url)
    url = url.copy_with(path=f"{url.path.rstrip('/')}/models")
    key = endpoint.key.get_secret_value() if endpoint.key else ""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    left = max(deadline - time.monotonic(), 0.001)
    with (
        _http_errors(),
        httpx2.Client(headers=headers, timeout=left, follow_redirects=True) as client,
        client.stream("GET", url) as response,
    ):
        status = response.status_code
        if status != 200:
            raise NoListError(f"It answers with HTTP {status}.", retryable=status >= 500)
        return _content(response, deadline)


def _content(response: "httpx2.Response", deadline: float) -> bytes:
    content = bytearray()
    for piece in response.iter_bytes():
        content += piece
        if len(content) > LIST_BYTES or time.monotonic() > deadline:
            raise NoListError("Its answer does not end.")
    return bytes(content)


@contextmanager
def _http_errors() -> Iterator[None]:
    import httpx2

    try:
        yield
    except httpx2.TimeoutException as error:
        raise NoListError(f"It does not answer within {LIST_S:g} s.") from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise NoListError("It can't be reached.", retryable=True) from error


def _names_in(content: bytes) -> list[str]:
    try:
        listed = json.loads(content)["data"] or ()
        names = [entry["id"] for entry in listed]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise NoListError("Its answer is no list of models.") from error
    return list(dict.fromkeys(name for name in names if isinstance(name, str) and name))
