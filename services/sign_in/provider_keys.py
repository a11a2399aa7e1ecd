"""The public keys with which an OpenID provider signs its tokens."""

import json
import math
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx
from jwt import PyJWK, PyJWKSet
from jwt.exceptions import PyJWTError

from domain.errors import SignInUnavailableError
from domain.logs import get_logger, outgoing_request
from domain.messages import _
from services.sign_in.provider import metadata_url

ALGORITHMS = ("RS256", "ES256")
MAX_AGE_S = 3600.0
"""Keys are fetched again after this time; if that fails, the known ones remain valid."""
REFRESH_S = 60.0
"""The shortest time between two requests for the keys because one is unknown or out of date."""
_RETRY_S = 5.0
"""The shortest time between two requests while no key is known."""
_WAIT_S = 3.0
"""The longest time that a request waits for another one that fetches the keys."""
_TIMEOUT_S = 3.0
_ATTEMPTS = 2
_MAX_BYTES = 1024 * 1024

_log = get_logger("sign_in")
_UNAVAILABLE = _(
    "The keys of the sign-in service can't be fetched now, so tokens can't be checked: try again"
    " later. API keys still work."
)


class ProviderKeys:
    """The keys of a provider by their ids, fetched when they are first needed.

    Thread-safe; a request with a known key does not wait for others that fetch the keys.
    """

    def __init__(self, issuer: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Create the keys of the provider with this address, without a request.

        `clock` returns seconds.
        """
        self._issuer, self._clock = issuer.rstrip("/"), clock
        self._keys: Mapping[str, PyJWK] = {}
        self._fetched_at = self._tried_at = -math.inf
        self._lock = threading.Lock()

    def find(self, key_id: str) -> PyJWK | None:
        """The key with this id; None if the provider has no such key.

        Raises:
            SignInUnavailableError: The key is unknown, and the provider can't be asked for it.
        """
        known = self._keys.get(key_id)
        if known is None or self._clock() - self._fetched_at >= MAX_AGE_S:
            self._refresh(can_wait=known is None)
        if key_id not in self._keys and self._fetched_at < self._tried_at:
            raise SignInUnavailableError(_UNAVAILABLE)
        return self._keys.get(key_id)

    def _refresh(self, *, can_wait: bool) -> None:
        if not self._is_due() or not self._lock.acquire(timeout=_WAIT_S if can_wait else 0):
            return
        try:
            if self._is_due():  # another thread may have fetched them meanwhile
                self._fetch()
        finally:
            self._lock.release()

    def _is_due(self) -> bool:
        pause = REFRESH_S if self._keys else _RETRY_S
        return self._clock() - self._tried_at >= pause

    def _fetch(self) -> None:
        try:
            self._keys = _fetch_keys(self._issuer)
            self._fetched_at = self._tried_at = self._clock()
        except (httpx.HTTPError, ValueError, TypeError, PyJWTError) as error:
            self._tried_at = self._clock()
            _log.warning("keys not fetched", error=type(error).__name__)


def _fetch_keys(issuer: str) -> dict[str, PyJWK]:
    metadata = _fetch_json(metadata_url(issuer))
    if str(metadata.get("issuer")).rstrip("/") != issuer:
        raise ValueError("the metadata are those of another issuer")
    address = str(metadata.get("jwks_uri"))
    if urlsplit(address).scheme not in {"https", urlsplit(issuer).scheme}:
        raise ValueError("the address of the keys is not protected by HTTPS")
    keys = PyJWKSet.from_dict(_fetch_json(address)).keys
    return {key.key_id: key for key in keys if key.key_id and _is_for_signatures(key)}


def _is_for_signatures(key: PyJWK) -> bool:
    return key.algorithm_name in ALGORITHMS and key.public_key_use in ("sig", None)


def _fetch_json(url: str) -> dict[str, Any]:
    for attempt in range(1, _ATTEMPTS):
        try:
            return _read_json(url, attempt)
        except (httpx.NetworkError, httpx.RemoteProtocolError, httpx.HTTPStatusError):
            continue
    return _read_json(url, _ATTEMPTS)


def _read_json(url: str, attempt: int) -> dict[str, Any]:
    deadline, body = time.monotonic() + _TIMEOUT_S, bytearray()
    headers = {"Accept-Encoding": "identity"}
    with (
        outgoing_request("GET", url, attempt) as sent,
        httpx.stream("GET", url, headers=headers, timeout=_TIMEOUT_S) as response,
    ):
        sent.status = response.status_code
        response.raise_for_status()
        for piece in response.iter_bytes():
            body += piece
            if len(body) > _MAX_BYTES or time.monotonic() > deadline:
                raise ValueError("the response is too long or too slow")
    content = json.loads(body)
    if not isinstance(content, dict):
        raise TypeError("the response is not an object")
    return content
