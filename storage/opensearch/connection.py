"""Connects to an OpenSearch cluster and turns its errors into messages that name a setting."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import IncompleteRead
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.errors import ConfigError, DamagedIndexError, StorageError, StorageUnavailableError
from domain.messages import _

if TYPE_CHECKING:
    from opensearchpy import OpenSearch, TransportError

MIN_VERSION = (2, 4)
"""The first version whose k-NN plugin applies a filter during a Lucene search, not after it."""
_CONNECTIONS = 64
"""Connections to each node that stay open for the next request: one for each answer of an API."""
_BUSY, _UNAVAILABLE = 429, (502, 503, 504)
_CLOSED = "index_closed_exception"
_UNFIT = (_CLOSED, "strict_dynamic_mapping_exception", "mapper_parsing_exception")
_NODE_LOST = (
    "connect_transport_exception",
    "node_closed_exception",
    "node_disconnected_exception",
    "node_not_connected_exception",
    "receive_timeout_transport_exception",
    "search_context_missing_exception",
    "send_request_transport_exception",
)
"""Errors reported when a node goes down during a request; some have the status 404 or 500."""
_DISK_BLOCKS = ("flood-stage", "read-only-allow-delete", "read-only / allow delete", "create-index")
"""Parts of the names of blocks that the server sets and removes itself."""


class SearchServerError(StorageError):
    """The cluster refused a request or answered it with an error."""

    public_message: str = _(
        "The search server of this library can't be used: an administrator finds the details in the"
        " log."
    )


class SearchUnavailableError(SearchServerError, StorageUnavailableError):
    """The cluster can't be reached now, or not all of it is up."""

    public_message: str = _(
        "The search server of this library can't be used at the moment: try again later. An"
        " administrator finds the details in the log."
    )


class SearchIndexError(SearchServerError):
    """An index or alias is not usable; the message is for everyone, because it names no server."""

    public_message = ""


class MissingIndexError(SearchIndexError, DamagedIndexError):
    """The cluster has no index of that name."""


@dataclass(frozen=True)
class SearchServer:
    """Where the cluster is and how to sign in.

    Without `user` and `aws_region`, requests are not signed. `ca_file` has the certificates of the
    authorities that may sign the server's; without it, the system's are used. `timeout_s` limits a
    request with its repetitions.
    """

    urls: tuple[str, ...]
    user: str = ""
    password: str = field(default="", repr=False)
    ca_file: Path | None = None
    aws_region: str = ""
    timeout_s: float = 30.0


def connect(server: SearchServer) -> "OpenSearch":
    """A client with timeouts and bounded retries; sends nothing yet.

    A request that can't connect, or that a node can't answer at the moment, is repeated up to three
    times within the configured time, on other nodes if there are any. Requests are not compressed,
    because compressing vectors takes longer than sending them in a local network: it made writing
    1.5 times as slow.

    Raises:
        ConfigError: The CA file can't be read, or the packages for AWS are missing.
    """
    from opensearchpy import OpenSearch, Urllib3HttpConnection

    from storage.opensearch.limited_transport import (
        LimitedTransport,
        aws_signer,
        basic_header,
        tls_context,
    )

    options: dict[str, Any] = {}
    if server.ca_file is not None or any(url.startswith("https:") for url in server.urls):
        options["ssl_context"] = tls_context(server.ca_file)
    if server.aws_region:
        options["http_auth"] = aws_signer(server.aws_region)
    elif server.user:
        options["headers"] = {"authorization": basic_header(server.user, server.password)}
    return OpenSearch(
        list(server.urls),
        transport_class=LimitedTransport,
        connection_class=Urllib3HttpConnection,
        limit_s=server.timeout_s,
        pool_maxsize=_CONNECTIONS,
        **options,
    )


def require_suitable(client: "OpenSearch") -> None:
    """Make sure that the server is an OpenSearch with what Footnote uses.

    Raises:
        ConfigError: It is another product, too old, or lacks the k-NN plugin.
        SearchServerError: It can't be asked.
    """
    with client_errors():
        _require_version(client.info())
        plugins = client.cat.plugins(format="json")
    if "opensearch-knn" not in {one["component"] for one in plugins}:
        raise ConfigError(
            _(
                "The OpenSearch server (FOOTNOTE_SEARCH_URL) lacks the plugin opensearch-knn, which"
                " searches vectors: install it on every node."
            )
        )


