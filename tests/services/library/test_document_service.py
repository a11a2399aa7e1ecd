from types import SimpleNamespace

import pytest

from domain import LOCAL_USER, DocumentFilter, DocumentOrder, Principal
from errors import NotFoundError, StorageError
from services.library.document_service import DocumentService
from storage.ledger.document_store import document_id
from tests.fakes.library import DictLoader, Library

ANNA = Principal("anna")


class Queue:
    def __init__(self):
        self.asked = []

    def enqueue(self, principal, source_id, *, keys=(), confirm_removals=False):
        self.asked.append((source_id, sorted(keys), confirm_removals))
        return SimpleNamespace(id=f"i{len(self.asked)}")


class Boxes:
    def __init__(self):
        self.deleted, self.error = [], None

    def delete(self, principal, source_id, key):
        self.deleted.append(key)
        if self.error:
            raise self.error


class Shelf:
    """A folder of two documents, and Anna's own box with one."""

    def __init__(self, data_dir):
        self.library, self.queue, self.boxes = Library(data_dir), Queue(), Boxes()
        made, own = self.library, {"user_id": "anna", "collection": "Anna's"}
        self.folder = made.source
        self.box = made.sources.ensure("upload", "uploads/a", name="Anna's box", options=own)
        made.load(DictLoader({"a.md": "Leave.", "b.md": "휴가는 15일입니다."}))
        made.load(DictLoader({"own.md": "Mine alone."}), source=self.box)
        self.service = DocumentService(
            made.database, made.sources, made.indexes, self.queue, self.boxes
        )

    def keys(self, principal, **narrowed):
        found = self.service.page(principal, DocumentFilter(**narrowed), DocumentOrder.TITLE)
        assert found.total == len(found.documents)
        return [one.key for one in found.documents]

    def id(self, key):
        source = self.box if key == "own.md" else self.folder
        return document_id(source.id, key)


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path)


def test_an_upload_box_is_visible_only_to_its_owner(shelf):
    assert shelf.keys(ANNA) == ["a.md", "b.md", "own.md"]
    assert shelf.keys(LOCAL_USER) == ["a.md", "b.md"]
    assert shelf.keys(LOCAL_USER, sources=(shelf.box.id,)) == []
    assert shelf.service.contents(LOCAL_USER).formats == {"txt": 2}
    with pytest.raises(NotFoundError, match="search for it by its title"):
        shelf.service.get(LOCAL_USER, shelf.id("own.md"))


def test_documents_of_other_users_are_neither_reimported_nor_removed(shelf):
    shelf.service.reimport(LOCAL_USER, [shelf.id("own.md")])
    shelf.service.remove(LOCAL_USER, [shelf.id("own.md")])
    shelf.service.include_again(LOCAL_USER, [(shelf.box.id, "own.md")])
    assert (shelf.queue.asked, shelf.boxes.deleted) == ([], [])


def test_collections_narrow_the_list_to_their_sources(shelf):
    assert shelf.keys(ANNA, collections=("Anna's",)) == ["own.md"]
    assert shelf.keys(ANNA, collections=("Anna's",), sources=(shelf.folder.id,)) == []


def test_the_contents_are_counted_by_source_format_and_script(shelf):
    contents = shelf.service.contents(ANNA)
    told = {one.name: (one.collection, one.documents) for one in contents.sources}
    assert told == {"docs": ("docs", 2), "Anna's box": ("Anna's", 1)}
    assert contents.scripts == {"latin": 2, "korean": 1}


def test_a_removal_deletes_uploaded_files_and_leaves_others_out(shelf):
    ids = [shelf.id(key) for key in ("a.md", "own.md", "gone.md")]
    assert len(shelf.service.remove(ANNA, ids)) == 2
    assert shelf.boxes.deleted == ["own.md"]
    assert shelf.service.excluded(ANNA) == [(shelf.folder.id, "a.md")]
    assert sorted(shelf.queue.asked) == sorted(
        [(shelf.folder.id, ["a.md"], True), (shelf.box.id, ["own.md"], True)]
    )


def test_a_document_whose_file_is_missing_can_be_removed(shelf):
    shelf.boxes.error = NotFoundError("There is no such file.")
    assert len(shelf.service.remove(ANNA, [shelf.id("own.md")])) == 1


def test_an_undeletable_file_is_an_error_and_queues_no_import(shelf):
    shelf.boxes.error = StorageError("The box can't be written.")
    with pytest.raises(StorageError, match="can't be written"):
        shelf.service.remove(ANNA, [shelf.id("own.md")])
    assert shelf.queue.asked == []


def test_an_excluded_document_is_imported_again_after_its_exclusion_is_removed(shelf):
    shelf.service.remove(ANNA, [shelf.id("a.md"), shelf.id("b.md")])
    shelf.service.include_again(ANNA, [(shelf.folder.id, "a.md")])
    assert shelf.service.excluded(ANNA) == [(shelf.folder.id, "b.md")]
    assert shelf.queue.asked[-1] == (shelf.folder.id, ["a.md"], False)


def test_imports_and_passages_are_told_as_figures(shelf):
    assert sum(shelf.service.by_passages(LOCAL_USER).values()) == 2
    [day] = shelf.service.import_days(ANNA)
    assert day.counts == {"new": 3}
    assert shelf.service.import_days(LOCAL_USER)[0].counts == {"new": 2}
