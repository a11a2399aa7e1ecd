"""Lines of the log become counts, whose labels have few values."""

import logging

import pytest

from bootstrap import server_metrics
from domain.logs import PROGRAM, get_logger


@pytest.fixture
def change():
    """Returns how much a sample has changed since the test started."""
    program, handler = logging.getLogger(PROGRAM), server_metrics.LogMetrics()
    handlers = list(program.handlers)
    for other in handlers:  # a test of a server may have left one, which would count again
        program.removeHandler(other)
    program.addHandler(handler)
    program.setLevel(logging.INFO)
    before = _samples()
    yield (
        lambda name, **labels: (
            _samples().get(_key(name, labels), 0) - before.get(_key(name, labels), 0)
        )
    )
    program.removeHandler(handler)
    for other in handlers:
        program.addHandler(other)


def _samples():
    metrics = server_metrics.REGISTRY.collect()
    return {_key(one.name, one.labels): one.value for each in metrics for one in each.samples}


def _key(name, labels):
    return name, tuple(sorted(labels.items()))


QUESTION = {"total_ms": 2500.0, "answer_ms": 2000.0, "first_token_ms": None, "model": "gpt"}
EVIDENCE = {"citations": 3, "verified": 2, "input_tokens": 900, "output_tokens": 40}


def test_an_ended_question_counts_with_its_stages_tokens_and_citations(change):
    get_logger("questions").info("question complete", **QUESTION, **EVIDENCE)
    assert change("footnote_questions_total", kind="documents", state="complete") == 1
    assert change("footnote_question_seconds_sum", kind="documents") == pytest.approx(2.5)
    assert change("footnote_question_stage_seconds_sum", stage="answer") == pytest.approx(2.0)
    assert change("footnote_question_stage_seconds_bucket", stage="answer", le="1.0") == 0
    assert change("footnote_question_stage_seconds_bucket", stage="answer", le="2.5") == 1
    assert change("footnote_question_stage_seconds_count", stage="first_token") == 0
    assert change("footnote_tokens_total", direction="input") == 900
    assert change("footnote_tokens_total", direction="output") == 40
    assert change("footnote_citations_total", state="verified") == 2
    assert change("footnote_citations_total", state="unverified") == 1


def test_a_failed_question_counts_as_failed(change):
    get_logger("questions").info("question failed", total_ms=10.0, citations=0, verified=0)
    assert change("footnote_questions_total", kind="documents", state="failed") == 1
    assert change("footnote_questions_total", kind="documents", state="complete") == 0


def test_a_question_about_places_counts_separately(change):
    fields = {"understood_ms": 20.0, "ranked_ms": 60.0, "total_ms": 100.0, "citations": 2}
    get_logger("questions").info("catalog question complete", **fields)
    get_logger("questions").info("catalog question refused", source_id="a")
    assert change("footnote_questions_total", kind="places", state="complete") == 1
    assert change("footnote_questions_total", kind="places", state="refused") == 1
    assert change("footnote_question_seconds_count", kind="places") == 1
    assert change("footnote_citations_total", state="unverified") == 0


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


def test_warnings_and_errors_count_by_part(change):
    get_logger("storage").warning("damaged index: the other list ranks", store="keywords")
    get_logger("api").error("a streamed response failed")
    assert change("footnote_logged_problems_total", level="warning", part="storage") == 1
    assert change("footnote_logged_problems_total", level="error", part="api") == 1


def test_other_lines_change_nothing(change):
    before = _samples()
    get_logger("storage").info("question unknown")
    assert _samples() == before


def test_a_server_that_reports_negative_tokens_does_not_fail_the_answer(change):
    get_logger("questions").info("question complete", **QUESTION, **EVIDENCE | {"input_tokens": -1})
    assert change("footnote_tokens_total", direction="input") == 0
    assert change("footnote_citations_total", state="verified") == 2


def test_an_error_of_the_handler_does_not_reach_the_code_that_logs(change, capsys):
    get_logger("web").info("request")
    assert "KeyError" in capsys.readouterr().err
    assert change("footnote_http_requests_total", method="GET", status="200") == 0
