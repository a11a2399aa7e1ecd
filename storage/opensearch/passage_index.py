"""One index of passages: writes them in bulk, and reads them by id.

A write for which a node has no room in its queue is sent again.
"""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from domain.messages import _
from storage.ledger.database import in_groups
from storage.opensearch.connection import (
    MissingIndexError,
    SearchIndexError,
    SearchServerError,
    SearchUnavailableError,
    client_errors,
    error_of,
    incomplete,
    server_error,
)
from storage.opensearch.mapping import SCHEMA, SPACES, Body, Fields, IndexOptions, index_body
from storage.vectors.distance_metrics import DistanceMetric

if TYPE_CHECKING:
    from opensearchpy import OpenSearch


_IDS_PER_REQUEST = 1_000
_IDS_PER_PAGE, _PAGE_LIMIT = 10_000, "5m"
_NOTHING: Body = {"hits": {"hits": []}, "aggregations": {"words": {"buckets": []}}}


@dataclass
class PassageIndex:
    """An index on a server; it is created by the first write, and until then it is empty.

    With `must_exist`, a missing index is an error instead, because passages were written to it.

    Writes carry a version from the clock, so that one that arrives late, for example after a
    timeout, never replaces a newer one, nor, for an hour, restores a passage that was deleted
    later. The clocks of all machines that write must agree. Searches see a write after `refresh`.
    """

    client: "OpenSearch"
    name: str
    fields: Fields = field(default_factory=Fields)
    options: IndexOptions = field(default_factory=IndexOptions)
    must_exist: bool = False
    metric: DistanceMetric = DistanceMetric.COSINE
    _dimension: int | None = field(default=None, init=False)

    def exists(self) -> bool:
        """Whether the index exists on the server."""
        with client_errors():
            return bool(self.client.indices.exists(index=self.name))

    def create(self, dimension: int) -> None:
        """Create the index unless it exists.

        Raises:
            ValueError: The fields are those of another program's index.
            DamagedIndexError: The index is missing, but must exist.
            SearchServerError: An index of this name belongs to another program, or the server can't
                create one.
        """
        if not (self.fields.tokens and self.fields.terms):
            raise ValueError("Fields without `tokens` or `terms` can be read but not written")
        if not self.require_own():
            self._create(index_body(dimension, self.fields, self.options, self.metric))
            self.require_own()

    def _create(self, body: Body) -> None:
        from opensearchpy import RequestError

        with client_errors():
            try:
                self.client.indices.create(index=self.name, body=body)
            except RequestError as error:
                if self.options.analyzer and "analyzer [" in str(error.info):
                    raise _unknown_analyzer(self.options.analyzer) from error
                # Another process may create it at the same moment.
                if error.error != "resource_already_exists_exception":
                    raise

    def require_own(self) -> bool:
        """Whether the index exists and was created by Footnote.

        Raises:
            DamagedIndexError: It is missing, but must exist.
            SearchIndexError: It belongs to another program.
        """
        mapping = self._mapping()
        if mapping is not None and SCHEMA not in mapping.get("_meta", {}):
            raise SearchIndexError(
                _(
                    "The OpenSearch index {name} was not created by Footnote: choose another name."
                ).format(name=self.name)
            )
        return mapping is not None

    def dimension(self, *, reread: bool = False) -> int | None:
        """The length of the index's vectors, which is cached; None if there is no index yet.

        Raises:
            DamagedIndexError: The index is missing, but must exist.
            SearchIndexError: The index has no field for vectors.
            ValueError: The index compares vectors by another metric.
        """
        if self._dimension is None or reread:
            mapping = self._mapping()
            self._dimension = None if mapping is None else self._dimension_in(mapping)
        return self._dimension

    def _dimension_in(self, mapping: Mapping[str, Any]) -> int:
        vector = mapping.get("properties", {}).get(self.fields.vector, {})
        if "dimension" not in vector:
            raise SearchIndexError(
                _(
                    "The OpenSearch index {name} has no vectors in the field {field}: choose"
                    " another index or field."
                ).format(name=self.name, field=self.fields.vector)
            )
        space = vector.get("method", {}).get("space_type", "")
        if space != SPACES[self.metric]:
            raise ValueError(
                f"The OpenSearch index {self.name} compares vectors by {space or 'another metric'},"
                f" not by {SPACES[self.metric]}: set the distance_metric with which it was created"
            )
        return int(vector["dimension"])

    def _mapping(self) -> Mapping[str, Any] | None:
        """The mapping; None if there is no index yet."""
        with self._reading():
            return self._only(self.client.indices.get_mapping(index=self.name))
        return None

    def _only(self, indexes: Mapping[str, Any]) -> Mapping[str, Any]:
        """The mapping of the index or, if the name is an alias, of its index."""
        if len(indexes) != 1:
            raise SearchIndexError(
                _(
                    "{name} is an alias of several OpenSearch indexes ({indexes}): choose one of"
                    " them."
                ).format(name=self.name, indexes=", ".join(sorted(indexes)))
            )
        (index,) = indexes.values()
        mapping: Mapping[str, Any] = index["mappings"]
        return mapping

    def refresh(self) -> None:
        """Make all writes so far visible to searches.

        Raises:
            SearchServerError: The server failed, or no copy of the index could be refreshed, which
                the server does not report as a failure.
        """
        with client_errors():
            shards = self.client.indices.refresh(index=self.name)["_shards"]
        if shards["failed"] or not shards["successful"]:
            failure: Mapping[str, Any] = next(iter(shards.get("failures", ())), {})
            raise error_of(503, failure.get("reason") or "no active shards")

    @contextmanager
    def refresh_afterwards(self) -> Iterator[None]:
        """Refreshes after the block, even if it raises, because some may have been written.

        If the server is unavailable, it would delay the error; the next write refreshes.
        """
        try:
            yield
        except SearchUnavailableError:
            raise
        except BaseException:
            with suppress(SearchServerError):  # the first error has the cause
                self.refresh()
            raise
        self.refresh()

    def put(self, passages: Iterable[tuple[str, Body]]) -> None:
        """Add or replace passages: pairs of an id and the fields.

        Raises:
            SearchServerError: Some could not be written; the others may have been.
        """
        self._bulk(
            {"_op_type": "index", "_id": id_, **_version(), "_source": body}
            for id_, body in passages
        )

    def remove(self, ids: Iterable[str]) -> None:
        """Remove passages; unknown ids are ignored. Raises like `put`."""
        self._bulk({"_op_type": "delete", "_id": id_, **_version()} for id_ in ids)

    def _bulk(self, actions: Iterable[Mapping[str, Any]]) -> None:
        with client_errors():
            write(self.client, self.name, list(actions))

    def get(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Body]:
        """These fields of the passages, by id; unknown ids are omitted. Sees all writes."""
        found: dict[str, Body] = {}
        for group in in_groups(ids, _IDS_PER_REQUEST):
            body = {"ids": group}
            with self._reading():
                reply = self.client.mget(index=self.name, body=body, _source=list(fields))
                found.update(_passages_of(reply["docs"]))
        return found

    def ids(self) -> list[str]:
        """The ids of all passages, unordered, as of the last refresh."""
        with self._reading():
            return list(self._list_ids())
        return []

    def _list_ids(self) -> Iterator[str]:
        """The ids, page by page; raises if a shard fails, even if its page is the last one."""
        body = {"sort": ["_doc"], "size": _IDS_PER_PAGE, "_source": False}
        reply = self.client.search(index=self.name, body=body, scroll=_PAGE_LIMIT)
        try:
            while hits := _require_complete(reply)["hits"]["hits"]:
                yield from (hit["_id"] for hit in hits)
                page = {"scroll_id": reply["_scroll_id"], "scroll": _PAGE_LIMIT}
                reply = self.client.scroll(body=page)
        finally:
            self._forget_pages(reply["_scroll_id"])

    def _forget_pages(self, scroll_id: str) -> None:
        from opensearchpy import OpenSearchException

        with suppress(OpenSearchException):  # the server forgets them after `_PAGE_LIMIT`
            self.client.clear_scroll(body={"scroll_id": [scroll_id]})

    def count(self) -> int:
        """The number of passages, as of the last refresh."""
        with self._reading():
            reply = self.client.count(index=self.name)
            _require_all_shards(reply["_shards"])
            return int(reply["count"])
        return 0

    def search(self, body: Body) -> list[Mapping[str, Any]]:
        """The hits of one search."""
        (hits,) = self.searches([body])
        return hits

    def searches(self, bodies: Sequence[Body]) -> list[list[Mapping[str, Any]]]:
        """The hits of several searches, sent in one request.

        Raises:
            SearchServerError: A search failed, or a shard of the index did not answer.
        """
        return [reply["hits"]["hits"] for reply in self.replies(bodies)]

    def replies(self, bodies: Sequence[Body]) -> list[Mapping[str, Any]]:
        """The replies to several searches, sent in one request; raises like `searches`."""
        lines = [line for body in bodies for line in ({"index": self.name}, body)]
        with client_errors():
            replies = self.client.msearch(body=lines)["responses"]
        return [self._complete(reply) for reply in replies]

    def _complete(self, reply: Mapping[str, Any]) -> Mapping[str, Any]:
        """The reply, or that of an empty index if there is no index yet."""
        with self._reading():
            return _require_complete(reply)
        return _NOTHING

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Converts errors; a missing index ends the block, unless it must exist."""
        try:
            with client_errors():
                yield
        except MissingIndexError:
            if self.must_exist:
                raise


def _passages_of(replies: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, Body]]:
    """The ids and fields of the passages that exist; raises if the server failed to read one."""
    for one in replies:
        if "error" in one:
            raise error_of(int(one.get("status", 503)), one["error"])
        if one.get("found"):
            yield one["_id"], one["_source"]


def _unknown_analyzer(name: str) -> SearchIndexError:
    return SearchIndexError(
        _(
            "The OpenSearch server has no analyzer named {name}: install its plugin on every node,"
            " or change FOOTNOTE_SEARCH_ANALYZER."
        ).format(name=name)
    )


def _version() -> Mapping[str, Any]:
    """A request that is sent twice succeeds twice: "gte" accepts the same version again."""
    return {"_version": time.time_ns(), "_version_type": "external_gte"}


def _require_complete(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the reply; reject one without all shards, because passages would be missing silently.

    Raises:
        SearchServerError: The search failed, or a shard of the index did not answer.
    """
    if "error" in reply:
        raise error_of(int(reply["status"]), reply["error"])
    _require_all_shards(reply["_shards"])
    if reply["timed_out"]:
        raise error_of(503, "timed out")
    return reply


def _require_all_shards(shards: Mapping[str, Any]) -> None:
    """Raise if a shard did not answer; one without a node is not counted as failed."""
    if shards["failed"] or shards["successful"] < shards["total"]:
        failure: Mapping[str, Any] = next(iter(shards.get("failures", ())), {})
        default = f"{shards['successful']} shards answered out of {shards['total']}"
        raise error_of(503, failure.get("reason") or default)


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
