"""A source is removed in batches, and a canceled removal can be resumed."""

from types import SimpleNamespace

import pytest

from domain import CancelledError, ImportKind, Outcome, Stage
from domain.errors import NotFoundError
from services.imports.index_writer import IndexWriter
from services.source_removal import Removals
from storage.ledger.import_queue_store import ImportRuns
from tests.fakes.library import DictLoader, Library

MANY = 450


@pytest.fixture
def library(tmp_path):
    return Library(tmp_path)


@pytest.fixture
def forgotten():
    return []


@pytest.fixture
def remove(library, forgotten):
    kind = SimpleNamespace(forget=forgotten.append)
    kinds = SimpleNamespace(get=lambda name: kind)
    removals = Removals(library.database, library.stores, kinds)

    def remove(**options):
        queue = ImportRuns(library.database)
        queued = queue.enqueue(library.source.id, "local", ImportKind.REMOVAL, {})
        library.leases.claim("w")
        return removals.run(library.source, import_id=queued.id, worker="w", **options)

    return remove


def stages(reports):
    return [progress.stage for progress in reports]


def test_a_removal_deletes_documents_passages_files_and_the_source(library, remove, forgotten):
    other = library.sources.ensure("directory", "/other", name="other")
    library.load(DictLoader({"kept.txt": "Another rule."}), source=other)
    library.load(DictLoader({"a.txt": "One rule.", "b.txt": "Two rules."}))
    report = remove()
    assert report.count(Outcome.REMOVED) == 2
    assert forgotten == [library.source]
    assert [one.id for one in library.sources.list()] == [other.id]
    assert (library.check().agrees, library.check().documents) == (True, 1)


def test_a_canceled_removal_keeps_the_source_and_can_be_resumed(library, remove, forgotten):
    library.load(DictLoader({f"{n}.txt": f"Rule {n}." for n in range(MANY)}))
    reports = []
    with pytest.raises(CancelledError):
        remove(on_progress=reports.append, cancelled=lambda: Stage.REMOVING in stages(reports))
    remaining = library.documents.count()
    assert 0 < remaining < MANY
    assert library.check().agrees
    assert not forgotten
    assert remove().count(Outcome.REMOVED) == remaining
    with pytest.raises(NotFoundError):
        library.sources.get(library.source.id)


def test_a_cancellation_while_the_stores_load_removes_nothing(library, remove, monkeypatch):
    library.load(DictLoader({"a.txt": "One rule."}))
    reports, loaded = [], []
    monkeypatch.setattr(IndexWriter, "load", lambda self: loaded.append(self))
    with pytest.raises(CancelledError):
        remove(on_progress=reports.append, cancelled=lambda: bool(loaded))
    assert library.documents.count() == 1
    assert stages(reports) == [Stage.LISTING], (
        "the worker may stop in this stage, not while removing"
    )


def test_a_source_that_was_never_imported_can_be_removed(library, remove):
    assert remove().items == ()
    assert library.sources.list() == []
