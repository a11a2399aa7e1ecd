"""What befalls folders beyond those that are imported, which Drive tells of those folders alone."""

import pytest

from domain import ImportState
from errors import SourceError
from tests.fakes.google_drive import PERSON, FakeDrive
from tests.fakes.google_drive_library import DriveLibrary


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


def follows(library, *starts):
    library.load()
    return library.differences(library.fake.visible(*starts)) == []


@pytest.mark.parametrize("what", ["unshare", "trash", "purge"])
def test_what_a_shortcut_leads_to_goes_with_the_folder_it_is_in(fake, team, aside, tmp_path, what):
    fake.shortcut(fake.upload("a.txt", "w1", fake.folder("Deep", aside)), team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    assert follows(library, team)
    assert len(library.versions()) == 1
    getattr(fake, what)(aside)
    assert follows(library, team)
    assert library.versions() == {}


@pytest.mark.parametrize("what", ["unshare", "trash", "purge"])
def test_the_folder_that_is_imported_goes_with_that_above_it(fake, aside, tmp_path, what):
    folder = fake.folder("Team", aside)
    fake.upload("a.txt", "w1", folder)
    library = DriveLibrary(fake, tmp_path / "data", folder)
    assert follows(library, folder)
    getattr(fake, what)(aside)
    with pytest.raises(SourceError, match="not visible|in the trash"):
        library.load()
    assert len(library.versions()) == 1, "nothing is removed where nothing can be seen"


def test_what_a_shortcut_leads_to_comes_with_the_folder_it_is_in(fake, team, tmp_path):
    aside = fake.folder("Aside")
    fake.shortcut(fake.upload("a.txt", "w1", aside), team)
    inner = fake.folder("Inner", aside)
    fake.upload("b.txt", "w2", inner)
    fake.shortcut(inner, team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    assert follows(library, team)
    assert library.versions() == {}
    fake.share(aside)
    assert follows(library, team)
    assert len(library.versions()) == 2


def test_what_a_shortcut_leads_to_comes_with_membership_of_its_drive(fake, team, tmp_path):
    drive = fake.shared_drive("Wiki", members=[PERSON])
    fake.shortcut(fake.upload("a.txt", "w1", drive), team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    assert follows(library, team)
    assert library.versions() == {}
    fake.add_member(drive)
    assert follows(library, team)
    assert len(library.versions()) == 1


def test_a_shared_drive_that_is_left_is_told_and_nothing_is_removed(fake, tmp_path):
    drive = fake.shared_drive("Wiki")
    fake.upload("a.txt", "w1", drive)
    library = DriveLibrary(fake, tmp_path / "data", drive)
    assert follows(library, drive)
    fake.remove_member(drive)
    with pytest.raises(SourceError, match="not visible"):
        library.load()
    assert len(library.versions()) == 1


def test_a_folder_of_a_drive_is_followed_for_who_is_no_member_and_for_who_becomes_one(
    fake, tmp_path
):
    drive = fake.shared_drive("Wiki", members=[PERSON])
    folder = fake.folder("Open", drive)
    fake.share(folder)
    file = fake.upload("a.txt", "w1", folder)
    library = DriveLibrary(fake, tmp_path / "data", folder)
    assert follows(library, folder)
    fake.edit(file, "w2")
    assert follows(library, folder)
    fake.add_member(drive)
    assert follows(library, folder)
    fake.unshare(folder)
    assert follows(library, folder)
    fake.edit(file, "w3")
    assert follows(library, folder)
    assert len(library.versions()) == 1


def test_files_and_folders_go_from_one_log_to_another(fake, team, tmp_path):
    drive = fake.shared_drive("Wiki")
    file, folder = fake.upload("a.txt", "w1", team), fake.folder("Sub", team)
    fake.upload("b.txt", "w2", folder)
    library = DriveLibrary(fake, tmp_path / "data", team, drive)
    assert follows(library, team, drive)
    for place in (drive, team, drive):
        fake.move(file, place)
        assert follows(library, team, drive)
        fake.move(folder, place)
        fake.edit(file, f"w3 in {place.name}")
        assert follows(library, team, drive)
        assert library.versions() == library.listed_anew()


def test_circles_of_shortcuts_end_and_are_followed_as_sharing_changes(fake, team, aside, tmp_path):
    other = fake.folder("Other")
    fake.share(other)
    for target, place in ((aside, team), (other, aside), (aside, other), (team, other)):
        fake.shortcut(target, place)
    fake.upload("a.txt", "w1", other)
    library = DriveLibrary(fake, tmp_path / "data", team)
    for change in (None, fake.unshare, fake.share):
        if change:
            change(other)
        assert follows(library, team)
        assert len(library.versions()) == (0 if change == fake.unshare else 1)


def test_a_document_that_is_emptied_answers_no_more_and_is_no_error(fake, team, tmp_path):
    doc = fake.doc("Plan", "the plan w1", team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    assert follows(library, team)
    fake.edit(doc, "\n")
    report, _ = library.load()
    assert report.state is ImportState.COMPLETED
    assert "Plan can't be read: 0 characters" in report.items[0].reason
    assert library.versions() == {}
    report, asked = library.load()
    assert (report.state, len(asked)) == (ImportState.COMPLETED, 1), "it is not asked for again"
    fake.edit(doc, "the plan w2")
    assert follows(library, team)


def test_a_document_too_large_to_export_is_named_and_read_when_it_has_shrunk(fake, team, tmp_path):
    fake.export_limit = 30
    doc = fake.doc("Long", "a long text " * 10, team)
    library = DriveLibrary(fake, tmp_path / "data", team)
    report, _ = library.load()
    assert report.state is ImportState.COMPLETED_WITH_ERRORS
    assert "Long can't be read" in report.items[0].reason
    fake.edit(doc, "short w1")
    assert follows(library, team)
