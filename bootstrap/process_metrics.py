"""Prometheus metrics of all processes on this machine that use a data folder.

Each server and worker writes its counts to files in the folder, and the API exposes their sum: the
multi-process mode of prometheus_client (https://prometheus.github.io/client_python/multiprocess/).
"""

import logging
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from domain.logs import PROGRAM
from storage.processes import is_known_dead

if TYPE_CHECKING:
    from prometheus_client import Metric

    from services.status_service import StatusService

_FOLDER_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
_HANDLER = "metrics"


def collect_metrics(data_dir: Path) -> None:
    """Count what this process logs from now on; only the first call has an effect.

    The counts of earlier processes are deleted if none of them is running.
    """
    program = logging.getLogger(PROGRAM)
    if any(handler.name == _HANDLER for handler in program.handlers):
        return
    folder = data_dir / "metrics" / socket.gethostname()
    folder.mkdir(parents=True, exist_ok=True)
    files = list(folder.glob("*.db"))
    if all(is_known_dead(f"{folder.name}/{_process_of(file)}") for file in files):
        for file in files:
            file.unlink(missing_ok=True)  # another process may have started at the same time
    os.environ[_FOLDER_VARIABLE] = str(folder)
    from bootstrap.log_metrics import LogMetrics  # reads the variable

    metrics = LogMetrics()
    metrics.name = _HANDLER
    program.addHandler(metrics)


def _process_of(file: Path) -> str:
    return file.stem.rpartition("_")[2]


def prometheus_text(status: "StatusService") -> bytes:
    """The metrics in Prometheus' text format: counts of all processes, and the current state."""
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.multiprocess import MultiProcessCollector

    registry = CollectorRegistry()
    if folder := os.environ.get(_FOLDER_VARIABLE):
        MultiProcessCollector(registry, path=folder)  # type: ignore[no-untyped-call]
    registry.register(_StatusCollector(status))
    return generate_latest(registry)


class _StatusCollector:
    def __init__(self, status: "StatusService") -> None:
        self._status = status

    def collect(self) -> "Iterator[Metric]":
        """The gauges, read from the ledger and the file system now."""
        from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

        now = self._status.current()
        about = {"version": now.version, "index": now.fingerprint, "engine": now.engine}
        yield InfoMetricFamily("footnote", "Version and active index", value=about)
        yield GaugeMetricFamily("footnote_documents", "Documents in the library", now.documents)
        yield GaugeMetricFamily("footnote_passages", "Passages in the active index", now.passages)
        yield GaugeMetricFamily("footnote_disk_free_bytes", "Free space for data", now.free_bytes)
        yield GaugeMetricFamily("footnote_worker_alive", "1 if a worker is alive", now.has_worker)
        runs = GaugeMetricFamily("footnote_runs", "Runs that have not ended", labels=["state"])
        for state, count in now.runs.items():
            runs.add_metric([state], count)
        yield runs
