"""Metrics of a server process for Prometheus, and the current state of the library.

What this process has done is counted from the lines that it logs; the rest is read from the ledger.
Names and units follow https://prometheus.io/docs/practices/naming/. Labels have few values: nothing
that a client or a document chooses becomes one.
"""

import logging
import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily

from bootstrap.log_observer import ENDED_RUN, LogObserver
from domain import LOCAL_USER
from domain.logs import PROGRAM

if TYPE_CHECKING:
    from prometheus_client import Metric

    from services.status_service import StatusService

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_BUCKETS_S = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_RUN_BUCKETS_S = (1, 5, 15, 60, 300, 900, 3600, 14400, 43200)
_QUESTION = re.compile(r"question (complete|incomplete|stopped|failed)")
_PLACES = re.compile(r"catalog question (complete|refused)")
_STAGES = ("prepare", "condense", "retrieve", "answer", "verify", "tool", "first_token")

REGISTRY = CollectorRegistry()
_counter = partial(Counter, registry=REGISTRY)
_histogram = partial(Histogram, registry=REGISTRY, buckets=_BUCKETS_S)
QUESTIONS = _counter(
    "footnote_questions", "Ended questions; kind is documents or places", ("kind", "state")
)
QUESTION_SECONDS = _histogram(
    "footnote_question_seconds",
    "Duration of questions from the call to the stored answer",
    ("kind",),
)
STAGE_SECONDS = _histogram(
    "footnote_question_stage_seconds",
    "Duration of each stage of questions about documents; first_token counts from the call",
    ("stage",),
)
TOKENS = _counter(
    "footnote_tokens",
    "Tokens as the chat model reported them; direction is input or output",
    ("direction",),
)
CITATIONS = _counter(
    "footnote_citations",
    "Citations in answers about documents; state is verified or unverified",
    ("state",),
)
REQUESTS = _counter(
    "footnote_http_requests",
    "Requests except health checks; without a response, status is aborted",
    ("method", "status"),
)
REQUEST_SECONDS = _histogram(
    "footnote_http_request_seconds", "Duration of requests except health checks", ("method",)
)
PROBLEMS = _counter(
    "footnote_logged_problems",
    "Lines that Footnote logged at warning or error, by part of the program",
    ("level", "part"),
)
ENDED_RUNS = _counter(
    "footnote_ended_runs",
    "Imports, dry runs, and removals that this process ended, by how they ended",
    ("kind", "state"),
)
RUN_SECONDS = _histogram(
    "footnote_run_seconds",
    "Duration of imports, dry runs, and removals",
    ("kind",),
    buckets=_RUN_BUCKETS_S,
)
PROCESS = Gauge(
    "footnote_process",
    "1 for what this process is: api, mcp, pages, or worker",
    ("role",),
    registry=REGISTRY,
)


def collect_metrics(role: str) -> None:
    """Count what this process logs from now on, whatever the configured level is.

    `role` is what the process is: `api`, `mcp`, `pages`, or `worker`.
    """
    PROCESS.labels(role).set(1)
    LogMetrics().start()


def prometheus_text(status: "StatusService") -> bytes:
    """The metrics in Prometheus' text format.

    Raises:
        StorageError: The ledger can't be read.
    """
    now = CollectorRegistry()
    now.register(_CurrentState(status))
    return generate_latest(REGISTRY) + generate_latest(now)


class LogMetrics(LogObserver):
    """Counts lines."""

    def observe(self, record: logging.LogRecord) -> None:
        """Count one line."""
        event, fields = record.getMessage(), getattr(record, "fields", {})
        if record.levelno >= logging.WARNING:
            part = record.name.removeprefix(f"{PROGRAM}.")
            PROBLEMS.labels(record.levelname.lower(), part).inc()
        if event == "request":
            _count_request(fields)
        elif match := _QUESTION.fullmatch(event):
            _count_question("documents", match[1], fields)
            _count_stages(fields)
            _count_evidence(fields)
        elif match := _PLACES.fullmatch(event):
            _count_question("places", match[1], fields)
        elif match := ENDED_RUN.fullmatch(event):
            ENDED_RUNS.labels(match[1], match[2]).inc()
            RUN_SECONDS.labels(match[1]).observe(fields["total_ms"] / 1000)


def _count_request(fields: Mapping[str, Any]) -> None:
    method = fields["method"] if fields["method"] in _METHODS else "other"
    REQUESTS.labels(method, fields["status"] or "aborted").inc()
    REQUEST_SECONDS.labels(method).observe(fields["ms"] / 1000)


def _count_question(kind: str, state: str, fields: Mapping[str, Any]) -> None:
    QUESTIONS.labels(kind, state).inc()
    if (ms := fields.get("total_ms")) is not None:
        QUESTION_SECONDS.labels(kind).observe(ms / 1000)


def _count_stages(fields: Mapping[str, Any]) -> None:
    for stage in _STAGES:
        if (ms := fields.get(f"{stage}_ms")) is not None:
            STAGE_SECONDS.labels(stage).observe(ms / 1000)


def _count_evidence(fields: Mapping[str, Any]) -> None:
    for direction in ("input", "output"):
        # A server reports them and may be wrong.
        TOKENS.labels(direction).inc(max(fields.get(f"{direction}_tokens") or 0, 0))
    CITATIONS.labels("verified").inc(fields["verified"])
    CITATIONS.labels("unverified").inc(fields["citations"] - fields["verified"])


class _CurrentState:
    def __init__(self, status: "StatusService") -> None:
        self._status = status

    def collect(self) -> "Iterator[Metric]":
        """The gauges, read from the ledger and the file system now."""
        now = self._status.current(LOCAL_USER)
        library, active = now.index, now.index.active
        about = {
            "version": now.version,
            "index": active.fingerprint if active else "",
            "engine": active.spec.engine if active else "",
        }
        yield InfoMetricFamily("footnote", "Version and active index", value=about)
        yield GaugeMetricFamily("footnote_documents", "Documents in the library", library.documents)
        yield GaugeMetricFamily(
            "footnote_passages", "Passages in the active index", library.passages
        )
        yield GaugeMetricFamily("footnote_disk_free_bytes", "Free space for data", now.free_bytes)
        yield GaugeMetricFamily("footnote_worker_alive", "1 if a worker is alive", now.has_worker)
        yield _by_state("footnote_import_runs", "Recorded runs of imports, by state", now.runs)
        yield _by_state("footnote_turns", "Stored questions with answers, by state", now.turns)


def _by_state(name: str, help_: str, counts: Mapping[str, int]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, help_, labels=["state"])
    for state, count in counts.items():
        gauge.add_metric([state], count)
    return gauge
