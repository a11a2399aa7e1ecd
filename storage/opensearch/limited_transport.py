"""How requests to a cluster are sent: within one time limit, encrypted, and signed."""

import re
import ssl
import time
from base64 import b64encode
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from opensearchpy import ConnectionError as NotConnected
from opensearchpy import ConnectionTimeout, Transport, TransportError
from urllib3 import Timeout

from domain.errors import ConfigError
from domain.messages import _

RETRIES = 3
UNAVAILABLE = (502, 503, 504)

_WAITS = re.compile(r"(/[^/_][^/]*)?/_bulk|/_aliases|/[^/_][^/]*")
"""Writes, and changes of aliases and indexes: the server waits for shards, or for its manager."""
_SERVERS_SHARE = 0.8
"""So that the server's reason why it waited in vain arrives in time."""


class LimitedTransport(Transport):
    """Repeats a request that can't connect, or that a node can't answer at the moment.

    Repetitions go to other nodes if there are any. A request that times out is not repeated, but
    for at least a minute, later requests go to other nodes.
    """

    def __init__(self, hosts: Any, *, limit_s: float, **options: Any) -> None:
        # Without retries, these only select the errors after which a node rests.
        rests_after: Any = {"retry_on_timeout": True, "retry_on_status": UNAVAILABLE}
        super().__init__(hosts, max_retries=0, **rests_after, **options)
        self._limit_s = limit_s

    def perform_request(
        self,
        method: str,
        url: str,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        timeout: float | None = None,
        ignore: Collection[int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Send a request; `timeout`, also in `params`, replaces the time limit."""
        options = dict(params or {})
        named_s = options.pop("request_timeout", None) or options.pop("timeout", None)
        limit_s = float(timeout or named_s or self._limit_s)
        deadline = time.monotonic() + limit_s
        for attempt in range(RETRIES + 1):
            left_s = max(round(deadline - time.monotonic(), 3), 0.001)
            wait: Any = Timeout(connect=min(limit_s / (RETRIES + 1), left_s), read=left_s)
            query = _with_server_limit(method, url, options, left_s)
            try:
                return super().perform_request(method, url, query, body, wait, ignore, headers)
            except TransportError as error:
                is_last = attempt == RETRIES or time.monotonic() >= deadline
                if is_last or not _is_repeatable(error):
                    raise
        raise AssertionError("the last attempt returns or raises")


def _with_server_limit(
    method: str, url: str, params: Mapping[str, Any], left_s: float
) -> dict[str, Any]:
    """The parameters with a limit for the server, which otherwise waits up to a minute."""
    if method in ("GET", "HEAD") or not _WAITS.fullmatch(url):
        return dict(params)
    return {"timeout": f"{int(left_s * _SERVERS_SHARE * 1000)}ms", **params}


def _is_repeatable(error: TransportError) -> bool:
    if isinstance(error, NotConnected):
        return not isinstance(error, ConnectionTimeout)
    return error.status_code in UNAVAILABLE


def basic_header(user: str, password: str) -> str:
    """Basic authentication in UTF-8; that of the client is limited to Latin-1."""
    return "Basic " + b64encode(f"{user}:{password}".encode()).decode()


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Verifies certificates with the authorities in the file, or with those of the system."""
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ConfigError(
            _(
                "The CA file {file} can't be read ({reason}): check its path"
                " (FOOTNOTE_SEARCH_CA_FILE), its permissions, and that it has certificates in PEM"
                " format."
            ).format(file=ca_file, reason=error.strerror)
        ) from error


def aws_signer(region: str) -> object:
    """Signs requests (SigV4) with the credentials that AWS's own tools find."""
    try:
        from botocore.session import Session
    except ImportError as error:
        raise ConfigError(
            _(
                "Signing requests to AWS (FOOTNOTE_SEARCH_AWS_REGION) needs the package botocore:"
                " run `pip install botocore`."
            )
        ) from error
    from opensearchpy import Urllib3AWSV4SignerAuth

    credentials = Session().get_credentials()
    if credentials is None:
        raise ConfigError(
            _(
                "There are no AWS credentials to sign requests with, as FOOTNOTE_SEARCH_AWS_REGION"
                " requires: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or use a role."
            )
        )
    return Urllib3AWSV4SignerAuth(credentials, region)
