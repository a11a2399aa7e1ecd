"""Listings after the first use the change log of Drive and make no other requests."""

import json
from dataclasses import replace

import pytest

from domain import Cursor, DocumentRef, Skipped
from loaders.google_drive.drive_login import DriveLogin
from tests.fakes.google_drive import PERSON, Doc, Sheet


@pytest.fixture
def files(importer, team):
    return importer.files(folders=[team])


@pytest.fixture
def plan(drive, team):
    return drive.doc("Plan", "# Plan", team)


@pytest.fixture
def paper(drive, team):
    return drive.upload("paper.txt", "paper", drive.folder("Sub", team))


@pytest.fixture
def first_import(importer, files, plan, paper):
    """Run the first import."""
    assert importer.sync(files) == {plan.id, paper.id}


@pytest.mark.usefixtures("first_import")
class TestAfterAnImport:
    def test_without_changes_one_request_is_made_and_nothing_is_read(self, drive, importer, files):
        previous = importer.previous
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}
        assert importer.previous == previous

    def test_only_changed_documents_are_read_again(self, drive, importer, files, plan):
        drive.edit(plan, Doc("# Better plan"))
        assert importer.sync(files) == {plan.id}
        assert importer.texts[plan.id] == "# Better plan"
        assert drive.calls() == {"changes": 1, "files/ID": 1, "files/ID/export": 1}

    def test_unchanged_bytes_are_not_downloaded(self, drive, importer, files, paper):
        drive.edit(paper, "paper")
        drive.share(paper, PERSON)
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}

    def test_renames_and_moves_are_imported(self, drive, importer, files, plan, paper):
        drive.rename(plan, "Goals")
        drive.move(paper, plan.parents[0])
        assert importer.sync(files) == {plan.id, paper.id}
        assert drive.calls()["files"] == 0

    def test_new_documents_are_read(self, drive, importer, files, team):
        item = drive.sheet("Numbers", {"A": [[1]]}, team)
        assert importer.sync(files) == {item.id}
        drive.edit(item, Sheet({"A": [[2]]}))
        assert importer.sync(files) == {item.id}

    def test_removals_have_a_reason(self, drive, importer, files, team, plan, paper):
        others = [drive.doc(name, name, team) for name in "abc"]
        importer.sync(files)
        drive.trash(plan)
        drive.move(paper, drive.my_drive)
        outside = drive.folder("Outside")
        drive.share(outside)
        drive.move(others[0], outside)
        drive.purge(others[1])
        drive.forbid_download(others[2])
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}
        assert importer.removals == {
            plan.id: "in the trash of Google Drive",
            paper.id: "deleted, or no longer shared with this account",
            others[0].id: "moved out of the selection",
            others[1].id: "deleted, or no longer shared with this account",
            others[2].id: "its owner does not let this account download it",
        }
        assert importer.texts == {}

    def test_restored_documents_are_read_again(self, drive, importer, files, plan):
        drive.trash(plan)
        importer.sync(files)
        drive.restore(plan)
        assert importer.sync(files) == {plan.id}

    def test_documents_that_become_unreadable_types_are_removed_and_then_skipped(
        self, drive, importer, files, paper
    ):
        drive.rename(paper, "paper.mp4")
        paper.mime = "video/mp4"
        importer.sync(files)
        assert "does not read .mp4" in importer.removals[paper.id]
        importer.sync(files)
        assert (importer.removals, list(importer.skipped)) == ({}, [paper.id])
        drive.purge(paper)
        importer.sync(files)
        assert (importer.removals, importer.skipped) == ({}, {})

    def test_moving_a_folder_updates_its_documents(self, drive, importer, files, team, plan, paper):
        drive.move(paper.parents[0], drive.folder("Above", team))
        assert importer.sync(files) == {paper.id}
        assert files.read(importer.previous.documents[paper.id]).metadata["folder"] == (
            "Team / Above / Sub"
        )

    @pytest.mark.parametrize("action", ["trash", "purge", "move"])
    def test_removing_a_folder_removes_its_documents(
        self, drive, importer, files, plan, paper, action
    ):
        folder = paper.parents[0]
        drive.move(folder, drive.my_drive) if action == "move" else getattr(drive, action)(folder)
        importer.sync(files)
        assert list(importer.removals) == [paper.id]
        assert list(importer.texts) == [plan.id]

    def test_moving_a_folder_into_the_selection_adds_its_documents(
        self, drive, importer, files, team
    ):
        folder = drive.folder("Later")
        item = drive.doc("Late", "text", drive.folder("Deep", folder))
        importer.sync(files)
        drive.move(folder, team)
        assert importer.sync(files) == {item.id}

    def test_sharing_a_folder_changes_nothing(self, drive, importer, files, paper):
        drive.share(paper.parents[0], PERSON)
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}

    def test_changes_outside_the_selection_are_ignored(self, drive, importer, files):
        outside = drive.folder("Outside")
        drive.share(outside)
        drive.doc("Other", "x", outside)
        drive.folder("Sub", outside)
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}

    def test_the_target_of_a_shortcut_is_added_and_removed_with_it(
        self, drive, importer, files, team
    ):
        outside = drive.doc("There", "text")
        drive.share(outside)
        shortcut = drive.shortcut(outside, team)
        assert importer.sync(files) == {outside.id}
        drive.edit(outside, Doc("new"))
        assert importer.sync(files) == {outside.id}
        assert drive.calls() == {"changes": 1, "files/ID": 1, "files/ID/export": 1}
        drive.trash(shortcut)
        importer.sync(files)
        assert importer.removals == {outside.id: "moved out of the selection"}

    def test_a_shortcut_is_followed_once_its_target_is_shared(self, drive, importer, files, team):
        outside = drive.doc("There", "text")
        shortcut = drive.shortcut(outside, team)
        importer.sync(files)
        assert list(importer.skipped) == [shortcut.id]
        importer.sync(files)
        assert list(importer.skipped) == [shortcut.id]
        drive.share(outside)
        assert importer.sync(files) == {outside.id}
        assert importer.skipped == {}

    @pytest.mark.parametrize("status", [400, 410])
    def test_an_expired_page_token_triggers_a_full_listing(
        self, drive, importer, files, plan, status
    ):
        drive.edit(plan, Doc("new"))
        drive.log.expired_status = status
        drive.log.expire()
        assert importer.sync(files) == {plan.id}
        assert drive.calls()["changes/startPageToken"] == 1
        importer.sync(files)
        assert drive.calls() == {"changes": 1}

    @pytest.mark.parametrize("difference", ["selection", "limit", "account"])
    def test_cursors_of_another_selection_limit_or_account_are_ignored(
        self, drive, importer, team, difference
    ):
        types = ["gdoc", "txt"] if difference == "selection" else []
        if difference == "limit":
            importer.max_bytes += 1
        if difference == "account":
            drive.share(team, "second@example.org")
            key = drive.service_account("second@example.org")
            importer.login = DriveLogin.of("service_account", json.dumps(key))
        assert importer.sync(importer.files(folders=[team], types=types)) == set()
        assert drive.calls()["changes"] == 0

    def test_changes_are_read_page_by_page(self, drive, importer, files, team):
        drive.page_limit = 3
        items = {drive.upload(f"{n}.txt", "text", team).id for n in range(10)}
        assert importer.sync(files) == items
        assert drive.calls()["changes"] == 4

    def test_failed_documents_are_listed_with_the_version_that_failed(self, importer, files, plan):
        failed = replace(importer.previous.documents[plan.id], version="newer")
        previous = replace(importer.previous, failed={plan.id: failed, "unknown": failed})
        refs = [entry for entry in files.list(previous) if isinstance(entry, DocumentRef)]
        assert failed in refs
        assert importer.previous.documents[plan.id] not in refs


