"""What a process logs becomes OpenTelemetry traces, if a collector is set."""

import logging
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from bootstrap import tracing
from domain.logs import PROGRAM, get_logger, log_context

trace_export = pytest.importorskip(
    "bootstrap.trace_export", reason="needs the extra `otel`", exc_type=ImportError
)
from tests.fakes.collector import collecting, values  # noqa: E402  # needs the same packages

ROOT = Path(__file__).parents[2]
QUESTION = {
    "total_ms": 2500.0,
    "prepare_ms": 10.0,
    "condense_ms": 200.0,
    "retrieve_ms": 300.0,
    "answer_ms": 1900.0,
    "verify_ms": 40.0,
    "first_token_ms": 900.0,
    "model": "qwen3",
    "mode": "convex",
    "input_tokens": 900,
    "output_tokens": 40,
    "citations": 3,
    "verified": 2,
}
RUN = {
    "total_ms": 9000.0,
    "listing_ms": 100.0,
    "reading_ms": 2000.0,
    "embedding_ms": 6000.0,
    "writing_ms": 500.0,
    "new": 3,
    "passages": 40,
    "state": "completed",
    "slowest": [{"document": "Salaries 2026.pdf", "ms": 900.0}],
}


@pytest.fixture
def collector(monkeypatch):
    """A collector that receives the traces of this process."""
    program = logging.getLogger(PROGRAM)
    handlers = list(program.handlers)
    with collecting() as (collector, address):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        monkeypatch.setattr(trace_export, "_provider", None)
        tracing.start_traces.cache_clear()
        tracing.start_traces()
        yield collector
        collector.release.set()
        trace_export._provider.shutdown()
    program.handlers[:] = handlers
    tracing.start_traces.cache_clear()


def exported(collector):
    tracing.end_traces()
    assert collector.problems == []
    return collector


def test_a_question_is_a_span_with_its_stages_and_counts(collector):
    get_logger("questions").info("question complete", question_id="q1", **QUESTION)
    span = exported(collector).span("question")
    assert span.end_time_unix_nano - span.start_time_unix_nano == 2_500_000_000
    stages = ["prepare", "condense", "retrieve", "answer", "verify"]
    assert collector.children(span) == [f"question {stage}" for stage in stages]
    answer = collector.span("question answer")
    assert answer.end_time_unix_nano - answer.start_time_unix_nano == 1_900_000_000
    assert {one.trace_id for one in collector.spans} == {span.trace_id}
    attributes = values(span.attributes)
    assert attributes["footnote.model"] == "qwen3"
    assert attributes["footnote.input_tokens"] == 900
    assert attributes["footnote.verified"] == 2
    assert attributes["footnote.state"] == "complete"
    assert span.status.code == 0


def test_a_request_its_question_and_its_reranking_are_one_trace(collector):
    with log_context(request_id="nightly-1"):
        get_logger("questions").info("passages reranked", passages=50, rerank_ms=120.0)
        get_logger("questions").info("question complete", question_id="q1", **QUESTION)
        fields = {"method": "POST", "path": "/api/v1/ask", "status": 200, "ms": 2600.0}
        get_logger("web").info("request", **fields)
    get_logger("questions").info("question complete", question_id="q2", **QUESTION)
    exported(collector)
    request, rerank = collector.span("request"), collector.span("rerank")
    questions = [one for one in collector.spans if one.name == "question"]
    assert request.trace_id == rerank.trace_id == questions[0].trace_id != questions[1].trace_id
    attributes = values(request.attributes)
    assert attributes["http.request.method"] == "POST"
    assert attributes["http.response.status_code"] == 200
    assert attributes["url.path"] == "/api/v1/ask"
    assert values(rerank.attributes)["footnote.passages"] == 50


@pytest.mark.parametrize("kind", ["import", "dry run", "removal"])
def test_a_run_is_a_span_with_its_stages_and_counts(collector, kind):
    with log_context(import_id="i1"):
        get_logger("imports").info(f"{kind} finished", **RUN)
    span = exported(collector).span(kind)
    stages = ["listing", "reading", "embedding", "writing"]
    assert collector.children(span) == [f"{kind} {stage}" for stage in stages]
    assert values(span.attributes)["footnote.new"] == 3


