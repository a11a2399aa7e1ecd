"""Imports of sources that tell only what has changed, and that can't always be reached."""

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
from errors import NothingToReadError, SourceUnavailableError, TemporarilyUnreadableError
from storage.ledger import import_queue_store
from storage.ledger.import_store import Failure, Failures, Imports
from storage.ledger.source_store import Exclusions
from tests.fakes.library import DictLoader, version_of
from tests.services.test_import_worker import Factory, documents


@dataclass
class Site(DictLoader):
    """Lists anew what is not marked; `down_after` so many reads it can't be reached any more."""

    told: list = field(default_factory=list)
    reasons: dict = field(default_factory=dict)
    titles: dict = field(default_factory=dict)
    flaky: set = field(default_factory=set)
    textless: set = field(default_factory=set)
    down_after: int | None = None
    asks_for_s: float = 0
    cursor: int = 0

    def list(self, before=None):
        self.told.append(before)
        self.cursor += 1
        for key, text in sorted(self.texts.items()):
            yield DocumentRef(key, version_of(text), f"/docs/{key}", self.titles.get(key, ""))
        yield from (Skipped(key, f"/docs/{key}", why) for key, why in self.hidden.items())
        yield from (Removed(key, reason) for key, reason in self.reasons.items())
        yield Cursor({"at": self.cursor})

    def read(self, ref):
        if self.down_after is not None and len(self.reads) >= self.down_after:
            raise SourceUnavailableError(
                "The site can't be reached: no route.", retry_after_s=self.asks_for_s
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


def mark_of(factory):
    return factory.library.sources.get(factory.library.source.id).cursor


def run(factory):
    job = factory.enqueue()
    factory.run_next()
    return factory.queue.get(job)


def test_the_first_listing_knows_of_nothing_the_next_of_what_was_imported(factory, site):
    run(factory)
    run(factory)
    first, second = site.told
    assert (first.documents, first.failed, first.cursor) == ({}, {}, {})
    assert set(second.documents) == set(site.texts)
    assert second.documents["000.txt"].version == version_of(site.texts["000.txt"])
    assert second.cursor == {"at": 1}


def test_a_document_to_be_tried_again_holds_the_mark_and_is_told_as_failed(factory, site):
    run(factory)
    site.flaky.add("003.txt")
    site.texts |= documents(4)
    assert run(factory).state is ImportState.COMPLETED_WITH_ERRORS
    assert mark_of(factory) == {"at": 1}
    site.flaky.clear()
    assert run(factory).state is ImportState.COMPLETED
    assert set(site.told[-1].failed) == {"003.txt"}
    assert mark_of(factory) == {"at": 3}


def test_a_document_that_can_not_be_read_at_all_does_not_hold_the_mark(factory, site):
    site.broken["000.txt"] = "it is damaged"
    assert run(factory).state is ImportState.COMPLETED_WITH_ERRORS
    assert mark_of(factory) == {"at": 1}


def test_what_can_not_even_be_listed_does_not_hold_the_mark_and_is_told_each_time(factory, site):
    site.hidden["huge.txt"] = "it is too large"
    assert run(factory).state is ImportState.COMPLETED_WITH_ERRORS
    assert mark_of(factory) == {"at": 1}
    assert run(factory).state is ImportState.COMPLETED_WITH_ERRORS
    assert set(site.told[-1].failed) == {"huge.txt"}
    assert mark_of(factory) == {"at": 2}


def test_removals_that_wait_for_a_person_hold_the_mark(factory, site):
    site.texts = documents(12)
    run(factory)
    site.texts = documents(2)
    assert run(factory).state is ImportState.NEEDS_CONFIRMATION
    assert mark_of(factory) == {"at": 1}


def test_an_import_of_chosen_documents_leaves_no_mark(factory):
    factory.enqueue(keys=["000.txt"])
    factory.run_next()
    assert mark_of(factory) == {}


def test_other_options_and_what_is_let_in_again_list_everything_anew(factory):
    run(factory)
    source, sources = factory.library.source, factory.library.sources
    sources.save(source.id, name="docs", options={}, refresh_s=60)
    assert mark_of(factory) == {"at": 1}, "its rhythm is nothing to its source"
    sources.save(source.id, name="docs", options={"include": ["*.md"]}, refresh_s=60)
    assert mark_of(factory) == {}
    run(factory)
    Exclusions(factory.library.database).remove(source.id, ["000.txt"])
    assert mark_of(factory) == {}


def test_why_a_document_is_gone_stands_in_the_report(factory, site):
    run(factory)
    del site.texts["001.txt"]
    site.reasons = {"001.txt": "it is in the trash"}
    report = factory.library.import_store.get(run(factory).id)
    [gone] = [item for item in report.items if item.outcome is Outcome.REMOVED]
    assert (gone.key, gone.reason) == ("001.txt", "it is in the trash")


def test_a_source_out_of_reach_interrupts_the_import_which_keeps_what_was_read(factory, site):
    site.texts, site.down_after = documents(10), 7
    job = run(factory)
    assert (job.state, job.ended) == (ImportState.INTERRUPTED, False)
    assert job.message == "The site can't be reached: no route. Imported documents are kept"
    assert job.retry_at is not None
    assert len(factory.library.texts()) == 7
    assert not factory.run_next(), "it rests a while first"


def test_an_import_that_rested_goes_on_and_reads_nothing_twice(factory, site, monkeypatch):
    monkeypatch.setattr(import_queue_store, "_FIRST_RETRY", import_queue_store._FIRST_RETRY * 0)
    site.texts, site.down_after = documents(10), 7
    job = run(factory)
    site.down_after = None
    assert factory.run_next()
    done = factory.queue.get(job.id)
    assert (done.state, done.counts) == (ImportState.COMPLETED, {"new": 10})
    assert site.reads == sorted(site.texts)
    assert factory.library.texts() == site.texts


def test_whoever_asks_for_the_import_meanwhile_need_not_wait(factory, site):
    site.down_after = 0
    job = run(factory)
    site.down_after = None
    assert factory.enqueue() == job.id
    assert factory.run_next()
    assert factory.queue.get(job.id).state is ImportState.COMPLETED


def test_a_source_that_stays_away_fails_its_import_in_the_end(factory, site, monkeypatch):
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


def test_each_pause_is_longer_than_the_one_before_up_to_a_quarter_of_an_hour(
    factory, site, monkeypatch
):
    pauses = []
    site.down_after = 0
    job = factory.enqueue()
    for _ in range(import_queue_store.ATTEMPTS - 1):
        factory.run_next()
        left = factory.queue.get(job).retry_at - datetime.now(UTC)
        pauses.append(round(left.total_seconds()))
        factory.enqueue()
    assert pauses[:3] == [15, 30, 60]
    assert pauses == sorted(pauses)
    assert pauses[-1] == 15 * 60


def test_an_import_that_nobody_goes_on_with_fails_at_once(factory, site):
    site.down_after = 0
    library = factory.library
    with pytest.raises(SourceUnavailableError):
        library.imports.run(LOCAL_USER, library.source, site)
    report = library.import_store.latest(library.source.id)
    assert report.state is ImportState.FAILED


def titles_of(factory, job):
    return {item.key: item.title for item in Imports(factory.library.database).get(job.id).items}


def test_a_report_names_documents_by_title_also_those_never_read_and_those_that_are_gone(
    factory, site
):
    site.texts |= {"7": "x"}
    site.titles, site.broken = {"7": "Leave rules"}, {"7": "it has no body"}
    assert titles_of(factory, run(factory)) == {
        **{key: key for key in documents(3)},
        "7": "Leave rules",
    }
    del site.texts["7"], site.texts["001.txt"]
    assert titles_of(factory, run(factory))["001.txt"] == "001.txt"


def test_a_picture_without_text_is_skipped_without_error_and_looked_at_once(factory, site):
    site.texts |= {"photo.png": "bytes"}
    site.textless = {"photo.png"}
    for _ in range(2):
        job = run(factory)
        assert job.state is ImportState.COMPLETED
        assert job.counts["skipped"] == 1
    assert site.reads.count("photo.png") == 1
    assert Failures(factory.library.database).count() == 0


@pytest.mark.parametrize(("asked_s", "left_s"), [(5, 15), (3600, 3600), (10**9, 24 * 3600)])
def test_a_source_that_asks_for_its_peace_gets_it(factory, site, asked_s, left_s):
    site.down_after, site.asks_for_s = 0, asked_s
    left = run(factory).retry_at - datetime.now(UTC)
    assert left.total_seconds() == pytest.approx(left_s, abs=5)


def test_what_has_no_text_any_more_is_gone_and_comes_back_with_a_text(factory, site):
    run(factory)
    site.texts["000.txt"], site.textless = "", {"000.txt"}
    assert run(factory).counts == {"gone": 1, "unchanged": 2}
    assert set(factory.library.texts()) == {"001.txt", "002.txt"}
    again = run(factory)
    assert (again.state, again.counts) == (ImportState.COMPLETED, {"unchanged": 2, "skipped": 1})
    site.texts["000.txt"], site.textless = "A text again.", set()
    assert run(factory).counts == {"new": 1, "unchanged": 2}
    assert factory.library.check().agrees


def test_an_emptied_document_that_was_not_removed_before_a_crash_is_removed_next(factory, site):
    run(factory)
    site.texts["000.txt"], site.textless = "", {"000.txt"}
    failure = Failure(version_of(""), 1, "0 characters", is_error=False)
    factory.library.import_store.remember(factory.library.source.id, {"000.txt": failure})
    assert run(factory).counts == {"gone": 1, "unchanged": 2}
