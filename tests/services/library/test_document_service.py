from types import SimpleNamespace

import pytest

from domain import LOCAL_USER, DocumentFilter, DocumentOrder, Principal, Role
from domain.errors import NotFoundError, StorageError
from services.library.document_service import DocumentService, FailureService
from storage.ledger.document_store import document_id
from storage.ledger.import_store import Failures
from storage.ledger.source_store import CATALOG_KIND
from tests.fakes.library import DictLoader, Library

ANNA = Principal("anna", role=Role.EDITOR)


class Queue:
    def __init__(self):
        self.requests = []

    def enqueue(self, principal, source_id, *, keys=(), confirm_removals=False):
        self.requests.append((source_id, sorted(keys), confirm_removals))
        return SimpleNamespace(id=f"i{len(self.requests)}")


class Boxes:
    def __init__(self):
        self.deleted, self.error = [], None

    def delete(self, principal, source_id, key):
        self.deleted.append(key)
        if self.error:
            raise self.error


class SharedLibrary:
    """A folder with two documents, and an upload box of Anna with one."""

    def __init__(self, data_dir):
        self.library, self.queue, self.boxes = Library(data_dir), Queue(), Boxes()
        library, own = self.library, {"user_id": "anna", "collection": "Anna's"}
        self.folder = library.source
        self.box = library.sources.ensure("upload", "uploads/a", name="Anna's box", options=own)
        library.load(DictLoader({"a.md": "Leave.", "b.md": "휴가는 15일입니다."}))
        library.load(DictLoader({"own.md": "Mine alone."}), source=self.box)
        self.service = DocumentService(
            library.database,
            library.access,
            library.indexes,
            self.queue,
            self.boxes,
            library.audit,
        )

    def keys(self, principal, **filters):
        page = self.service.page(principal, DocumentFilter(**filters), DocumentOrder.TITLE)
        assert page.total == len(page.documents)
        return [one.key for one in page.documents]

    def id(self, key):
        source = self.box if key == "own.md" else self.folder
        return document_id(source.id, key)


@pytest.fixture
def shared_library(tmp_path):
    return SharedLibrary(tmp_path)


def test_an_upload_box_is_visible_only_to_its_owner(shared_library):
    assert shared_library.keys(ANNA) == ["a.md", "b.md", "own.md"]
    assert shared_library.keys(LOCAL_USER) == ["a.md", "b.md"]
    assert shared_library.keys(LOCAL_USER, sources=(shared_library.box.id,)) == []
    assert shared_library.service.contents(LOCAL_USER).formats == {"txt": 2}
    with pytest.raises(NotFoundError, match="search for it by its title"):
        shared_library.service.get(LOCAL_USER, shared_library.id("own.md"))


def test_documents_of_other_users_can_be_neither_reimported_nor_removed(shared_library):
    shared_library.service.reimport(LOCAL_USER, [shared_library.id("own.md")])
    shared_library.service.remove(LOCAL_USER, [shared_library.id("own.md")])
    shared_library.service.include_again(LOCAL_USER, [(shared_library.box.id, "own.md")])
    assert (shared_library.queue.requests, shared_library.boxes.deleted) == ([], [])


def test_a_collection_filter_lists_only_documents_of_its_sources(shared_library):
    assert shared_library.keys(ANNA, collections=("Anna's",)) == ["own.md"]
    assert (
        shared_library.keys(ANNA, collections=("Anna's",), sources=(shared_library.folder.id,))
        == []
    )


def test_the_contents_are_counted_by_source_format_and_script(shared_library):
    contents = shared_library.service.contents(ANNA)
    by_source = {one.name: (one.collection, one.documents) for one in contents.sources}
    assert by_source == {"docs": ("docs", 2), "Anna's box": ("Anna's", 1)}
    assert contents.scripts == {"latin": 2, "korean": 1}


def test_files_of_a_conversation_are_listed_only_by_their_source(shared_library):
    options = {"user_id": "anna", "conversation_id": "c1"}
    box = shared_library.library.sources.ensure(
        "upload", "uploads/c1", name="Trip", options=options
    )
    shared_library.library.load(DictLoader({"trip.md": "We leave at noon."}), source=box)
    assert shared_library.keys(ANNA) == ["a.md", "b.md", "own.md"]
    assert shared_library.keys(ANNA, sources=(box.id,)) == ["trip.md"]
    assert shared_library.keys(LOCAL_USER, sources=(box.id,)) == []
    contents = shared_library.service.contents(ANNA)
    assert "Trip" not in [one.name for one in contents.sources]
    assert contents.formats == {"txt": 3}
    assert sum(shared_library.service.by_passages(ANNA).values()) == 3
    assert sum(day.counts["new"] for day in shared_library.service.import_days(ANNA)) == 3
    assert shared_library.service.get(ANNA, document_id(box.id, "trip.md")).key == "trip.md"


