"""Fills the index, at first in turns with a bare script, and the embedded stores."""

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.measure import Report
from benchmarks.opensearch.passages import BATCH, DIMENSION, Passages
from benchmarks.opensearch.progress import Progress
from storage.keywords.keyword_index import KeywordIndex, token_text
from storage.opensearch.mapping import Fields, IndexOptions, index_body
from storage.opensearch.terms import metadata_terms
from storage.opensearch.vector_rows import VectorRows
from storage.vectors.new_rows import NewRows
from storage.vectors.passage_store import DeepLakePassages

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

BARE_INDEX = "bare"
OPTIONS = IndexOptions(shards=1, replicas=0)
_CHUNK = 500  # as in `PassageIndex`
_PREFILL_THREADS = 2
_PREFILL_SETTINGS = {"index.translog.flush_threshold_size": "2gb"}  # fewer segments to merge


@dataclass
class Writes:
    """The index and the bare script, and how long each of their measured batches took."""

    rows: VectorRows
    bare: "OpenSearch"
    sizes: list[int] = field(default_factory=list)
    own_s: list[float] = field(default_factory=list)
    bare_s: list[float] = field(default_factory=list)

    def fill(self, passages: Passages, compared: int, prefill: int, file: Path) -> None:
        """Write all passages, and save their vectors in `file`.

        The bare script also writes the first `compared`, to another index, which is then deleted.
        The next `prefill` are written by several threads, without being measured.
        """
        self.rows.index.create(DIMENSION)
        progress = Progress("index", passages.size)
        batches = _batches(passages, file, progress)
        self.bare.indices.create(index=BARE_INDEX, body=index_body(DIMENSION, Fields(), OPTIONS))
        for number, batch in enumerate(islice(batches, _count(compared))):
            self._write_both(batch, own_first=number % 2 == 0)
        self.bare.indices.delete(index=BARE_INDEX)
        self._prefill(islice(batches, _count(prefill)))
        for batch in batches:
            self._write(batch)
        self.rows.index.refresh()

    def _prefill(self, batches: Iterator[NewRows]) -> None:
        indices, writes = self.bare.indices, deque[Future[None]]()
        indices.put_settings(index=self.rows.index.name, body=_PREFILL_SETTINGS)
        with ThreadPoolExecutor(_PREFILL_THREADS) as pool:
            for batch in batches:
                writes.append(pool.submit(self.rows.write, batch, _tokens(batch)))
                if len(writes) > _PREFILL_THREADS:
                    writes.popleft().result()
            for write in writes:
                write.result()
        defaults = dict.fromkeys(_PREFILL_SETTINGS)
        indices.put_settings(index=self.rows.index.name, body=defaults)

    def _write_both(self, batch: NewRows, *, own_first: bool) -> None:
        steps = [self._write, self._write_bare]
        for step in steps if own_first else steps[::-1]:
            step(batch)

    def _write(self, batch: NewRows) -> None:
        """Time what Footnote does with a batch, except for computing the tokens."""
        tokens = _tokens(batch)
        self.sizes.append(len(batch.ids))
        self.own_s.append(seconds_of(lambda: self.rows.write(batch, tokens)))

    def _write_bare(self, batch: NewRows) -> None:
        """Time only the sending: the documents are ready."""
        documents = bare_documents(batch)
        self.bare_s.append(seconds_of(lambda: send(self.bare, documents)))

    def add_to(self, report: Report) -> None:
        """Add the rates, and the ratio over the batches that both wrote."""
        own_s = self.own_s[: len(self.bare_s)]
        ratios = [own / bare for own, bare in zip(own_s, self.bare_s, strict=True)]
        report.ratio("bulk: Footnote / bare", sum(own_s) / sum(self.bare_s))
        report.ratio("bulk: Footnote / bare, median of the batches", median(ratios))
        both, last = slice(len(self.bare_s)), slice(-max(1, len(self.sizes) // 10), None)
        for name, seconds, which in (
            ("Footnote, both in turns", self.own_s, both),
            ("bare, both in turns", self.bare_s, both),
            ("Footnote, all that it wrote", self.own_s, slice(None)),
            ("Footnote, the last tenth of these", self.own_s, last),
        ):
            rate = sum(self.sizes[which]) / sum(seconds[which])
            report.add(f"bulk: {name}", rate, "passages/s")


def bare_documents(batch: NewRows) -> list[dict[str, Any]]:
    """Actions for `streaming_bulk` with the same documents."""
    columns = zip(batch.ids, batch.texts, batch.vectors, batch.metadata, strict=True)
    return [
        {"_id": id_, "_source": _source(text, vector.tolist(), json.loads(metadata))}
        for id_, text, vector, metadata in columns
    ]


def _source(text: str, vector: Sequence[float], metadata: Mapping[str, Any]) -> dict[str, Any]:
    tokens = token_text(text)
    return {
        "text": text,
        "tokens": tokens,
        "tokens_distinct": sorted(set(tokens.split())),
        "terms": metadata_terms(metadata),
        "metadata": metadata,
        "vector": vector,
    }


def send(client: "OpenSearch", documents: list[dict[str, Any]]) -> None:
    from opensearchpy.helpers import streaming_bulk

    for _ in streaming_bulk(client, documents, index=BARE_INDEX, chunk_size=_CHUNK):
        pass


def _tokens(batch: NewRows) -> list[str]:
    return [token_text(text) for text in batch.texts]


def _count(passages: int) -> int:
    """The number of batches that contain so many passages."""
    return -(-passages // BATCH)


def _batches(passages: Passages, file: Path, progress: Progress) -> Iterator[NewRows]:
    """The batches; saves the vectors of each in the file, and reports it as done afterward."""
    shape = (passages.size, DIMENSION)
    saved, start = np.lib.format.open_memmap(file, "w+", np.float32, shape), 0
    for batch in passages.batches():
        yield batch
        saved[start:][: len(batch.ids)] = batch.vectors
        start += len(batch.ids)
        progress.add(len(batch.ids))


def fill_embedded(passages: Passages, store: DeepLakePassages, keywords: KeywordIndex) -> None:
    progress = Progress("embedded stores", passages.size)
    for batch in passages.batches():
        metadatas = [json.loads(metadata) for metadata in batch.metadata]
        store.add_vectors(batch.ids, batch.texts, batch.vectors, metadatas)
        keywords.add(list(zip(batch.ids, batch.texts, strict=True)))
        progress.add(len(batch.ids))


def seconds_of(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started
