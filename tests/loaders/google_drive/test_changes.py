"""The listings after the first: what Drive tells of changes, and no more requests than that."""

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
def imported(importer, files, plan, paper):
    """The first import is done."""
    assert importer.sync(files) == {plan.id, paper.id}


@pytest.mark.usefixtures("imported")
class TestAfterAnImport:
    def test_nothing_new_takes_one_request_and_reads_nothing(self, drive, importer, files):
        previous = importer.previous
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}
        assert importer.previous == previous

    def test_a_changed_document_is_read_again_and_no_other(self, drive, importer, files, plan):
        drive.edit(plan, Doc("# Better plan"))
        assert importer.sync(files) == {plan.id}
        assert importer.texts[plan.id] == "# Better plan"
        assert drive.calls() == {"changes": 1, "files/ID": 1, "files/ID/export": 1}

    def test_bytes_that_are_the_same_are_not_fetched(self, drive, importer, files, paper):
        drive.edit(paper, "paper")
        drive.share(paper, PERSON)
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}

    def test_a_new_name_and_another_folder_are_seen(self, drive, importer, files, plan, paper):
        drive.rename(plan, "Goals")
        drive.move(paper, plan.parents[0])
        assert importer.sync(files) == {plan.id, paper.id}
        assert drive.calls()["files"] == 0

    def test_a_new_document_is_read(self, drive, importer, files, team):
        item = drive.sheet("Numbers", {"A": [[1]]}, team)
        assert importer.sync(files) == {item.id}
        drive.edit(item, Sheet({"A": [[2]]}))
        assert importer.sync(files) == {item.id}

    def test_what_is_gone_has_its_reason(self, drive, importer, files, team, plan, paper):
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
        assert importer.gone == {
            plan.id: "in the trash of Google Drive",
            paper.id: "deleted, or no longer shared with this account",
            others[0].id: "moved out of what is imported",
            others[1].id: "deleted, or no longer shared with this account",
            others[2].id: "its owner does not let this account download it",
        }
        assert importer.texts == {}

    def test_what_comes_back_is_read_again(self, drive, importer, files, plan):
        drive.trash(plan)
        importer.sync(files)
        drive.restore(plan)
        assert importer.sync(files) == {plan.id}

    def test_what_became_another_kind_is_gone_and_named_from_then_on(
        self, drive, importer, files, paper
    ):
        drive.rename(paper, "paper.mp4")
        paper.mime = "video/mp4"
        importer.sync(files)
        assert "does not read .mp4" in importer.gone[paper.id]
        importer.sync(files)
        assert (importer.gone, list(importer.skipped)) == ({}, [paper.id])
        drive.purge(paper)
        importer.sync(files)
        assert (importer.gone, importer.skipped) == ({}, {})

    def test_a_folder_that_moves_brings_all_that_is_in_it(
        self, drive, importer, files, team, plan, paper
    ):
        drive.move(paper.parents[0], drive.folder("Above", team))
        assert importer.sync(files) == {paper.id}
        assert files.read(importer.previous.documents[paper.id]).metadata["folder"] == (
            "Team / Above / Sub"
        )

    @pytest.mark.parametrize("way", ["trash", "purge", "move"])
    def test_a_folder_that_goes_takes_all_that_is_in_it(
        self, drive, importer, files, plan, paper, way
    ):
        folder = paper.parents[0]
        drive.move(folder, drive.my_drive) if way == "move" else getattr(drive, way)(folder)
        importer.sync(files)
        assert list(importer.gone) == [paper.id]
        assert list(importer.texts) == [plan.id]

    def test_a_folder_that_comes_brings_all_that_is_in_it(self, drive, importer, files, team):
        folder = drive.folder("Later")
        item = drive.doc("Late", "text", drive.folder("Deep", folder))
        importer.sync(files)
        drive.move(folder, team)
        assert importer.sync(files) == {item.id}

    def test_a_folder_with_another_sharing_alone_changes_nothing(
        self, drive, importer, files, paper
    ):
        drive.share(paper.parents[0], PERSON)
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}

    def test_changes_elsewhere_in_the_drive_are_nothing_to_us(self, drive, importer, files):
        outside = drive.folder("Outside")
        drive.share(outside)
        drive.doc("Other", "x", outside)
        drive.folder("Sub", outside)
        assert importer.sync(files) == set()
        assert drive.calls() == {"changes": 1}

    def test_a_shortcut_that_comes_and_goes_brings_and_takes_its_target(
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
        assert importer.gone == {outside.id: "moved out of what is imported"}

    def test_a_shortcut_whose_target_is_shared_later_is_followed_then(
        self, drive, importer, files, team
    ):
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
    def test_a_token_that_is_no_longer_known_leads_to_a_whole_listing(
        self, drive, importer, files, plan, status
    ):
        drive.edit(plan, Doc("new"))
        drive.log.expired_status = status
        drive.log.expire()
        assert importer.sync(files) == {plan.id}
        assert drive.calls()["changes/startPageToken"] == 1
        importer.sync(files)
        assert drive.calls() == {"changes": 1}

    @pytest.mark.parametrize("other", ["wishes", "limit", "account"])
    def test_a_mark_of_other_wishes_or_another_account_is_not_gone_by(
        self, drive, importer, team, other
    ):
        types = ["gdoc", "txt"] if other == "wishes" else []
        if other == "limit":
            importer.max_bytes += 1
        if other == "account":
            drive.share(team, "second@example.org")
            key = drive.service_account("second@example.org")
            importer.login = DriveLogin.of("service_account", json.dumps(key))
        assert importer.sync(importer.files(folders=[team], types=types)) == set()
        assert drive.calls()["changes"] == 0

    def test_changes_come_page_by_page(self, drive, importer, files, team):
        drive.page_limit = 3
        items = {drive.upload(f"{n}.txt", "text", team).id for n in range(10)}
        assert importer.sync(files) == items
        assert drive.calls()["changes"] == 4

    def test_what_failed_is_told_in_the_version_that_failed(self, importer, files, plan):
        failed = replace(importer.previous.documents[plan.id], version="newer")
        previous = replace(importer.previous, failed={plan.id: failed, "unknown": failed})
        listed = [one for one in files.list(previous) if isinstance(one, DocumentRef)]
        assert failed in listed
        assert importer.previous.documents[plan.id] not in listed


def test_the_token_is_taken_before_anything_is_looked_at(drive, importer, files, plan):
    answer = drive.answer

    def answering(request):
        told = answer(request)
        if "in parents" in request.params.get("q", ""):
            drive.answer = answer
            drive.edit(plan, Doc("edited while it was listed"))
        return told

    drive.answer = answering
    listed = list(files.list())
    drive.edit(plan, Doc("and again"))
    importer.previous = replace(importer.previous, cursor=listed[-1].values)
    assert importer.sync(files) == {plan.id}


def test_a_shared_drive_has_a_log_of_its_own(drive, importer, team):
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
    assert importer.gone == {item.id: "moved out of what is imported"}
    drive.move(item, shared)
    assert importer.sync(both) == {item.id}


def test_a_shared_drive_with_another_name_is_another_place(drive, importer):
    shared = drive.shared_drive("Company")
    item = drive.doc("A", "x", shared)
    files = importer.files("drives", drives=[shared])
    importer.sync(files)
    drive.rename(shared, "Firm")
    importer.sync(files)
    assert files.read(importer.previous.documents[item.id]).metadata["folder"] == "Firm"


def test_single_files_follow_their_changes(drive, importer):
    items = [drive.doc(name, name) for name in "abc"]
    for item in items:
        drive.share(item)
    files = importer.files("files", files=items)
    assert len(importer.sync(files)) == 3
    drive.edit(items[0], Doc("new"))
    drive.unshare(items[1])
    drive.trash(items[2])
    assert importer.sync(files) == {items[0].id}
    assert importer.gone == {
        items[1].id: "deleted, or no longer shared with this account",
        items[2].id: "in the trash of Google Drive",
    }
    told = {
        items[1].id: f"not visible to this account: share it with {importer.login.email}"
        " as a viewer",
        items[2].id: "in the trash of Google Drive",
    }
    for expire in (lambda: None, drive.log.expire, lambda: None):
        expire()
        assert importer.sync(files) == set()
        assert (importer.gone, importer.skipped) == ({}, told), "asked for, and thus told of"
    drive.share(items[1])
    drive.restore(items[2])
    assert importer.sync(files) == {items[1].id, items[2].id}
    assert (importer.gone, importer.skipped) == ({}, {})


def test_a_file_too_large_is_named_each_time_and_never_asked_for(drive, importer, files, team):
    large = drive.upload("big.txt", b"x" * (importer.max_bytes + 1), team)
    importer.sync(files)
    for _ in range(2):
        failed = {large.id: DocumentRef(large.id, "", "")}
        importer.previous = replace(importer.previous, failed=failed)
        importer.sync(files)
        assert "more than the limit" in importer.skipped[large.id]
        assert set(drive.calls()) == {"changes"}
    drive.edit(large, "short")
    assert importer.sync(files) == {large.id}


def test_a_whole_listing_tells_the_reasons_too(drive, importer, files, team):
    items = [drive.doc(name, name, team) for name in "abcd"]
    importer.sync(files)
    drive.trash(items[0])
    drive.purge(items[1])
    outside = drive.folder("Outside")
    drive.share(outside)
    drive.move(items[2], outside)
    importer.previous = replace(importer.previous, cursor={})
    importer.sync(files)
    assert importer.gone == {
        items[0].id: "in the trash of Google Drive",
        items[1].id: "deleted, or no longer shared with this account",
        items[2].id: "moved out of what is imported",
    }


def test_a_listing_ends_with_one_mark_that_json_can_hold(importer, files, plan):
    importer.sync(files)
    kinds = [type(one) for one in importer.listed]
    assert kinds == [DocumentRef, Cursor]
    assert not any(isinstance(one, Skipped) for one in importer.listed)
