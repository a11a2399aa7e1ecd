"""Lines of the log become counts, whose labels have few values."""

import logging

import pytest

from bootstrap import log_metrics
from domain.logs import PROGRAM, get_logger


@pytest.fixture
def change():
    """Returns how much a sample has changed since the test started."""
    program, handler = logging.getLogger(PROGRAM), log_metrics.LogMetrics()
    level = program.level
    program.addHandler(handler)
    program.setLevel(logging.INFO)
    before = _samples()
    yield (
        lambda name, **labels: (
            _samples().get(_key(name, labels), 0) - before.get(_key(name, labels), 0)
        )
    )
    program.removeHandler(handler)
    program.setLevel(level)


def _samples():
    metrics = log_metrics.REGISTRY.collect()
    return {_key(one.name, one.labels): one.value for each in metrics for one in each.samples}


def _key(name, labels):
    return name, tuple(sorted(labels.items()))


QUESTION = {"total_ms": 2500.0, "answer_ms": 2000.0, "first_token_ms": None, "model": "gpt"}
EVIDENCE = {"citations": 3, "verified": 2, "input_tokens": 900, "output_tokens": 40}


def test_an_ended_question_counts_with_its_stages_tokens_and_citations(change):
    get_logger("questions").info("question complete", **QUESTION, **EVIDENCE)
    assert change("footnote_questions_total", kind="documents", state="complete") == 1
    stages = {"kind": "documents", "stage": "answer"}
    assert change("footnote_question_seconds_sum", **stages) == 2.0
    assert change("footnote_question_seconds_bucket", **stages, le="1.0") == 0
    assert change("footnote_question_seconds_bucket", **stages, le="2.5") == 1
    first = {"kind": "documents", "stage": "first_token"}
    assert change("footnote_question_seconds_count", **first) == 0
    assert change("footnote_tokens_total", direction="input") == 900
    assert change("footnote_tokens_total", direction="output") == 40
    assert change("footnote_citations_total", state="verified") == 2
    assert change("footnote_citations_total", state="unverified") == 1


def test_a_failed_question_counts_as_failed(change):
    fields = {"total_ms": 10.0, "citations": 0, "verified": 0}
    get_logger("questions").info("question failed", **fields)
    assert change("footnote_questions_total", kind="documents", state="failed") == 1
    assert change("footnote_questions_total", kind="documents", state="complete") == 0


def test_a_question_about_places_counts_separately(change):
    get_logger("questions").info("catalog question complete", total_ms=100.0, citations=2)
    get_logger("questions").info("catalog question refused", source_id="a")
    assert change("footnote_questions_total", kind="places", state="complete") == 1
    assert change("footnote_questions_total", kind="places", state="refused") == 1
    assert change("footnote_citations_total", state="unverified") == 0


def test_an_ended_run_counts_with_its_documents_and_stages(change):
    fields = {"new": 3, "failed": 1, "passages": 70, "total_ms": 9000.0, "embedding_ms": 7000.0}
    state = "completed with errors"
    get_logger("imports").info("import finished", state=state, **fields)
    get_logger("imports").warning("import interrupted", reason="offline", total_ms=1000.0)
    assert change("footnote_import_runs_total", kind="import", state=state) == 1
    assert change("footnote_import_runs_total", kind="import", state="interrupted") == 1
    assert change("footnote_import_documents_total", outcome="new") == 3
    assert change("footnote_import_documents_total", outcome="failed") == 1
    assert change("footnote_import_stage_seconds_total", stage="embedding") == 7
    assert change("footnote_import_stage_seconds_total", stage="total") == 10
    assert change("footnote_passages_embedded_total") == 70
    assert change("footnote_logged_problems_total", level="warning", part="imports") == 1


@pytest.mark.parametrize(
    ("method", "status", "labels"),
    [
        ("GET", 200, {"method": "GET", "status": "200"}),
        ("POST", None, {"method": "POST", "status": "aborted"}),
        ("X" * 500, 405, {"method": "other", "status": "405"}),
    ],
)
def test_a_request_counts_without_what_the_client_chose(change, method, status, labels):
    get_logger("web").info("request", method=method, path="/secret", status=status, ms=5.0)
    assert change("footnote_http_requests_total", **labels) == 1
    assert change("footnote_http_request_seconds_count", method=labels["method"]) == 1


def test_lines_at_info_without_a_metric_change_nothing(change):
    before = _samples()
    get_logger("storage").info("question unknown")
    assert _samples() == before
