from dataclasses import dataclass, field

import pytest

from domain import (
    DocumentRef,
    ImportState,
    Outcome,
    Principal,
    Removed,
    email_reader,
    group_reader,
)
from domain.errors import SourceUnavailableError
from services.imports.import_run import ImportTask
from services.imports.index_writer import IndexWriter
from storage.ledger import ledger
from storage.ledger.document_store import document_id
from storage.ledger.source_store import MIRROR_PERMISSIONS
from tests.fakes.library import DictLoader, Library

HR, STAFF = frozenset([group_reader("hr")]), frozenset([group_reader("staff")])
ANNA = Principal("anna", frozenset(["staff"]))
BERT = Principal("bert", frozenset(["hr", "staff"]))
CARA = Principal("cara", email="Cara@Example.com")
PEOPLE = (ANNA, BERT, CARA)


@dataclass
class RestrictedLoader(DictLoader):
    """Documents with restrictions by key, () if it has none; `unknown` permissions have a reason.

    After `down_after` reads, the source can't be reached.
    """

    restrictions: dict = field(default_factory=dict)
    unknown: dict = field(default_factory=dict)
    doubted: dict = field(default_factory=dict)
    down_after: int | None = None

    def list(self, before=None):
        for entry in super().list(before):
            yield self._restricted(entry) if isinstance(entry, DocumentRef) else entry
        yield from (Removed(key, reason, is_certain=False) for key, reason in self.doubted.items())

    def read(self, ref):
        if self.down_after is not None and len(self.reads) >= self.down_after:
            raise SourceUnavailableError("the site is down")
        return super().read(ref)

    def _restricted(self, ref):
        own = self.restrictions.get(ref.key, ())
        listed = DocumentRef(ref.key, ref.version, ref.location, restrictions=tuple(own))
        return listed.hidden(self.unknown[ref.key]) if ref.key in self.unknown else listed


class MirroredLibrary(Library):
    """A library with one source that has the permissions of its loader."""

    def __init__(self, folder):
        super().__init__(folder)
        options = {MIRROR_PERMISSIONS: True}
        self.source = self.sources.ensure("wiki", "site", name="wiki", options=options)

    def readers(self, key):
        """The names of the people who may read the document."""
        id_ = document_id(self.source.id, key)
        return {one.user_id for one in PEOPLE if self.access.reads(one, self.source.id, id_)}

    def start(self):
        return self.leases.start(self.source.id, "local", "worker")

    def perform(self, import_id, loader):
        return self.imports.perform(ImportTask(import_id, "worker", self.source, loader))


@pytest.fixture
def library(tmp_path):
    return MirroredLibrary(tmp_path)


def outcomes(report):
    return {item.key: item.outcome for item in report.items}


def test_a_document_is_readable_by_those_who_are_in_each_of_its_restrictions(library):
    restrictions = {"pay": [HR], "both": [HR, STAFF], "none": [frozenset()]}
    restrictions["mail"] = [frozenset([email_reader("CARA@example.com")])]
    loader = RestrictedLoader(
        dict.fromkeys([*restrictions, "open"], "x"), restrictions=restrictions
    )
    report = library.load(loader)
    assert report.state is ImportState.COMPLETED
    assert library.readers("open") == {"anna", "bert", "cara"}
    assert library.readers("pay") == library.readers("both") == {"bert"}
    assert library.readers("none") == set()
    assert library.readers("mail") == {"cara"}


def test_a_new_version_and_its_restrictions_become_visible_in_one_transaction(library, monkeypatch):
    seen = []

    def collect(writer):
        seen.append(library.readers("pay"))
        return 0

    monkeypatch.setattr(IndexWriter, "collect_garbage", collect)
    library.load(RestrictedLoader({"pay": "one"}, restrictions={"pay": [HR]}))
    assert library.documents.versions(library.source.id)
    assert seen[-1] == {"bert"}


