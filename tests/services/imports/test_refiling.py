"""A changed collection or label of a source applies to its indexed passages."""

import pytest

from domain import LOCAL_USER, Outcome
from services.imports.index_writer import Entry, IndexWriter
from tests.fakes.library import DictLoader, Library, filled_library

TEXTS = {"a.txt": "the first text. " * 60, "b.txt": "the second text. " * 60}


def source_with(library, **options):
    return library.sources.ensure("directory", "/docs", name="docs", options=options)


def matching_keys(library, condition, index=None):
    """The keys of the documents with passages that satisfy the condition in the index."""
    store = library.active if index is None else library.stores.open(index)
    return {passage.metadata["key"] for passage in matching_passages(library, condition, store)}


def matching_passages(library, condition, store):
    """The passages, read from the ledger, that satisfy the condition in the index."""
    ids = store.passages.ids()
    return library.documents.hydrate(list(filter(store.passages.allowed(condition), ids)))


@pytest.fixture
def library(tmp_path):
    return filled_library(tmp_path, TEXTS)


def test_without_options_the_collection_is_the_name_of_the_source(library):
    assert matching_keys(library, {"collection": "docs", "labels": []}) == {"a.txt", "b.txt"}


def test_changing_the_collection_neither_reads_nor_embeds_documents(library):
    embedded_before = library.embeddings.texts
    loader = DictLoader(dict(TEXTS))
    report = library.load(
        loader, source=source_with(library, collection="HR", labels=["old", "law"])
    )

    assert report.count(Outcome.UNCHANGED) == 2
    assert (loader.reads, library.embeddings.texts) == ([], embedded_before)
    assert (
        matching_keys(library, {"collection": "HR", "labels": {"$contains": "law"}}) == TEXTS.keys()
    )
    assert matching_keys(library, {"collection": "docs"}) == set()
    passages = matching_passages(library, {"collection": "HR"}, library.active)
    assert {passage.metadata["collection"] for passage in passages} == {"HR"}
    assert library.check().agrees, library.check().disagreements


def test_with_unchanged_options_the_index_is_not_written(library, monkeypatch):
    monkeypatch.setattr(IndexWriter, "update_metadata", lambda *_: pytest.fail("rewritten"))
    library.load(DictLoader(dict(TEXTS)), source=source_with(library, collection="docs", labels=[]))


def test_changing_labels_keeps_the_vectors(library):
    ids = library.active.passages.ids()
    before = library.active.passages.vectors_of(ids)
    library.load(DictLoader(dict(TEXTS)), source=source_with(library, labels=["new"]))
    after = library.active.passages.vectors_of(ids)
    assert before.keys() == after.keys()
    assert all((before[id_] == after[id_]).all() for id_ in ids)


def test_an_update_interrupted_between_index_and_ledger_is_repeated(library, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            "storage.ledger.ledger.Ledger.update_metadata", lambda *_: pytest.fail("killed")
        )
        with pytest.raises(pytest.fail.Exception):
            library.load(DictLoader(dict(TEXTS)), source=source_with(library, collection="HR"))
    library.load(DictLoader(dict(TEXTS)), source=source_with(library, collection="IT"))
    assert matching_keys(library, {"collection": "IT"}) == TEXTS.keys()
    assert matching_keys(library, {"collection": "HR"}) == set()


def test_an_unfinished_index_is_updated_too(library):
    changed = Library(library.data_dir, model="another")
    reports = []
    changed.reindex(on_progress=reports.append, interrupted=lambda: len(reports) > 0)
    changed.load(DictLoader(dict(TEXTS)), source=source_with(library, collection="HR"))
    changed.reindex()
    assert matching_keys(changed, {"collection": "HR"}) == TEXTS.keys()


def test_labels_from_the_loader_are_kept(library):
    class Labelled(DictLoader):
        def read(self, ref):
            document = super().read(ref)
            document.metadata["labels"] = ["own"]
            return document

    loader = Labelled({"c.txt": "labelled"})
    other = library.sources.ensure("wiki", "/wiki", name="wiki", options={"labels": ["all"]})
    library.load(loader, source=other)
    other = library.sources.ensure("wiki", "/wiki", name="wiki", options={"labels": ["new"]})
    library.load(loader, source=other)

    [passage] = matching_passages(library, {"collection": "wiki"}, library.active)
    assert passage.metadata["labels"] == ["new", "own"]


def test_a_reindex_adds_the_collection_to_documents_without_one(library):
    versions = library.documents.versions(library.source.id)
    ids = [version.document_id for version in versions.values()]
    library.imports._active.ledger.update_metadata({document_id: {} for document_id in ids})
    library.maintenance.reindex(LOCAL_USER)
    assert matching_keys(library, {"collection": "docs"}) == TEXTS.keys()
    assert library.documents.get(ids[0]).details["collection"] == "docs"


def test_after_an_interrupted_reindex_an_import_updates_the_active_index(library, monkeypatch):
    versions = library.documents.versions(library.source.id)
    old = {version.document_id: {} for version in versions.values()}
    library.imports._active.ledger.update_metadata(old)
    passages = library.documents.with_passages(list(old), library.active.index.id)
    entries = [Entry(document, passage) for document, passage in passages]
    library.imports._active.writer_of(library.active).update_metadata(entries)
    changed = Library(library.data_dir, model="another")
    changed.interrupt_reindex(monkeypatch)
    assert set(changed.documents.ids(missing_in=changed.indexes.building().id)) == old.keys()

    changed.load(DictLoader(dict(TEXTS)))
    assert matching_keys(changed, {"collection": "docs"}) == TEXTS.keys()
