"""Fills the index, at first in turns with a bare script, and the embedded stores."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
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


@dataclass
class Writes:
    """The index and the bare script, and how long each of their batches took."""

    rows: VectorRows
    bare: "OpenSearch"
    sizes: list[int] = field(default_factory=list)
    own_s: list[float] = field(default_factory=list)
    bare_s: list[float] = field(default_factory=list)

    def fill(self, passages: Passages, compared: int, file: Path) -> None:
        """Write all passages; the first `compared` also with the bare script, to another index.

        The vectors are saved in `file`, and the other index is deleted.
        """
        saved = np.lib.format.open_memmap(file, "w+", np.float32, (passages.size, DIMENSION))
        self.bare.indices.create(index=BARE_INDEX, body=index_body(DIMENSION, Fields(), OPTIONS))
        progress = Progress("index", passages.size)
        for number, batch in enumerate(passages.batches()):
            if number * BATCH < compared:
                self._write_both(batch, own_first=number % 2 == 0)
            else:
                self._write(batch)
            saved[number * BATCH :][: len(batch.ids)] = batch.vectors
            self.sizes.append(len(batch.ids))
            progress.add(len(batch.ids))
        self.bare.indices.delete(index=BARE_INDEX)
        self.rows.index.refresh()

    def _write_both(self, batch: NewRows, *, own_first: bool) -> None:
        steps = [self._write, self._write_bare]
        for step in steps if own_first else steps[::-1]:
            step(batch)

    def _write(self, batch: NewRows) -> None:
        """Time what Footnote does with a batch, except for computing the tokens."""
        tokens = [token_text(text) for text in batch.texts]
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
            ("Footnote, all", self.own_s, slice(None)),
            ("Footnote, the last tenth", self.own_s, last),
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