def test_a_change_of_permissions_alone_is_applied_without_reading_the_document(library):
    loader = RestrictedLoader({"pay": "one", "open": "two"}, restrictions={"pay": [HR]})
    library.load(loader)
    loader.reads.clear()
    loader.restrictions = {"open": [HR]}
    embedded = library.embeddings.calls
    report = library.load(loader)
    assert outcomes(report) == {"pay": Outcome.PERMISSIONS, "open": Outcome.PERMISSIONS}
    assert (loader.reads, report.passages_embedded) == ([], 0)
    assert library.embeddings.calls == embedded
    assert library.readers("pay") == {"anna", "bert", "cara"}
    assert library.readers("open") == {"bert"}
    assert outcomes(library.load(loader)) == dict.fromkeys(("pay", "open"), Outcome.UNCHANGED)


def test_a_dry_run_counts_changes_of_permissions_and_makes_none(library):
    loader = RestrictedLoader({"pay": "one"})
    library.load(loader)
    loader.restrictions = {"pay": [HR]}
    report = library.imports.dry_run(ImportTask(library.start(), "worker", library.source, loader))
    assert report.count(Outcome.PERMISSIONS) == 1
    assert library.readers("pay") == {"anna", "bert", "cara"}


def test_an_edit_with_fewer_readers_hides_the_earlier_version_even_if_the_new_one_is_unreadable(
    library,
):
    loader = RestrictedLoader({"pay": "one"})
    library.load(loader)
    loader.texts["pay"], loader.restrictions = "two", {"pay": [HR]}
    loader.broken["pay"] = "encrypted"
    assert outcomes(library.load(loader)) == {"pay": Outcome.FAILED}
    assert library.readers("pay") == {"bert"}
    assert outcomes(library.load(loader)) == {"pay": Outcome.FAILED}
    assert library.readers("pay") == {"bert"}


def test_an_edit_with_more_readers_shows_them_only_the_new_version(library):
    loader = RestrictedLoader({"pay": "secret"}, restrictions={"pay": [HR]})
    library.load(loader)
    loader.texts["pay"], loader.restrictions = "public", {}
    loader.broken["pay"] = "encrypted"
    library.load(loader)
    assert library.readers("pay") == {"bert"}
    loader.broken, loader.texts["pay"] = {}, "public now"
    library.load(loader)
    assert library.readers("pay") == {"anna", "bert", "cara"}


def test_documents_whose_permissions_cannot_be_read_are_hidden_and_reported(library):
    loader = RestrictedLoader({"pay": "one", "new": "two"})
    del loader.texts["new"]
    library.load(loader)
    loader.texts["new"] = "two"
    loader.unknown = {"pay": "no rights", "new": "no rights"}
    report = library.load(loader)
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert report.message == "2 are hidden, because their permissions could not be read"
    assert {item.key: (item.outcome, item.reason) for item in report.items} == {
        "pay": (Outcome.PERMISSIONS, "hidden from everyone: no rights"),
        "new": (Outcome.NEW, "hidden from everyone: no rights"),
    }
    assert library.readers("pay") == library.readers("new") == set()
    assert library.load(loader).message == report.message
    loader.unknown = {}
    assert library.load(loader).state is ImportState.COMPLETED
    assert library.readers("pay") == {"anna", "bert", "cara"}


def test_documents_that_the_source_no_longer_lists_are_hidden_while_they_stay(library):
    loader = RestrictedLoader({"doubted": "one", "skipped": "two", "listed": "three"})
    library.load(loader)
    del loader.texts["doubted"], loader.texts["skipped"]
    loader.doubted, loader.hidden = {"doubted": "its space is hidden"}, {"skipped": "too large"}
    report = library.load(loader)
    assert outcomes(report) == {
        "doubted": Outcome.RETAINED,
        "skipped": Outcome.FAILED,
        "listed": Outcome.UNCHANGED,
    }
    hidden = {item.key for item in report.items if "hidden from everyone" in item.reason}
    assert hidden == {"doubted", "skipped"}
    assert library.readers("doubted") == library.readers("skipped") == set()
    assert library.readers("listed") == {"anna", "bert", "cara"}


