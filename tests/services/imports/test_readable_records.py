"""Records of imports do not name documents that their reader may not read."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain import (
    LOCAL_USER,
    ImportKind,
    ImportRun,
    ImportState,
    Outcome,
    Principal,
    Progress,
    Role,
    Stage,
)
from services.imports.import_run import ImportTask
from services.imports.readable_records import UNNAMED, ReadableRecords
from services.library.document_service import FailureService
from storage.ledger.import_store import Failures
from storage.ledger.source_store import MIRROR_PERMISSIONS
from tests.fakes.library import Library
from tests.services.imports.test_mirrored_permissions import HR, RestrictedLoader

EDITOR = Principal("eve", frozenset(["staff"]), Role.EDITOR)
HR_EDITOR = replace(EDITOR, groups=frozenset(["hr"]))
ADMIN = replace(EDITOR, role=Role.ADMIN)


@pytest.fixture
def library(tmp_path):
    library = Library(tmp_path)
    options = {MIRROR_PERMISSIONS: True}
    library.source = library.sources.ensure("wiki", "site", name="wiki", options=options)
    return library


@pytest.fixture
def loader():
    return RestrictedLoader({"pay": "one", "open": "two"}, restrictions={"pay": [HR]})


def dry_run(library, loader):
    import_id = library.leases.start(library.source.id, "local", "worker")
    library.imports.dry_run(ImportTask(import_id, "worker", library.source, loader))
    return import_id


def names(library, principal, import_id):
    return {one.key: one.outcome for one in library.imports.report(principal, import_id).items}


def test_new_documents_of_a_dry_run_are_named_to_administrators_only(library, loader):
    import_id = dry_run(library, loader)
    assert names(library, EDITOR, import_id) == {"": Outcome.NEW}
    assert names(library, HR_EDITOR, import_id) == {"": Outcome.NEW}
    assert names(library, ADMIN, import_id) == dict.fromkeys(["pay", "open"], Outcome.NEW)
    assert names(library, LOCAL_USER, import_id) == dict.fromkeys(["pay", "open"], Outcome.NEW)
    [first, _other] = library.imports.report(EDITOR, import_id).items
    assert (first.title, first.location, first.reason) == (str(UNNAMED), "", "")


def test_imported_documents_are_named_to_those_who_may_read_them(library, loader):
    report = library.load(loader)
    everything = dict.fromkeys(["pay", "open"], Outcome.NEW)
    assert names(library, HR_EDITOR, report.id) == everything
    assert names(library, EDITOR, report.id) == {"open": Outcome.NEW, "": Outcome.NEW}
    assert names(library, ADMIN, report.id) == {"open": Outcome.NEW, "": Outcome.NEW}


def test_documents_that_failed_at_once_are_named_to_administrators_only(library, loader):
    loader.broken = {"pay": "it is damaged"}
    report = library.load(loader)
    assert set(names(library, HR_EDITOR, report.id)) == {"open", ""}
    assert set(names(library, ADMIN, report.id)) == {"open", "pay"}


def test_without_mirrored_permissions_editors_see_every_name(library, loader):
    library.source = library.sources.ensure("wiki", "other", name="other")
    loader.broken = {"pay": "it is damaged"}
    assert set(names(library, EDITOR, dry_run(library, loader))) == {"open", "pay"}


def test_progress_and_keys_name_no_document_whose_readers_are_unknown(library, loader):
    library.load(loader)
    run = ImportRun(
        "i1",
        library.source.id,
        ImportKind.IMPORT,
        ImportState.RUNNING,
        datetime.now(UTC),
        options={"keys": ["open", "new", "pay"]},
        progress=Progress(Stage.READING, 1, 3, "new"),
    )
    shown = ReadableRecords(library.access, EDITOR).run(run)
    assert (shown.keys, shown.progress.key) == (("open",), "")
    shown = ReadableRecords(library.access, replace(HR_EDITOR, role=Role.ADMIN)).run(run)
    assert (shown.keys, shown.progress.key) == (("open", "new", "pay"), "new")


def test_failures_are_listed_and_counted_without_unnamed_ones(library, loader):
    library.load(loader)
    loader.texts |= {"open": "three", "new": "four"}
    loader.broken = dict.fromkeys(["open", "new"], "it is damaged")
    library.load(loader)
    failures = FailureService(Failures(library.database), library.access, queue=None)
    page = failures.page(EDITOR)
    assert [one.key for one in page.failures] == ["open"]
    assert (page.total, page.unnamed, failures.count(EDITOR)) == (1, 1, 1)
    assert failures.identifiers(EDITOR) == [(library.source.id, "open")]
    page = failures.page(ADMIN)
    assert sorted(one.key for one in page.failures) == ["new", "open"]
    assert (page.total, page.unnamed) == (2, 0)
