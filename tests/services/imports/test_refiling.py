"""A source's collection and labels reach the passages that were indexed before."""

import pytest

from domain import LOCAL_USER, Outcome
from services.imports.index_writer import Entry, IndexWriter
from tests.fakes.library import DictLoader, Library

TEXTS = {"a.txt": "the first text. " * 60, "b.txt": "the second text. " * 60}


def filed(library, **options):
    return library.sources.ensure("directory", "/docs", name="docs", options=options)


def carried(library, condition, index=None):
    """The keys of the documents whose passages satisfy the condition, in index and ledger."""
    store = library.active if index is None else library.stores.open(index)
    return {passage.metadata["key"] for passage in satisfying(library, condition, store)}


def satisfying(library, condition, store):
    """The passages, as the ledger has them, that satisfy the condition in the index."""
    ids = store.passages.ids()
    return library.documents.hydrate(list(filter(store.passages.allowed(condition), ids)))


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader(dict(TEXTS)))
    return library


def test_without_options_the_collection_is_the_name_of_the_source(library):
    assert carried(library, {"collection": "docs", "labels": []}) == {"a.txt", "b.txt"}


def test_an_unchanged_source_filed_anew_is_neither_read_nor_embedded(library):
    embedded = library.embeddings.texts
    loader = DictLoader(dict(TEXTS))
    report = library.load(loader, source=filed(library, collection="HR", labels=["old", "law"]))

    assert report.count(Outcome.UNCHANGED) == 2
    assert (loader.reads, library.embeddings.texts) == ([], embedded)
    assert carried(library, {"collection": "HR", "labels": {"$contains": "law"}}) == TEXTS.keys()
    assert carried(library, {"collection": "docs"}) == set()
    passages = satisfying(library, {"collection": "HR"}, library.active)
    assert {passage.metadata["collection"] for passage in passages} == {"HR"}
    assert library.check().agrees, library.check().disagreements


def test_filed_as_before_not_even_the_index_is_written(library, monkeypatch):
    monkeypatch.setattr(IndexWriter, "update_metadata", lambda *_: pytest.fail("rewritten"))
    library.load(DictLoader(dict(TEXTS)), source=filed(library, collection="docs", labels=[]))


def test_the_vectors_stay_as_they_were(library):
    ids = library.active.passages.ids()
    before = library.active.passages.vectors_of(ids)
    library.load(DictLoader(dict(TEXTS)), source=filed(library, labels=["new"]))
    after = library.active.passages.vectors_of(ids)
    assert before.keys() == after.keys()
    assert all((before[id_] == after[id_]).all() for id_ in ids)


def test_broken_off_between_index_and_ledger_the_next_import_does_it_again(library, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(
            "storage.ledger.ledger.Ledger.update_metadata", lambda *_: pytest.fail("killed")
        )
        with pytest.raises(pytest.fail.Exception):
            library.load(DictLoader(dict(TEXTS)), source=filed(library, collection="HR"))
    library.load(DictLoader(dict(TEXTS)), source=filed(library, collection="IT"))
    assert carried(library, {"collection": "IT"}) == TEXTS.keys()
    assert carried(library, {"collection": "HR"}) == set()


def test_an_index_that_is_being_built_is_not_forgotten(library):
    changed = Library(library.data_dir, model="another")
    seen = []
    changed.reindex(on_progress=seen.append, cancelled=lambda: len(seen) > 0)
    changed.load(DictLoader(dict(TEXTS)), source=filed(library, collection="HR"))
    changed.reindex()
    assert carried(changed, {"collection": "HR"}) == TEXTS.keys()


def test_a_document_labelled_by_its_loader_keeps_its_own_labels(library):
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

    [passage] = satisfying(library, {"collection": "wiki"}, library.active)
    assert passage.metadata["labels"] == ["new", "own"]


def test_a_reindex_files_documents_from_before_there_were_collections(library):
    known = library.documents.versions(library.source.id)
    ids = [version.document_id for version in known.values()]
    library.imports._active.ledger.update_metadata({document_id: {} for document_id in ids})
    library.maintenance.reindex(LOCAL_USER)
    assert carried(library, {"collection": "docs"}) == TEXTS.keys()
    assert library.documents.get(ids[0]).details["collection"] == "docs"


def test_a_reindex_broken_off_leaves_the_index_that_answers_to_be_filed_by_an_import(library):
    known = library.documents.versions(library.source.id)
    old = {version.document_id: {} for version in known.values()}
    library.imports._active.ledger.update_metadata(old)
    passages = library.documents.with_passages(list(old), library.active.index.id)
    entries = [Entry(document, passage) for document, passage in passages]
    IndexWriter(library.imports._active.ledger, library.active).update_metadata(entries)
    changed = Library(library.data_dir, model="another")
    stops = iter([False, True])  # between the first document and the second
    assert not changed.reindex(cancelled=lambda: next(stops)).completed

    changed.load(DictLoader(dict(TEXTS)))
    assert carried(changed, {"collection": "docs"}) == TEXTS.keys()