def _require_version(info: object) -> None:
    """Reject the description of another product, which may be anything, or of an old version."""
    described = info.get("version") if isinstance(info, Mapping) else None
    version = described if isinstance(described, Mapping) else {}
    number = str(version.get("number", "?"))
    if version.get("distribution") != "opensearch":
        raise ConfigError(
            _(
                "The server at FOOTNOTE_SEARCH_URL is not an OpenSearch server (its version is"
                " {number}): use OpenSearch {minimum} or later."
            ).format(number=number, minimum=_version_text(MIN_VERSION))
        )
    if _parse_version(number) < MIN_VERSION:
        raise ConfigError(
            _(
                "The OpenSearch server (FOOTNOTE_SEARCH_URL) has version {number}: {minimum} or"
                " later is required."
            ).format(number=number, minimum=_version_text(MIN_VERSION))
        )


def _parse_version(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in number.split("-")[0].split(".")[:2] if part.isdigit())


def _version_text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


@contextmanager
def client_errors() -> Iterator[None]:
    """Converts the client's errors.

    Raises:
        SearchUnavailableError: The request may succeed later.
        SearchServerError: Any other failure; the message names the setting to check.
    """
    from opensearchpy import OpenSearchException, SerializationError, TransportError

    try:
        yield
    except TransportError as error:
        raise server_error(error) from error
    except SerializationError as error:
        raise incomplete() from error
    except OpenSearchException as error:
        raise SearchServerError(_server_error(str(error))) from error


def server_error(error: "TransportError") -> SearchServerError:
    """The error to raise for an error of the client."""
    from opensearchpy import ConnectionError as NotConnected
    from opensearchpy import ConnectionTimeout, SSLError

    if isinstance(error, SSLError):
        return _not_trusted(error.info)
    if isinstance(error, ConnectionTimeout):
        return SearchUnavailableError(
            _(
                "The OpenSearch server did not answer in time ({reason}): check it, or raise the"
                " timeout (FOOTNOTE_SEARCH_TIMEOUT_S)."
            ).format(reason=_failure(error.info))
        )
    if isinstance(error, NotConnected):
        return _not_connected(error.info)
    info = error.info
    details = info.get("error") if isinstance(info, Mapping) else None
    return error_of(int(error.status_code), details or info or error.error)


def incomplete() -> SearchUnavailableError:
    """The error of a reply that was cut off or is not JSON."""
    return SearchUnavailableError(
        _(
            "The answer of the OpenSearch server is incomplete or not JSON: check its address"
            " (FOOTNOTE_SEARCH_URL), and that no proxy cuts answers off."
        )
    )


def _not_trusted(error: object) -> SearchServerError:
    """The error of a failed TLS handshake."""
    reason = _first_line(error)
    if "CERTIFICATE_VERIFY_FAILED" not in reason:
        return SearchServerError(
            _(
                "The OpenSearch server does not use TLS as expected ({reason}): check whether its"
                " address (FOOTNOTE_SEARCH_URL) begins with http:// or https://."
            ).format(reason=reason)
        )
    if "mismatch" in reason:
        return SearchServerError(
            _(
                "The certificate of the OpenSearch server is for another host ({reason}): use a"
                " host of the certificate in FOOTNOTE_SEARCH_URL."
            ).format(reason=reason)
        )
    return SearchServerError(
        _(
            "The certificate of the OpenSearch server can't be verified ({reason}): set the CA file"
            " (FOOTNOTE_SEARCH_CA_FILE) to the certificate of its authority."
        ).format(reason=reason)
    )


def _not_connected(error: object) -> SearchUnavailableError:
    """The error if there is no connection, or if it broke."""
    from urllib3.exceptions import DecodeError

    broken = any(isinstance(cause, IncompleteRead) for cause in getattr(error, "args", ()))
    if broken or isinstance(error, DecodeError):
        return incomplete()
    return SearchUnavailableError(
        _(
            "The OpenSearch server can't be reached ({reason}): check its address"
            " (FOOTNOTE_SEARCH_URL), including http or https, and whether it is running."
        ).format(reason=_failure(error))
    )