def test_the_page_token_is_requested_before_the_listing(drive, importer, files, plan):
    answer = drive.answer

    def edit_during_listing(request):
        response = answer(request)
        if "in parents" in request.params.get("q", ""):
            drive.answer = answer
            drive.edit(plan, Doc("edited while it was listed"))
        return response

    drive.answer = edit_during_listing
    entries = list(files.list())
    drive.edit(plan, Doc("and again"))
    importer.previous = replace(importer.previous, cursor=entries[-1].values)
    assert importer.sync(files) == {plan.id}


def test_a_shared_drive_has_a_separate_change_log(drive, importer, team):
    shared = drive.shared_drive("Company")
    item = drive.doc("A", "x", drive.folder("Sub", shared))
    both = importer.files("drives", drives=[shared])
    assert importer.sync(both) == {item.id}
    assert importer.sync(both) == set()
    assert drive.calls() == {"changes": 2}
    drive.edit(item, Doc("y"))
    assert importer.sync(both) == {item.id}
    drive.move(item, team)
    importer.sync(both)
    assert importer.removals == {item.id: "moved out of the selection"}
    drive.move(item, shared)
    assert importer.sync(both) == {item.id}


def test_renaming_a_shared_drive_updates_its_documents(drive, importer):
    shared = drive.shared_drive("Company")
    item = drive.doc("A", "x", shared)
    files = importer.files("drives", drives=[shared])
    importer.sync(files)
    drive.rename(shared, "Firm")
    importer.sync(files)
    assert files.read(importer.previous.documents[item.id]).metadata["folder"] == "Firm"


