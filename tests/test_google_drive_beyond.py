"""Changes outside the imported folders, which Drive reports only for the changed folder."""

import pytest

from domain import ImportState
from domain.errors import SourceError
from tests.fakes.google_drive import PERSON, FakeDrive
from tests.fakes.google_drive_library import DriveLibrary

pytestmark = pytest.mark.slow


@pytest.fixture
def fake():
    with FakeDrive() as drive:
        yield drive
    assert drive.refused == []


@pytest.fixture
def team(fake):
    folder = fake.folder("Team")
    fake.share(folder)
    return folder


@pytest.fixture
def aside(fake):
    folder = fake.folder("Aside")
    fake.share(folder)
    return folder


def load_matches_drive(library, *starts):
    library.load()
    return library.differences(library.fake.visible(*starts)) == []


@pytest.mark.parametrize("operation", ["unshare", "trash", "purge"])
def test_removing_a_shortcut_removes_its_target(fake, team, aside, tmp_path, operation):
    fake.shortcut(fake.upload("a.txt", "w1", fake.folder("Deep", aside)), team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    assert load_matches_drive(library, team)
    assert len(library.versions()) == 1
    getattr(fake, operation)(aside)
    assert load_matches_drive(library, team)
    assert library.versions() == {}


@pytest.mark.parametrize("operation", ["unshare", "trash", "purge"])
def test_the_imported_folder_is_removed_with_its_parent(fake, aside, tmp_path, operation):
    folder = fake.folder("Team", aside)
    fake.upload("a.txt", "w1", folder)
    library = DriveLibrary(fake, tmp_path / "data", folder)
    assert load_matches_drive(library, folder)
    getattr(fake, operation)(aside)
    with pytest.raises(SourceError, match="not visible|in the trash"):
        library.load()
    assert len(library.versions()) == 1, "documents are not removed if the folder is not visible"


def test_adding_a_shortcut_adds_its_target(fake, team, tmp_path):
    aside = fake.folder("Aside")
    fake.shortcut(fake.upload("a.txt", "w1", aside), team)
    inner = fake.folder("Inner", aside)
    fake.upload("b.txt", "w2", inner)
    fake.shortcut(inner, team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    assert load_matches_drive(library, team)
    assert library.versions() == {}
    fake.share(aside)
    assert load_matches_drive(library, team)
    assert len(library.versions()) == 2


def test_the_target_of_a_shortcut_appears_with_drive_membership(fake, team, tmp_path):
    drive = fake.shared_drive("Wiki", members=[PERSON])
    fake.shortcut(fake.upload("a.txt", "w1", drive), team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    assert load_matches_drive(library, team)
    assert library.versions() == {}
    fake.add_member(drive)
    assert load_matches_drive(library, team)
    assert len(library.versions()) == 1


def test_leaving_a_shared_drive_is_reported_and_removes_nothing(fake, tmp_path):
    drive = fake.shared_drive("Wiki")
    fake.upload("a.txt", "w1", drive)
    library = DriveLibrary(fake, tmp_path / "data", drive)
    assert load_matches_drive(library, drive)
    fake.remove_member(drive)
    with pytest.raises(SourceError, match="not visible"):
        library.load()
    assert len(library.versions()) == 1


def test_a_drive_folder_is_followed_with_and_without_membership(fake, tmp_path):
    drive = fake.shared_drive("Wiki", members=[PERSON])
    folder = fake.folder("Open", drive)
    fake.share(folder)
    file = fake.upload("a.txt", "w1", folder)
    library = DriveLibrary(fake, tmp_path / "data", folder)
    assert load_matches_drive(library, folder)
    fake.edit(file, "w2")
    assert load_matches_drive(library, folder)
    fake.add_member(drive)
    assert load_matches_drive(library, folder)
    fake.unshare(folder)
    assert load_matches_drive(library, folder)
    fake.edit(file, "w3")
    assert load_matches_drive(library, folder)
    assert len(library.versions()) == 1


def test_files_and_folders_move_between_change_logs(fake, team, tmp_path):
    drive = fake.shared_drive("Wiki")
    file, folder = fake.upload("a.txt", "w1", team), fake.folder("Sub", team)
    fake.upload("b.txt", "w2", folder)
    library = DriveLibrary(fake, tmp_path / "data", team, drive)
    assert load_matches_drive(library, team, drive)
    for place in (drive, team, drive):
        fake.move(file, place)
        assert load_matches_drive(library, team, drive)
        fake.move(folder, place)
        fake.edit(file, f"w3 in {place.name}")
        assert load_matches_drive(library, team, drive)
        assert library.versions() == library.full_listing()


def test_cycles_of_shortcuts_end_and_follow_sharing_changes(fake, team, aside, tmp_path):
    other = fake.folder("Other")
    fake.share(other)
    for target, place in ((aside, team), (other, aside), (aside, other), (team, other)):
        fake.shortcut(target, place)
    fake.upload("a.txt", "w1", other)
    library = DriveLibrary(fake, tmp_path / "data", team)
    for change in (None, fake.unshare, fake.share):
        if change:
            change(other)
        assert load_matches_drive(library, team)
        assert len(library.versions()) == (0 if change == fake.unshare else 1)


def test_an_emptied_document_is_removed_from_the_answers_without_an_error(fake, team, tmp_path):
    doc = fake.doc("Plan", "the plan w1", team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    assert load_matches_drive(library, team)
    fake.edit(doc, "\n")
    report, _ = library.load()
    assert report.state is ImportState.COMPLETED
    assert "Plan can't be read: 0 characters" in report.items[0].reason
    assert library.versions() == {}
    report, requests = library.load()
    assert (report.state, len(requests)) == (ImportState.COMPLETED, 1), (
        "the document is not requested again"
    )
    fake.edit(doc, "the plan w2")
    assert load_matches_drive(library, team)


def test_a_document_too_large_to_export_is_reported_and_read_once_it_shrinks(fake, team, tmp_path):
    fake.export_limit = 30
    doc = fake.doc("Long", "a long text " * 10, team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    report, _ = library.load()
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert "Long can't be read" in report.items[0].reason
    fake.edit(doc, "short w1")
    assert load_matches_drive(library, team)
