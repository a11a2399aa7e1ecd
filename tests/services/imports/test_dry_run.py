"""A dry run predicts the next import and changes nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import CancelledError, ImportKind, ImportState, Outcome
from domain.errors import SourceError
from services.imports.import_run import ImportTask
from storage.ledger.import_queue_store import ImportRuns
from storage.ledger.import_store import Imports
from tests.fakes.library import DictLoader, Library

PASSAGE = "One sentence about annual leave and another about sick leave. " * 9


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path)


def dry_run(library, loader, **options):
    """Perform a dry run like the worker, leave it in the queue, and return its report."""
    queue = ImportRuns(library.database)
    queued = queue.enqueue(library.source.id, "local", ImportKind.DRY_RUN, {})
    library.leases.claim("w")
    report = library.imports.dry_run(ImportTask(queued.id, "w", library.source, loader, **options))
    library.leases.stop(queued.id, "w", ImportState.QUEUED, seconds=1)
    return report


def counts_of(report):
    return {outcome: report.count(outcome) for outcome in Outcome if report.count(outcome)}


def outcomes(report):
    """The items of a report as comparable tuples, sorted."""
    return sorted(
        (item.key, item.outcome, item.reason, item.passages, item.pages, item.characters)
        for item in report.items
    )


def assert_dry_run_matches(library, loader):
    predicted = dry_run(library, loader)
    actual = library.load(loader)
    assert outcomes(predicted) == outcomes(actual)
    assert predicted.state is actual.state
    return predicted


def test_the_counts_of_a_new_source_are_those_of_its_import(library):
    loader = DictLoader({"a.txt": PASSAGE, "b.txt": "Short."}, {"b.txt": "encrypted"})
    report = assert_dry_run_matches(library, loader)
    assert counts_of(report) == {Outcome.NEW: 1, Outcome.FAILED: 1}


def test_changed_removed_unchanged_and_hidden_documents_match_the_import(library):
    library.load(DictLoader({f"{name}.txt": PASSAGE + name for name in "abcd"}))
    texts = {"a.txt": PASSAGE + "a", "b.txt": "Changed.", "e.txt": "New."}
    report = assert_dry_run_matches(library, DictLoader(texts, hidden={"d.txt": "no permission"}))
    assert counts_of(report) == {
        Outcome.NEW: 1,
        Outcome.CHANGED: 1,
        Outcome.UNCHANGED: 1,
        Outcome.REMOVED: 1,
        Outcome.FAILED: 1,
    }


def test_skipped_pictures_are_errors_neither_in_a_dry_run_nor_in_the_import(library):
    loader = DictLoader({"a.txt": PASSAGE}, foreign={"b.png": "not read"})
    report = assert_dry_run_matches(library, loader)
    assert report.state is ImportState.COMPLETED
    assert counts_of(report) == {Outcome.NEW: 1, Outcome.SKIPPED: 1}
    assert [item.reason for item in report.items if item.key == "b.png"] == ["not read"]
    assert library.import_store.failures(library.source.id) == {}


def test_a_dry_run_predicts_the_removal_guard(library):
    library.load(DictLoader({f"{n}.txt": f"Page {n}." for n in range(12)}))
    report = assert_dry_run_matches(library, DictLoader({"0.txt": "Page 0."}))
    assert report.state is ImportState.NEEDS_CONFIRMATION
    assert counts_of(report) == {Outcome.UNCHANGED: 1, Outcome.RETAINED: 11}


keys = st.sampled_from([f"{folder}{n}.txt" for folder in ("", "f/") for n in range(7)])
texts = st.dictionaries(keys, st.sampled_from(["One.", "Two.", PASSAGE, "\0", ""]))


@settings(max_examples=20)
@given(before=texts, after=texts, broken=st.sets(keys), hidden=st.sets(st.sampled_from(["f/"])))
def test_a_dry_run_predicts_any_import(tmp_path_factory, before, after, broken, hidden):
    library = Library(tmp_path_factory.mktemp("library"))
    library.load(DictLoader(before))
    reasons = dict.fromkeys(broken, "encrypted"), dict.fromkeys(hidden, "no permission")
    assert_dry_run_matches(library, DictLoader(after, *reasons))


def test_a_dry_run_changes_nothing(library):
    library.load(DictLoader({"a.txt": "One."}))
    before, embedded = library.texts(), library.embeddings.texts
    dry_run(library, DictLoader({"b.txt": PASSAGE, "c.txt": "?"}, {"c.txt": "encrypted"}))
    assert (library.texts(), library.embeddings.texts) == (before, embedded)
    assert library.import_store.failures(library.source.id) == {}
    assert library.check().agrees


def test_a_dry_run_on_an_empty_library_creates_no_index(library):
    dry_run(library, DictLoader({"a.txt": PASSAGE}))
    assert library.indexes.active() is None


def test_a_dry_run_estimates_the_tokens_to_embed(library):
    loader = DictLoader({"a.txt": PASSAGE, "b.txt": "Short."})
    long, short = sorted(dry_run(library, loader).items, key=lambda item: item.key)
    assert long.passages > 1
    assert long.characters == len(PASSAGE)
    # Overlaps and titles are embedded too, so there are more tokens than in the text alone.
    assert long.tokens > len(PASSAGE) / 4 > short.tokens > 0


def test_a_canceled_dry_run_ends_immediately(library):
    loader = DictLoader({"a.txt": "One.", "b.txt": "Two."})
    with pytest.raises(CancelledError):
        dry_run(library, loader, cancelled=lambda: bool(loader.reads))
    assert loader.reads == ["a.txt"]


def test_an_unlistable_source_raises_an_error(library):
    class Unlisted(DictLoader):
        def list(self, before):
            raise SourceError("there is nothing")

    with pytest.raises(SourceError, match="nothing"):
        dry_run(library, Unlisted())


def test_a_repeated_dry_run_replaces_the_earlier_items(library):
    first = dry_run(library, DictLoader({"a.txt": "One."}))
    again = dry_run(library, DictLoader({"b.txt": "One."}))
    assert first.id == again.id  # the queue holds one of a source
    [item] = Imports(library.database).items(again.id, limit=9)
    assert item.key == "b.txt"