def test_a_removal_deletes_uploaded_files_and_excludes_other_documents(shared_library):
    ids = [shared_library.id(key) for key in ("a.md", "own.md", "gone.md")]
    assert len(shared_library.service.remove(ANNA, ids)) == 2
    assert shared_library.boxes.deleted == ["own.md"]
    assert shared_library.service.excluded(ANNA) == [(shared_library.folder.id, "a.md")]
    assert sorted(shared_library.queue.requests) == sorted(
        [(shared_library.folder.id, ["a.md"], True), (shared_library.box.id, ["own.md"], True)]
    )


def test_a_document_whose_file_is_missing_can_be_removed(shared_library):
    shared_library.boxes.error = NotFoundError("There is no such file.")
    assert len(shared_library.service.remove(ANNA, [shared_library.id("own.md")])) == 1


def test_an_undeletable_file_is_an_error_and_queues_no_import(shared_library):
    shared_library.boxes.error = StorageError("The box can't be written.")
    with pytest.raises(StorageError, match="can't be written"):
        shared_library.service.remove(ANNA, [shared_library.id("own.md")])
    assert shared_library.queue.requests == []


def test_an_excluded_document_is_imported_again_after_its_exclusion_is_removed(shared_library):
    shared_library.service.remove(ANNA, [shared_library.id("a.md"), shared_library.id("b.md")])
    shared_library.service.include_again(ANNA, [(shared_library.folder.id, "a.md")])
    assert shared_library.service.excluded(ANNA) == [(shared_library.folder.id, "b.md")]
    assert shared_library.queue.requests[-1] == (shared_library.folder.id, ["a.md"], False)


def test_documents_and_imports_are_counted_by_passages_and_by_day(shared_library):
    assert sum(shared_library.service.by_passages(LOCAL_USER).values()) == 2
    [day] = shared_library.service.import_days(ANNA)
    assert day.counts == {"new": 3}
    assert shared_library.service.import_days(LOCAL_USER)[0].counts == {"new": 2}


def test_hidden_documents_do_not_count_in_imports_by_day_even_after_their_removal(shared_library):
    library, hr = shared_library.library, [frozenset({"group:hr"})]
    library.access.restrictions.restrict_documents({shared_library.id("a.md"): hr})
    [day] = shared_library.service.import_days(ANNA)
    assert day.counts == {"new": 2}
    library.load(DictLoader({"b.md": "휴가는 15일입니다."}), confirm_removals=True)
    [day] = shared_library.service.import_days(ANNA)
    assert day.counts == {"new": 2}
    [day] = shared_library.service.import_days(LOCAL_USER)
    assert day.counts == {"new": 2, "gone": 1}


def test_failures_of_hidden_documents_are_neither_listed_nor_counted(shared_library):
    library, hr = shared_library.library, [frozenset({"group:hr"})]
    broken = {"a.md": "it is damaged", "b.md": "it is damaged", "new.md": "it is empty"}
    library.load(DictLoader(dict.fromkeys(broken, "changed"), broken=broken))
    failures = FailureService(Failures(library.database), library.access, shared_library.queue)
    for principal, shown in ((ANNA, ["a.md", "b.md", "new.md"]), (ANNA, ["b.md", "new.md"])):
        page = failures.page(principal)
        assert sorted(one.key for one in page.failures) == shown
        assert sorted(key for _, key in failures.identifiers(principal)) == shown
        assert page.total == failures.count(principal) == len(shown)
        readers = library.access.readers(principal)
        figures = library.sources.figures(readers)[shared_library.folder.id]
        assert figures.failed == len(shown)
        library.access.restrictions.restrict_documents({shared_library.id("a.md"): hr})


def test_places_of_a_catalog_are_listed_and_counted_only_by_name(shared_library):
    library, service = shared_library.library, shared_library.service
    catalog = library.sources.ensure(CATALOG_KIND, "/catalog.yaml", name="Restaurants")
    library.load(DictLoader({"lucia": "Trattoria Lucia."}), source=catalog)
    assert shared_library.keys(LOCAL_USER) == ["a.md", "b.md"]
    assert shared_library.keys(LOCAL_USER, sources=(catalog.id,)) == ["lucia"]
    assert shared_library.keys(LOCAL_USER, collections=("Restaurants",)) == ["lucia"]
    contents = service.contents(LOCAL_USER)
    assert [one.documents for one in contents.sources if one.is_catalog] == [1]
    assert contents.formats == {"txt": 2}
    assert sum(service.by_passages(LOCAL_USER).values()) == 2
    assert sum(day.counts["new"] for day in service.import_days(LOCAL_USER)) == 2
