import json
import logging
import threading

import pytest

from domain import (
    LOCAL_USER,
    CancelledError,
    ImportItem,
    ImportKind,
    ImportReport,
    ImportState,
    Outcome,
    Progress,
    Stage,
    logs,
)
from domain.errors import SourceUnavailableError
from domain.logs import configure_logs
from services.imports.leased_run import RunLog
from services.long_work import CancelableWait


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests advance."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    clock = Clock()
    monkeypatch.setattr(logs, "time", clock)
    return clock


@pytest.fixture
def lines(caplog):
    caplog.set_level(logging.DEBUG, "footnote")
    return lambda: [(one.levelname, one.getMessage(), one.fields) for one in caplog.records]


def perform(clock, *steps, kind=ImportKind.IMPORT):
    """The log of a run with these steps: stage, document key, and duration in seconds."""
    log = RunLog(kind)
    for stage, key, seconds in steps:
        log.note(Progress(stage, 0, 0, key))
        clock.now += seconds
    return log


def report(state=ImportState.COMPLETED, *items):
    return ImportReport("i1", "s1", state, items, passages_embedded=7)


STEPS = (
    (Stage.LISTING, "listed entry", 1),
    (Stage.READING, "a.md", 2),
    (Stage.SPLITTING, "a.md", 0.5),
    (Stage.READING, "b.pdf", 1),
    (Stage.WAITING, "busy", 3),
    (Stage.READING, "b.pdf", 1),
    (Stage.EMBEDDING, "b.pdf", 4),
    (Stage.READING, "", 0),
)


def slowest(lines):
    """The names of the slowest documents with their milliseconds, slowest first."""
    fields = [one for level, event, one in lines if (level, event) == ("DEBUG", "slow document")]
    return [(one["document"], one["document_ms"]) for one in fields]


def test_the_last_lines_have_stages_retries_counts_and_the_slowest_documents(clock, lines):
    log = perform(clock, *STEPS)
    log.end(report(ImportState.COMPLETED, ImportItem("a.md", "/a.md", Outcome.NEW)))
    (_, started, _), *_, (level, finished, fields) = lines()
    assert (started, level, finished) == ("import started", "INFO", "import finished")
    assert fields == {
        "state": "completed",
        "source_id": "s1",
        "new": 1,
        "passages": 7,
        "total_ms": 12_500,
        "listing_ms": 1000,
        "reading_ms": 4000,
        "splitting_ms": 500,
        "waiting_ms": 3000,
        "embedding_ms": 4000,
        "retries": 1,
    }
    assert slowest(lines()) == [("b.pdf", 5000), ("a.md", 2500)]


def test_only_the_five_slowest_documents_are_logged(clock, lines):
    perform(clock, *((Stage.READING, f"{n}.md", n) for n in range(20))).end(report())
    names = [name for name, _ in slowest(lines())]
    assert names == ["19.md", "18.md", "17.md", "16.md", "15.md"]


def test_removals_that_need_confirmation_are_logged_as_a_warning(clock, lines):
    perform(clock, *STEPS).end(report(ImportState.NEEDS_CONFIRMATION))
    assert lines()[-1][:2] == ("WARNING", "import finished")


def test_documents_that_were_not_imported_are_logged_with_the_reason(clock, lines):
    failed = ImportItem("c.doc", "/c.doc", Outcome.FAILED, "it is empty")
    perform(clock, *STEPS).end(report(ImportState.COMPLETED_WITH_ERRORS, failed))
    expected = {"document": "c.doc", "reason": "it is empty"}
    assert lines()[-1] == ("DEBUG", "document not imported", expected)


def test_a_failed_run_is_logged_as_a_warning_with_the_reason(clock, lines):
    perform(clock, *STEPS, kind=ImportKind.DRY_RUN).stop("failed", SourceUnavailableError("gone"))
    level, event, fields = lines()[-1]
    assert (level, event, fields["reason"], fields["retries"]) == (
        "WARNING",
        "dry run failed",
        "gone",
        1,
    )


def test_a_run_that_never_started_is_not_logged(clock, lines):
    RunLog(ImportKind.IMPORT).stop("failed", SourceUnavailableError("busy"))
    assert lines() == []


def test_a_wait_is_logged_as_a_warning_with_its_length_and_reason(lines):
    wait = CancelableWait(lambda _: None, threading.Event().is_set)
    wait.wait(0.01, "429 Too Many Requests")
    expected = {"seconds": 0.0, "reason": "429 Too Many Requests"}
    assert lines() == [("WARNING", "waiting before a retry", expected)]


def test_a_canceled_wait_ends_immediately():
    with pytest.raises(CancelledError):
        CancelableWait(lambda _: None, lambda: True).wait(60, "429")


def test_lines_of_the_queue_and_the_worker_have_the_same_import_id(
    build_services, handbook, capsys
):
    services = build_services(embed=True, log_level="debug", log_format="json")
    source_id = services.directories.import_directory(LOCAL_USER, handbook).source_id
    (handbook / "new.md").write_text("# Travel\n\nBook trains early.\n")
    run = services.queue.enqueue(LOCAL_USER, source_id)
    assert services.worker.run_next()
    logged = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    run_lines = [line for line in logged if line.get("import_id") == run.id]
    events = [line["event"] for line in run_lines]
    assert events[:2] == ["import queued", "import started"]
    assert events[-1] == "import finished"
    assert "outgoing request" in events
    assert run_lines[-1]["new"] == 1
    configure_logs("warning", "text", ())