def test_failures_are_errors_without_their_messages(collector):
    run = {name: value for name, value in RUN.items() if name != "state"}
    get_logger("imports").warning("import failed", reason="Salaries.pdf is broken", **run)
    get_logger("questions").info("question failed", **QUESTION)
    with log_context(request_id="r"):
        get_logger("web").info("request", method="GET", path="/x", status=500, ms=1.0)
    exported(collector)
    names = ("import", "question", "request")
    assert [collector.span(name).status.code for name in names] == [2, 2, 2]
    assert "Salaries" not in str(collector.spans)


def test_nothing_that_people_or_documents_say_is_exported(collector):
    secret = "How much does Anna earn?"
    get_logger("questions").info("question complete", **QUESTION, question=secret, answer=secret)
    get_logger("questions").debug("question text", question=secret)
    get_logger("imports").info("import finished", **RUN)
    for status in (400, 403, 404, 422):
        get_logger("web").info("request", method="GET", path=f"/{secret}", status=status, ms=1.0)
    text = str(exported(collector).spans)
    assert len(collector.spans) > 10
    assert "Anna" not in text
    assert "Salaries" not in text


def test_the_resource_names_the_program_and_its_version(collector):
    get_logger("questions").info("question complete", **QUESTION)
    [resource] = exported(collector).resources
    assert resource["service.name"] == "footnote"
    assert resource["service.version"]


def warnings(caplog):
    return [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]


def test_an_unreachable_collector_is_logged_once_until_it_returns(collector, caplog):
    def ask():
        get_logger("questions").info("question complete", **QUESTION)
        tracing.end_traces()

    collector.status = 400
    ask()
    ask()
    assert len(warnings(caplog)) == 1
    assert "OTEL_EXPORTER_OTLP_ENDPOINT" in warnings(caplog)[0]
    collector.status = 200
    ask()
    collector.status = 400
    ask()
    assert len(warnings(caplog)) == 2


def test_a_collector_that_hangs_keeps_no_question_waiting_and_the_queue_is_limited(collector):
    collector.release.clear()
    for _question in range(5000):
        get_logger("questions").info("question complete", **QUESTION)
    tracing.end_traces()  # returns, although nothing was exported
    assert collector.spans == []
    [processor] = trace_export._provider._active_span_processor._span_processors
    assert len(processor._batch_processor._queue) <= 2048


# Real processes

START = """
import sys, logging
from bootstrap import tracing
tracing.start_traces()
from domain.logs import get_logger
get_logger("questions").info("question complete", total_ms=1.0, model="x")
tracing.end_traces()
print(sorted(name for name in sys.modules if name.startswith("opentelemetry.sdk")) != [])
"""


def run(environment):
    return subprocess.run(
        [sys.executable, "-c", START], cwd=ROOT, capture_output=True, text=True, timeout=120,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), **environment}, check=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": " "},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_without_a_collector_nothing_is_loaded(environment):
    result = run(environment)
    assert (result.stdout, result.stderr) == ("False\n", "")


def test_headers_names_and_addresses_come_from_the_standard_variables():
    with collecting() as (collector, address):
        run(
            {
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{address}/v1/traces",
                "OTEL_EXPORTER_OTLP_HEADERS": "x-tenant=blue",
                "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
                "OTEL_SERVICE_NAME": "handbook",
            }
        )
        assert collector.problems == []
        assert collector.resources[0]["service.name"] == "handbook"
        assert collector.headers[0]["x-tenant"] == "blue"
        assert collector.span("question")


def test_a_closed_port_does_not_break_or_delay_the_program():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        result = run({"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{unused.getsockname()[1]}"})
    assert result.stdout == "True\n"


def test_an_invalid_variable_is_a_warning():
    invalid = {"OTEL_BSP_MAX_QUEUE_SIZE": "-1"}
    result = run({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", **invalid})
    assert "check the variables that begin with OTEL_" in result.stderr


def test_without_the_extra_a_warning_says_what_to_install():
    code = f"import sys; sys.modules['opentelemetry.exporter.otlp.proto.http'] = None\n{START}"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120,
        env={"PATH": "/usr/bin:/bin", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318"},
        check=True,
    )  # fmt: skip
    assert "install the extra `otel`" in result.stderr
