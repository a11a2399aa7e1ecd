"""Sends writes in bulk, and again those for which a node has no room in its queue."""

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from storage.opensearch.connection import (
    SearchServerError,
    error_of,
    incomplete,
    server_error,
)

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

Action = Mapping[str, Any]
Result = Mapping[str, Any]

_CHUNK = 500
_CHUNK_BYTES = 10 * 2**20
"""A tenth of the server's default limit of a request (`http.max_content_length`)."""
_PAUSES_S = (1, 2, 4, 8, 16)
_FULL = 429
"""Also the status of a block because of a full disk, which takes longer to disappear."""


def write(client: "OpenSearch", index: str, actions: Sequence[Action]) -> None:
    """Perform these actions; deletions of unknown ids are ignored.

    Raises:
        TransportError: A request failed; some actions may have been performed.
        SearchServerError: Some actions failed; the others were performed.
    """
    failures = list[Result]()
    failed = _send(client, index, actions)
    for pause_s in _PAUSES_S:
        refused = [action for action, result in failed if _has_full_queue(result)]
        if not refused:
            break
        failures += [result for _, result in failed if not _has_full_queue(result)]
        time.sleep(pause_s)
        failed = _send(client, index, refused)
    failures += [result for _, result in failed]
    if failures:
        raise _error(failures[0])


def _send(
    client: "OpenSearch", index: str, actions: Sequence[Action]
) -> list[tuple[Action, Result]]:
    """Send the actions once and return those that failed, with their results."""
    from opensearchpy.helpers import streaming_bulk

    items = streaming_bulk(
        client,
        actions,
        index=index,
        chunk_size=_CHUNK,
        max_chunk_bytes=_CHUNK_BYTES,
        raise_on_error=False,
        raise_on_exception=False,
    )
    failed = []
    remaining = iter(actions)
    for succeeded, item in items:
        action = next(remaining)
        ((operation, result),) = item.items()
        _raise_failure_of_request(result)
        is_missing = operation == "delete" and result.get("status") == 404
        if not succeeded and not is_missing:
            failed.append((action, result))
    if next(remaining, None) is not None:  # the reply has fewer results than the request actions
        raise incomplete()
    return failed


def _raise_failure_of_request(result: Result) -> None:
    """Raise the error of a whole request, unless it may be sent again."""
    error = result.get("exception")
    if error is not None and error.status_code != _FULL:
        raise error


def _has_full_queue(result: Result) -> bool:
    return result.get("status") == _FULL and "_block_exception" not in str(result.get("error"))


def _error(result: Result) -> SearchServerError:
    if "exception" in result:
        return server_error(result["exception"])
    return error_of(int(result["status"]), result.get("error"))