def test_single_files_are_updated(drive, importer):
    items = [drive.doc(name, name) for name in "abc"]
    for item in items:
        drive.share(item)
    files = importer.files("files", files=items)
    assert len(importer.sync(files)) == 3
    drive.edit(items[0], Doc("new"))
    drive.unshare(items[1])
    drive.trash(items[2])
    assert importer.sync(files) == {items[0].id}
    assert importer.removals == {
        items[1].id: "deleted, or no longer shared with this account",
        items[2].id: "in the trash of Google Drive",
    }
    skipped = {
        items[1].id: f"not visible to this account: share it with {importer.login.email}"
        " as a viewer",
        items[2].id: "in the trash of Google Drive",
    }
    for expire in (lambda: None, drive.log.expire, lambda: None):
        expire()
        assert importer.sync(files) == set()
        assert importer.removals == {}
        assert importer.skipped == skipped, "selected files stay visible as skipped"
    drive.share(items[1])
    drive.restore(items[2])
    assert importer.sync(files) == {items[1].id, items[2].id}
    assert (importer.removals, importer.skipped) == ({}, {})


def test_files_that_are_too_large_are_skipped_without_requests(drive, importer, files, team):
    large = drive.upload("big.txt", b"x" * (importer.max_bytes + 1), team)
    importer.sync(files)
    for _ in range(2):
        failed = {large.id: DocumentRef(large.id, "", "")}
        importer.previous = replace(importer.previous, failed=failed)
        importer.sync(files)
        assert "exceeds the limit" in importer.skipped[large.id]
        assert set(drive.calls()) == {"changes"}
    drive.edit(large, "short")
    assert importer.sync(files) == {large.id}


def test_full_listings_have_reasons_for_removals_too(drive, importer, files, team):
    items = [drive.doc(name, name, team) for name in "abcd"]
    importer.sync(files)
    drive.trash(items[0])
    drive.purge(items[1])
    outside = drive.folder("Outside")
    drive.share(outside)
    drive.move(items[2], outside)
    importer.previous = replace(importer.previous, cursor={})
    importer.sync(files)
    assert importer.removals == {
        items[0].id: "in the trash of Google Drive",
        items[1].id: "deleted, or no longer shared with this account",
        items[2].id: "moved out of the selection",
    }


def test_a_listing_ends_with_one_cursor(importer, files, plan):
    importer.sync(files)
    kinds = [type(entry) for entry in importer.entries]
    assert kinds == [DocumentRef, Cursor]
    assert not any(isinstance(entry, Skipped) for entry in importer.entries)