def _failure(error: object) -> str:
    """The reason of an error of urllib3, after the address, if the error has it."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, PoolError

    if not (isinstance(error, Exception) and error.args):
        return _first_line(error)
    reason = str(error.args[-1])
    node: Any = None  # has a host and a port
    if isinstance(error, NewConnectionError):
        node = error.conn
    elif isinstance(error, PoolError):
        node = error.pool
    elif isinstance(error, ConnectTimeoutError):
        node = error.args[0]
    if node is None:
        return _first_line(reason)
    return _first_line(f"{node.host}:{node.port}: " + reason.removeprefix(f"{node}: "))


def error_of(status: int, details: object) -> SearchServerError:
    """The error to raise for a status and the server's details, an object or a text."""
    kind, reason = _kind_and_reason(details)
    if kind in _NODE_LOST:
        return _not_ready(503, reason)
    if status == 401:
        return SearchServerError(
            _(
                "The OpenSearch server refused the credentials: check the user name and the"
                " password (FOOTNOTE_SEARCH_USER, FOOTNOTE_SEARCH_PASSWORD)."
            )
        )
    if kind.endswith("_block_exception") and status not in _UNAVAILABLE:
        return _write_block(reason)
    if status == 403:
        return SearchServerError(
            _(
                "The OpenSearch user (FOOTNOTE_SEARCH_USER) may not do this ({reason}): give it the"
                " permissions in docs/opensearch.md."
            ).format(reason=reason or "403 Forbidden")
        )
    if status == 409:
        return SearchIndexError(
            _(
                "A newer version of a passage is stored: check that the clocks of all machines"
                " agree, then repeat the change."
            )
        )
    if kind == "index_not_found_exception":
        return MissingIndexError(
            _(
                "The index is missing on the OpenSearch server ({reason}): check its name, or, if"
                " it is Footnote's, rebuild it with `python cli.py reindex`."
            ).format(reason=reason)
        )
    if kind in _UNFIT:
        return _unfit(kind, reason)
    if status == _BUSY or status in _UNAVAILABLE:
        return _not_ready(status, reason)
    return SearchServerError(_server_error(reason))


def _write_block(reason: str) -> SearchServerError:
    """Writes are blocked: by the server, because a disk is almost full, or by someone."""
    if any(part in reason for part in _DISK_BLOCKS):
        return SearchUnavailableError(
            _(
                "The disks of the OpenSearch nodes are almost full, so the index can't be written"
                " ({reason}): free disk space. The server then removes the block itself."
            ).format(reason=reason)
        )
    return SearchServerError(
        _(
            "The OpenSearch index can't be written ({reason}): free disk space on its nodes, or"
            " remove its block (index.blocks in its settings)."
        ).format(reason=reason)
    )


def _unfit(kind: str, reason: str) -> SearchServerError:
    """Someone closed or changed the index."""
    if kind == _CLOSED:
        return SearchIndexError(
            _("The OpenSearch index is closed: open it with `POST INDEX/_open`, or delete it.")
        )
    return SearchServerError(
        _(
            "The fields of the OpenSearch index are not those of Footnote ({reason}): choose"
            " another name (FOOTNOTE_SEARCH_INDEX), or delete the index."
        ).format(reason=reason)
    )


def _not_ready(status: int, reason: str) -> SearchUnavailableError:
    if status == _BUSY:
        return SearchUnavailableError(
            _("The OpenSearch server is overloaded ({reason}): try again later.").format(
                reason=reason
            )
        )
    if "not initialized" in reason:
        return SearchUnavailableError(
            _(
                "The security plugin of the OpenSearch server is not initialized yet: wait a few"
                " seconds, or initialize it with securityadmin.sh."
            )
        )
    return SearchUnavailableError(
        _(
            "A part of the OpenSearch cluster is unavailable ({reason}): check"
            " `GET _cluster/health` and start the missing nodes."
        ).format(reason=reason or f"HTTP {status}")
    )


def _kind_and_reason(details: object) -> tuple[str, str]:
    """The type of the server's error, such as `index_not_found_exception`, and its reason."""
    if not isinstance(details, Mapping):
        return "", _first_line(details)
    failures = details.get("_shards", {}).get("failures")
    if failures:  # all shards failed, for example to refresh
        return _kind_and_reason(failures[0].get("reason"))
    cause = next(iter(details.get("root_cause") or ()), details)
    kind = str(details.get("type", ""))
    if kind == "search_phase_execution_exception":
        kind = str(cause.get("type", kind))
    return kind, _first_line(cause.get("reason") or cause.get("type"))


def _first_line(text: object) -> str:
    lines = str(text).strip().splitlines()
    return lines[0][:200] if lines else ""


def _server_error(reason: str) -> str:
    return _("The OpenSearch server reported an error: {reason}").format(reason=reason)
