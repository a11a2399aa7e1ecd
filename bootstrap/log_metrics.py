"""Counts what the program logs, for Prometheus.

Names and units follow https://prometheus.io/docs/practices/naming/. Labels have few values: nothing
that a client or a document chooses becomes one. Import this module only after
`PROMETHEUS_MULTIPROC_DIR` is set, because prometheus_client reads it when it is imported.
"""

import logging
import re
from collections.abc import Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram

from domain.import_values import Outcome
from domain.logs import PROGRAM

_METHODS = frozenset({"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"})
_BUCKETS_S = (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
_ENDED_QUESTION = re.compile(r"question (complete|incomplete|stopped|failed)")
_ENDED_PLACES = re.compile(r"catalog question (complete|refused)")
_ENDED_RUN = re.compile(r"(import|dry run|removal|reindex) (finished|stopped|interrupted|failed)")

REGISTRY = CollectorRegistry()
QUESTIONS = Counter(
    "footnote_questions",
    "Ended questions; kind is documents or places",
    ("kind", "state"),
    registry=REGISTRY,
)
QUESTION_SECONDS = Histogram(
    "footnote_question_seconds",
    "Duration of ended questions: in total, until the first token, and by stage",
    ("kind", "stage"),
    buckets=_BUCKETS_S,
    registry=REGISTRY,
)
TOKENS = Counter(
    "footnote_tokens",
    "Tokens as the chat model reported them; direction is input or output",
    ("direction",),
    registry=REGISTRY,
)
CITATIONS = Counter(
    "footnote_citations",
    "Citations in answers about documents; state is verified or unverified",
    ("state",),
    registry=REGISTRY,
)
RUNS = Counter(
    "footnote_import_runs",
    "Ended imports, dry runs, removals, and reindexes",
    ("kind", "state"),
    registry=REGISTRY,
)
RUN_SECONDS = Counter(
    "footnote_import_stage_seconds",
    "Time that runs spent in each stage; the stage total is their whole duration",
    ("stage",),
    registry=REGISTRY,
)
DOCUMENTS = Counter(
    "footnote_import_documents", "Documents of imports by outcome", ("outcome",), registry=REGISTRY
)
PASSAGES = Counter("footnote_passages_embedded", "Embedded passages", registry=REGISTRY)
REQUESTS = Counter(
    "footnote_http_requests",
    "Requests to the API and the MCP server; without a response, status is aborted",
    ("method", "status"),
    registry=REGISTRY,
)
REQUEST_SECONDS = Histogram(
    "footnote_http_request_seconds",
    "Duration of requests to the API and the MCP server",
    ("method",),
    buckets=_BUCKETS_S,
    registry=REGISTRY,
)
PROBLEMS = Counter(
    "footnote_logged_problems",
    "Lines logged at warning or error, by part of the program",
    ("level", "part"),
    registry=REGISTRY,
)


class LogMetrics(logging.Handler):
    """Counts lines by their events and fields, which docs/operations.md lists."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        """Count one line."""
        event, fields = record.getMessage(), getattr(record, "fields", {})
        if record.levelno >= logging.WARNING:
            part = record.name.removeprefix(f"{PROGRAM}.")
            PROBLEMS.labels(record.levelname.lower(), part).inc()
        if event == "request":
            _count_request(fields)
        elif match := _ENDED_QUESTION.fullmatch(event):
            _count_question("documents", match[1], fields)
            _count_citations(fields["citations"], fields["verified"])
        elif match := _ENDED_PLACES.fullmatch(event):
            _count_question("places", match[1], fields)
        elif match := _ENDED_RUN.fullmatch(event):
            _count_run(match[1], match[2], fields)


def _count_request(fields: Mapping[str, Any]) -> None:
    method = fields["method"] if fields["method"] in _METHODS else "other"
    REQUESTS.labels(method, fields["status"] or "aborted").inc()
    REQUEST_SECONDS.labels(method).observe(fields["ms"] / 1000)


def _count_question(kind: str, state: str, fields: Mapping[str, Any]) -> None:
    QUESTIONS.labels(kind, state).inc()
    for stage, seconds in _stages(fields):
        QUESTION_SECONDS.labels(kind, stage).observe(seconds)
    for direction in ("input", "output"):
        TOKENS.labels(direction).inc(fields.get(f"{direction}_tokens") or 0)


def _count_citations(count: int, verified: int) -> None:
    CITATIONS.labels("verified").inc(verified)
    CITATIONS.labels("unverified").inc(count - verified)


def _count_run(kind: str, end: str, fields: Mapping[str, Any]) -> None:
    RUNS.labels(kind, fields.get("state", end)).inc()
    for stage, seconds in _stages(fields):
        RUN_SECONDS.labels(stage).inc(seconds)
    for outcome in Outcome:
        DOCUMENTS.labels(outcome.value).inc(fields.get(outcome.value, 0))
    PASSAGES.inc(fields.get("passages", 0))


def _stages(fields: Mapping[str, Any]) -> list[tuple[str, float]]:
    """The fields that end in `_ms`, without that ending, in seconds."""
    return [
        (name.removesuffix("_ms"), ms / 1000)
        for name, ms in fields.items()
        if name.endswith("_ms") and ms is not None
    ]