def test_a_source_without_mirrored_permissions_hides_nothing(tmp_path):
    library = MirroredLibrary(tmp_path)
    library.source = library.sources.ensure("directory", "/docs", name="docs")
    library.load(DictLoader({"a": "one", "b": "two"}))
    library.load(DictLoader({"a": "one"}, hidden={"b": "too large"}))
    assert library.readers("b") == {"anna", "bert", "cara"}


def test_a_resumed_import_ends_like_one_that_was_not_interrupted(tmp_path):
    """Interrupted after each number of reads, and resumed when permissions have changed again."""
    before = {"a": [STAFF], "c": [HR], "e": [HR]}
    after = {"a": [HR], "b": [HR], "d": [STAFF], "e": [STAFF]}
    for down_after in (None, 0, 1, 2):
        library = MirroredLibrary(tmp_path / f"{down_after}")
        loader = RestrictedLoader(dict.fromkeys("abe", "one"), restrictions=before)
        library.load(loader)
        loader.texts |= {"b": "edited", "c": "new", "d": "new"}
        loader.restrictions, loader.reads, loader.down_after = after, [], down_after
        import_id = library.start()
        if down_after is not None:
            with pytest.raises(SourceUnavailableError):
                library.perform(import_id, loader)
            loader.down_after = None
        report = library.perform(import_id, loader)
        assert outcomes(report) == {
            "a": Outcome.PERMISSIONS,
            "b": Outcome.CHANGED,
            "c": Outcome.NEW,
            "d": Outcome.NEW,
            "e": Outcome.PERMISSIONS,
        }
        assert {key: library.readers(key) for key in "abcde"} == {
            "a": {"bert"},
            "b": {"bert"},
            "c": {"anna", "bert", "cara"},
            "d": {"anna", "bert"},
            "e": {"anna", "bert"},
        }


def test_a_document_imported_before_the_interruption_stays_new_if_its_permissions_change(library):
    loader = RestrictedLoader({"a": "one", "b": "two"}, down_after=1)
    import_id = library.start()
    with pytest.raises(SourceUnavailableError):
        library.perform(import_id, loader)
    loader.down_after, loader.restrictions = None, {"a": [HR]}
    report = library.perform(import_id, loader)
    assert outcomes(report) == {"a": Outcome.NEW, "b": Outcome.NEW}
    assert all(item.passages == 1 for item in report.items)
    assert library.readers("a") == {"bert"}


def crash(*_arguments):
    raise KeyboardInterrupt


def test_a_crash_while_changes_are_recorded_leaves_neither_them_nor_their_items(
    library, monkeypatch
):
    loader = RestrictedLoader({"a": "one"})
    library.load(loader)
    loader.restrictions = {"a": [HR]}
    import_id = library.start()
    with monkeypatch.context() as patches:
        patches.setattr(ledger, "add_items", crash)
        with pytest.raises(KeyboardInterrupt):
            library.perform(import_id, loader)
    assert library.readers("a") == {"anna", "bert", "cara"}
    assert outcomes(library.perform(import_id, loader)) == {"a": Outcome.PERMISSIONS}
    assert library.readers("a") == {"bert"}


def test_unchanged_permissions_are_not_written_again(library):
    loader = RestrictedLoader({"a": "one"}, restrictions={"a": [HR]})
    library.load(loader)
    snapshot = library.access.restrictions.of_documents([document_id(library.source.id, "a")])
    revision = library.access.restrictions._snapshot.revision
    library.load(loader)
    loader.texts["a"] = "edited"
    library.load(loader)
    library.access.restrictions.of_documents([])
    assert library.access.restrictions._snapshot.revision == revision
    assert list(snapshot.values()) == [frozenset([HR])]


def test_a_loader_without_permissions_leaves_restrictions_as_they_are(library):
    library.load(RestrictedLoader({"a": "one"}, restrictions={"a": [HR]}))
    library.load(DictLoader({"a": "two"}))
    assert library.readers("a") == {"bert"}
