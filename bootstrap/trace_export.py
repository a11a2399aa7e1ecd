"""Exports what this process logs as OpenTelemetry traces.

Spans are made from the lines that end a request, a question, or a run, which have the durations of
all stages, so nothing is measured twice. A stage may occur repeatedly; its span has the total, and
the spans of the stages follow one another. Only ids, counts, and names of models, modes, and states
become attributes: never what people write, names of documents, or messages of errors.

The SDK reads the standard variables, such as OTEL_EXPORTER_OTLP_HEADERS. It exports in a thread of
its own, from a queue of limited length, and gives up a batch after OTEL_EXPORTER_OTLP_TIMEOUT.
"""

import logging
import os
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Any

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, Status, StatusCode, set_span_in_context

from bootstrap.log_observer import ENDED_RUN, LogObserver
from domain.logs import PROGRAM, context_fields, get_logger
from domain.version import VERSION

_EXIT_S = 2.0
_NS_PER_MS = 1_000_000
_QUESTION = re.compile(r"(?:catalog )?question (complete|incomplete|stopped|failed|refused)")
_QUESTION_STAGES = ("prepare", "condense", "retrieve", "tool", "answer", "verify")
_RUN_STAGES = ("listing", "waiting", "reading", "splitting", "embedding", "writing", "removing")
_TRACE_IDS = ("request_id", "import_id", "question_id")
_IDS = ("request_id", "question_id", "conversation_id", "import_id", "source_id")
_ATTRIBUTES = frozenset(
    (
        *_IDS,
        *("model", "mode", "state", "first_token_ms", "input_tokens", "output_tokens"),
        *("passages", "best_score", "citations", "verified", "unsupported", "steps", "places"),
        *(
            "new",
            "changed",
            "permissions",
            "unchanged",
            "gone",
            "kept",
            "skipped",
            "failed",
            "retries",
        ),
    )
)

_log = get_logger("processes")
_provider: TracerProvider | None = None


def export_traces() -> None:
    """Export traces from now on; later calls do nothing."""
    global _provider
    if _provider is not None:
        return
    # They log every failure, also several times; `_Exporter` logs the first one.
    for library in ("opentelemetry.exporter", "opentelemetry.sdk"):
        logging.getLogger(library).setLevel(logging.CRITICAL)
    ids = _TraceIds()
    _provider = TracerProvider(
        resource=Resource.create(_resource()), id_generator=ids, shutdown_on_exit=False
    )
    _provider.add_span_processor(BatchSpanProcessor(_Exporter()))
    LogTraces(_provider, ids).start()


def flush_traces() -> None:
    """Export what is left before the process ends, which takes at most two seconds."""
    if _provider is None:
        return
    thread = threading.Thread(target=_provider.force_flush, daemon=True)
    with suppress(RuntimeError):  # Python is already shutting down
        thread.start()
        thread.join(_EXIT_S)


def _resource() -> dict[str, str | int]:
    attributes: dict[str, str | int] = {"service.version": VERSION, "process.pid": os.getpid()}
    is_named = "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    if not is_named and not os.environ.get("OTEL_SERVICE_NAME"):
        attributes["service.name"] = PROGRAM
    return attributes


class _Exporter(OTLPSpanExporter):
    """Logs that exports fail, once until one succeeds again."""

    _has_failed = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send the spans; never raises."""
        result = super().export(spans)
        is_failure = result is not SpanExportResult.SUCCESS
        if is_failure and not self._has_failed:
            _log.warning("traces not exported: check the collector and OTEL_EXPORTER_OTLP_ENDPOINT")
        self._has_failed = is_failure
        return result


class _TraceIds(RandomIdGenerator):
    """Gives the spans with the same key the same trace."""

    key = ""

    def generate_trace_id(self) -> int:
        """The trace of the key; another one each time without a key."""
        if not self.key:
            return super().generate_trace_id()
        return int.from_bytes(blake2b(self.key.encode(), digest_size=16).digest())


class LogTraces(LogObserver):
    """Makes spans of lines.

    All lines with the same id of a request, or else of an import or a question, are in one trace.
    """

    def __init__(self, provider: TracerProvider, ids: _TraceIds) -> None:
        super().__init__()
        self._tracer = provider.get_tracer(PROGRAM, VERSION)
        self._ids = ids

    def observe(self, record: logging.LogRecord) -> None:
        """Trace one line."""
        event = record.getMessage()
        fields = {**context_fields(), **getattr(record, "fields", {})}
        end_ns = int(record.created * 1e9)
        if event == "request":
            self._add_request(fields, end_ns)
        elif match := _QUESTION.fullmatch(event):
            fields["state"] = match[1]
            self._add("question", fields, fields.get("total_ms"), end_ns, _QUESTION_STAGES)
        elif match := ENDED_RUN.fullmatch(event):
            fields.setdefault("state", match[2])
            self._add(match[1], fields, fields.get("total_ms"), end_ns, _RUN_STAGES)
        elif (ms := fields.get("rerank_ms")) is not None:
            self._add("rerank", fields, ms, end_ns)

    def _add_request(self, fields: Mapping[str, Any], end_ns: int) -> None:
        span = self._start("request", fields, end_ns - _ns(fields["ms"]))
        span.set_attribute("http.request.method", fields["method"])
        if (status := fields["status"]) is not None:
            span.set_attribute("http.response.status_code", status)
            if status < 400:  # otherwise, the path may be any text
                span.set_attribute("url.path", fields["path"])
        _end(span, end_ns, is_error=status is None or status >= 500)

    def _add(
        self,
        name: str,
        fields: Mapping[str, Any],
        ms: float | None,
        end_ns: int,
        stages: Iterable[str] = (),
    ) -> None:
        began_ns = end_ns - _ns(ms or 0)
        span = self._start(name, fields, began_ns)
        for stage in stages:
            if (stage_ms := fields.get(f"{stage}_ms")) is not None:
                child = self._tracer.start_span(
                    f"{name} {stage}", set_span_in_context(span), start_time=began_ns
                )
                began_ns += _ns(stage_ms)
                child.end(began_ns)
        _end(span, end_ns, is_error=fields.get("state") == "failed")

    def _start(self, name: str, fields: Mapping[str, Any], began_ns: int) -> Span:
        attributes = {
            f"{PROGRAM}.{key}": value
            for key, value in fields.items()
            if key in _ATTRIBUTES and isinstance(value, str | int | float)
        }
        # Safe, because the handler's lock is held while a line is traced.
        self._ids.key = next((str(fields[id_]) for id_ in _TRACE_IDS if fields.get(id_)), "")
        return self._tracer.start_span(name, Context(), start_time=began_ns, attributes=attributes)


def _end(span: Span, end_ns: int, *, is_error: bool) -> None:
    if is_error:
        span.set_status(Status(StatusCode.ERROR))
    span.end(end_ns)


def _ns(ms: float) -> int:
    return int(ms * _NS_PER_MS)
