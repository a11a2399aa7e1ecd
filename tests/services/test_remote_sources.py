"""Imports of sources that list only changes, and that are sometimes unreachable."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

from domain import (
    LOCAL_USER,
    Cursor,
    DocumentRef,
    ImportState,
    Outcome,
    Removed,
    Skipped,
)
from domain.errors import NothingToReadError, SourceUnavailableError, TemporarilyUnreadableError
from storage.ledger import import_queue_store
from storage.ledger.import_store import Failure, Failures, Imports
from storage.ledger.source_store import Exclusions
from tests.fakes.library import DictLoader, version_of
from tests.services.test_import_worker import Factory, documents


@dataclass
class Site(DictLoader):
    """A remote source, which becomes unreachable after `down_after` reads."""

    previous_states: list = field(default_factory=list)
    reasons: dict = field(default_factory=dict)
    titles: dict = field(default_factory=dict)
    flaky: set = field(default_factory=set)
    textless: set = field(default_factory=set)
    down_after: int | None = None
    retry_after_s: float = 0
    cursor: int = 0

    def list(self, before=None):
        self.previous_states.append(before)
        self.cursor += 1
        for key, text in sorted(self.texts.items()):
            yield DocumentRef(key, version_of(text), f"/docs/{key}", self.titles.get(key, ""))
        yield from (Skipped(key, f"/docs/{key}", reason) for key, reason in self.hidden.items())
        yield from (Removed(key, reason) for key, reason in self.reasons.items())
        yield Cursor({"at": self.cursor})

    def read(self, ref):
        if self.down_after is not None and len(self.reads) >= self.down_after:
            raise SourceUnavailableError(
                "The site can't be reached: no route.", retry_after_s=self.retry_after_s
            )
        if ref.key in self.textless:
            self.reads.append(ref.key)
            raise NothingToReadError("no text was recognized in the picture")
        if ref.key in self.flaky:
            raise TemporarilyUnreadableError("the site was overloaded")
        return super().read(ref)


@pytest.fixture
def site():
    return Site(documents(3))


@pytest.fixture
def factory(tmp_path, site):
    return Factory(tmp_path / "data", site)


def cursor_of(factory):
    return factory.library.sources.get(factory.library.source.id).cursor


def run(factory):
    job = factory.enqueue()
    factory.run_next()
    return factory.queue.get(job)


def test_the_second_listing_receives_the_state_of_the_first_import(factory, site):
    run(factory)
    run(factory)
    first, second = site.previous_states
    assert (first.documents, first.failed, first.cursor) == ({}, {}, {})
    assert set(second.documents) == set(site.texts)
    assert second.documents["000.txt"].version == version_of(site.texts["000.txt"])
    assert second.cursor == {"at": 1}


def test_a_temporarily_unreadable_document_keeps_the_cursor_and_is_passed_as_failed(factory, site):
    run(factory)
    site.flaky.add("003.txt")
    site.texts |= documents(4)
    assert run(factory).state is ImportState.COMPLETED_WITH_ERRORS
    assert cursor_of(factory) == {"at": 1}
    site.flaky.clear()
    assert run(factory).state is ImportState.COMPLETED
    assert set(site.previous_states[-1].failed) == {"003.txt"}
    assert cursor_of(factory) == {"at": 3}


def test_a_permanently_unreadable_document_does_not_keep_the_cursor(factory, site):
    site.broken["000.txt"] = "it is damaged"
    assert run(factory).state is ImportState.COMPLETED_WITH_ERRORS
    assert cursor_of(factory) == {"at": 1}


def test_a_skipped_document_does_not_keep_the_cursor_and_is_passed_as_failed(factory, site):
    site.hidden["huge.txt"] = "it is too large"
    assert run(factory).state is ImportState.COMPLETED_WITH_ERRORS
    assert cursor_of(factory) == {"at": 1}
    assert run(factory).state is ImportState.COMPLETED_WITH_ERRORS
    assert set(site.previous_states[-1].failed) == {"huge.txt"}
    assert cursor_of(factory) == {"at": 2}


def test_removals_that_need_confirmation_keep_the_cursor(factory, site):
    site.texts = documents(12)
    run(factory)
    site.texts = documents(2)
    assert run(factory).state is ImportState.NEEDS_CONFIRMATION
    assert cursor_of(factory) == {"at": 1}


def test_an_import_of_selected_documents_stores_no_cursor(factory):
    factory.enqueue(keys=["000.txt"])
    factory.run_next()
    assert cursor_of(factory) == {}


def test_changed_options_and_removed_exclusions_reset_the_cursor(factory):
    run(factory)
    source, sources = factory.library.source, factory.library.sources
    sources.save(source.id, name="docs", options={}, refresh_s=60)
    assert cursor_of(factory) == {"at": 1}, "the schedule does not affect the listing"
    sources.save(source.id, name="docs", options={"include": ["*.md"]}, refresh_s=60)
    assert cursor_of(factory) == {}
    run(factory)
    Exclusions(factory.library.database).remove(source.id, ["000.txt"])
    assert cursor_of(factory) == {}


def test_the_report_has_the_reason_for_a_removal(factory, site):
    run(factory)
    del site.texts["001.txt"]
    site.reasons = {"001.txt": "it is in the trash"}
    report = factory.library.import_store.get(run(factory).id)
    [removed] = [item for item in report.items if item.outcome is Outcome.REMOVED]
    assert (removed.key, removed.reason) == ("001.txt", "it is in the trash")


def test_an_unreachable_source_interrupts_the_import_and_documents_are_kept(factory, site):
    site.texts, site.down_after = documents(10), 7
    job = run(factory)
    assert (job.state, job.ended) == (ImportState.INTERRUPTED, False)
    assert job.message == "The site can't be reached: no route. Imported documents are kept"
    assert job.retry_at is not None
    assert len(factory.library.texts()) == 7
    assert not factory.run_next(), "the retry is delayed"


def test_an_interrupted_import_resumes_after_a_delay_and_reads_nothing_twice(
    factory, site, monkeypatch
):
    monkeypatch.setattr(import_queue_store, "_FIRST_RETRY", import_queue_store._FIRST_RETRY * 0)
    site.texts, site.down_after = documents(10), 7
    job = run(factory)
    site.down_after = None
    assert factory.run_next()
    completed = factory.queue.get(job.id)
    assert (completed.state, completed.counts) == (ImportState.COMPLETED, {"new": 10})
    assert site.reads == sorted(site.texts)
    assert factory.library.texts() == site.texts


def test_a_new_request_resumes_an_interrupted_import_without_delay(factory, site):
    site.down_after = 0
    job = run(factory)
    site.down_after = None
    assert factory.enqueue() == job.id
    assert factory.run_next()
    assert factory.queue.get(job.id).state is ImportState.COMPLETED


def test_an_import_fails_after_the_last_attempt_to_reach_its_source(factory, site, monkeypatch):
    monkeypatch.setattr(import_queue_store, "_FIRST_RETRY", import_queue_store._FIRST_RETRY * 0)
    site.down_after = 0
    job = factory.enqueue()
    runs = 0
    while factory.run_next():
        runs += 1
    assert runs == import_queue_store.ATTEMPTS
    failed = factory.queue.get(job)
    assert (failed.state, failed.ended) == (ImportState.FAILED, True)
    assert "Tried 12 times" in failed.message


def test_retry_delays_increase_up_to_15_minutes(factory, site, monkeypatch):
    delays = []
    site.down_after = 0
    job = factory.enqueue()
    for _ in range(import_queue_store.ATTEMPTS - 1):
        factory.run_next()
        delay = factory.queue.get(job).retry_at - datetime.now(UTC)
        delays.append(round(delay.total_seconds()))
        factory.enqueue()
    assert delays[:3] == [15, 30, 60]
    assert delays == sorted(delays)
    assert delays[-1] == 15 * 60


def test_a_direct_import_of_an_unreachable_source_fails_immediately(factory, site):
    site.down_after = 0
    library = factory.library
    with pytest.raises(SourceUnavailableError):
        library.imports.run(LOCAL_USER, library.source, site)
    report = library.import_store.latest(library.source.id)
    assert report.state is ImportState.FAILED


def titles_of(factory, job):
    return {item.key: item.title for item in Imports(factory.library.database).get(job.id).items}


def test_a_report_has_the_titles_of_unread_and_removed_documents(factory, site):
    site.texts |= {"7": "x"}
    site.titles, site.broken = {"7": "Leave rules"}, {"7": "it has no body"}
    assert titles_of(factory, run(factory)) == {
        **{key: key for key in documents(3)},
        "7": "Leave rules",
    }
    del site.texts["7"], site.texts["001.txt"]
    assert titles_of(factory, run(factory))["001.txt"] == "001.txt"


def test_a_picture_without_text_is_skipped_without_an_error_and_read_once(factory, site):
    site.texts |= {"photo.png": "bytes"}
    site.textless = {"photo.png"}
    for _ in range(2):
        job = run(factory)
        assert job.state is ImportState.COMPLETED
        assert job.counts["skipped"] == 1
    assert site.reads.count("photo.png") == 1
    assert Failures(factory.library.database).identifiers() == []


@pytest.mark.parametrize(
    ("retry_after_s", "expected_s"), [(5, 15), (3600, 3600), (10**9, 24 * 3600)]
)
def test_the_retry_delay_respects_the_request_of_the_source_up_to_a_day(
    factory, site, retry_after_s, expected_s
):
    site.down_after, site.retry_after_s = 0, retry_after_s
    delay = run(factory).retry_at - datetime.now(UTC)
    assert delay.total_seconds() == pytest.approx(expected_s, abs=5)


def test_an_emptied_document_is_removed_and_returns_with_a_new_text(factory, site):
    run(factory)
    site.texts["000.txt"], site.textless = "", {"000.txt"}
    assert run(factory).counts == {"gone": 1, "unchanged": 2}
    assert set(factory.library.texts()) == {"001.txt", "002.txt"}
    again = run(factory)
    assert (again.state, again.counts) == (ImportState.COMPLETED, {"unchanged": 2, "skipped": 1})
    site.texts["000.txt"], site.textless = "A text again.", set()
    assert run(factory).counts == {"new": 1, "unchanged": 2}
    assert factory.library.check().agrees


def test_an_emptied_document_is_removed_by_the_next_import_after_a_crash(factory, site):
    run(factory)
    site.texts["000.txt"], site.textless = "", {"000.txt"}
    failure = Failure(version_of(""), 1, "0 characters", is_error=False)
    factory.library.import_store.remember(factory.library.source.id, {"000.txt": failure})
    assert run(factory).counts == {"gone": 1, "unchanged": 2}
