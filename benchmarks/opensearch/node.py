"""The size of the index on disk, and the memory of the node."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import MIB, Cell, Report
from benchmarks.opensearch.progress import log
from tests.opensearch.cluster import Cluster

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

_TIMEOUT_S = 4 * 3600
_PAUSE_S = 2
_FILES = {
    "vec": "vectors",
    "vex": "HNSW graph",
    "fdt": "_source",
    "dvd": "doc values (vectors again, tokens_distinct)",
    "tim": "terms",
    "tip": "terms",
    "tmd": "terms",
    "doc": "postings",
}


@dataclass(frozen=True)
class Measured:
    """An index on a node."""

    running: Cluster
    client: "OpenSearch"
    name: str

    def settle(self) -> None:
        """Wait until merges in the background are done, and remove what they replaced."""
        deadline = time.monotonic() + _TIMEOUT_S
        while self._stats("merge")["merges"]["current"]:
            if time.monotonic() > deadline:
                raise SystemExit("merges did not end")
            time.sleep(_PAUSE_S)
        self.client.indices.refresh(index=self.name)
        self.client.indices.flush(index=self.name, wait_if_ongoing=True, force=True)
        log(f"{self.segments} segments")

    def merge(self) -> None:
        """Merge all segments to one."""
        self.client.indices.forcemerge(
            index=self.name, max_num_segments=1, request_timeout=_TIMEOUT_S
        )
        self.settle()

    @property
    def segments(self) -> int:
        """Of the index, as of the last refresh."""
        return int(self._stats("segments")["segments"]["count"])

    def cpu_s(self) -> float:
        """Busy seconds of the node since its start."""
        (node,) = self.client.nodes.stats(metric="process")["nodes"].values()
        return float(node["process"]["cpu"]["total_in_millis"]) / 1000

    def add_size(self, report: Report, state: str, passages: int) -> None:
        """Add the size of the index, and the memory of the node's process."""
        memory = self._memory_mib()
        disk = self._stats("store")["store"]["size_in_bytes"]
        (node,) = self.client.nodes.stats(metric="jvm")["nodes"].values()
        report.add(f"{state}: segments", self.segments, "")
        report.add(f"{state}: disk", disk / passages, "bytes per passage")
        report.add(f"{state}: node, resident", memory["VmRSS"], "MiB")
        report.add(f"{state}: node, mapped files that are resident", memory["RssFile"], "MiB")
        report.add(
            f"{state}: node, heap in use", node["jvm"]["mem"]["heap_used_in_bytes"] / MIB, "MiB"
        )
        self._add_files(report, state, passages)

    def _add_files(self, report: Report, state: str, passages: int) -> None:
        """Bytes per passage of each kind of file; small segments have all in one file."""
        reply = self.client.indices.stats(
            index=self.name, metric="segments", include_segment_file_sizes=True
        )
        sizes: dict[str, float] = {}
        for extension, file in reply["_all"]["primaries"]["segments"]["file_sizes"].items():
            name = _FILES.get(extension, "other")
            sizes[name] = sizes.get(name, 0) + file["size_in_bytes"] / passages
        rows: list[list[Cell]] = [[name, size] for name, size in sorted(sizes.items())]
        report.table(f"Files, {state}", ["", "bytes per passage"], rows)

    def _stats(self, metric: str) -> Mapping[str, Any]:
        reply = self.client.indices.stats(index=self.name, metric=metric)
        stats: Mapping[str, Any] = reply["_all"]["primaries"]
        return stats

    def _memory_mib(self) -> dict[str, float]:
        """Of the node's process, by the names of the system; empty where it has none."""
        process = self.running.nodes[0].process
        assert process is not None
        lines = Path(f"/proc/{process.pid}/status").read_text().splitlines()
        fields = (line.split() for line in lines if line.startswith(("VmRSS", "Rss")))
        return {name.rstrip(":"): int(size) / 1024 for name, size, _unit in fields}
