import json

import pytest

from errors import SourceError, SourceUnavailableError
from loaders.google_drive.drive_login import DriveLogin
from tests.fakes.google_drive import PERSON


def test_a_connection_tells_who_is_signed_in_and_what_is_seen(drive, importer, team):
    other, hidden = drive.folder("Other"), drive.folder("Hidden")
    drive.share(other)
    told = importer.files(folders=[team, other, hidden]).connection()
    assert told.account == f"Importer ({importer.login.email})"
    assert told.names == ("Team", "Other")
    [missing] = told.warnings
    assert hidden.id in missing
    assert f"share it with {importer.login.email} as a viewer" in missing


def test_a_person_is_told_to_have_it_shared(drive, importer):
    importer.login = DriveLogin.of("oauth", json.dumps(drive.people.authorized_user(PERSON)))
    stranger = drive.folder("Theirs", drive.root_of("other@example.org"))
    told = importer.files(folders=[stranger, drive.my_drive]).connection()
    assert told.account == f"Kim ({PERSON})"
    assert told.names == ("My Drive",)
    assert "have it shared with the person who signed in" in told.warnings[0]


def test_shared_drives_and_files_are_seen_by_name(drive, importer, team):
    shared = drive.shared_drive("Company")
    assert importer.files("drives", drives=[shared]).connection().names == ("Company",)
    item = drive.doc("Plan", "x", team)
    assert importer.files("files", files=[item]).connection().names == ("Plan",)


def test_what_is_no_folder_no_file_or_in_the_trash_is_missing(drive, importer, team):
    item, gone = drive.doc("Plan", "x", team), drive.folder("Gone", team)
    drive.trash(gone)
    folders = importer.files(folders=[item, gone]).connection()
    assert folders.names == ()
    assert "import it as a file" in folders.warnings[0]
    assert "in the trash" in folders.warnings[1]
    assert "as a folder" in importer.files("files", files=[team]).connection().warnings[0]


def test_a_login_that_was_withdrawn_says_what_to_do(drive, importer, team):
    importer.login = DriveLogin.of("oauth", json.dumps(drive.people.authorized_user(PERSON)))
    drive.people.revoke(PERSON)
    with pytest.raises(SourceError, match="google-login"):
        importer.files(folders=[team]).connection()


def test_a_drive_that_is_away_is_told_as_such(drive, importer, team):
    files = importer.files(folders=[team])
    drive.unplug()
    with pytest.raises(SourceUnavailableError):
        files.connection()
