import json

import pytest

from domain.errors import SourceError, SourceUnavailableError
from loaders.google_drive.drive_login import DriveLogin
from tests.fakes.google_drive import PERSON


def test_a_connection_contains_the_account_and_the_visible_items(drive, importer, team):
    other, hidden = drive.folder("Other"), drive.folder("Hidden")
    drive.share(other)
    connection = importer.files(folders=[team, other, hidden]).connection()
    assert connection.account == f"Importer ({importer.login.email})"
    assert connection.names == ("Team", "Other")
    [missing] = connection.warnings
    assert hidden.id in missing
    assert f"share it with {importer.login.email} as a viewer" in missing


def test_users_are_asked_to_have_missing_items_shared(drive, importer):
    importer.login = DriveLogin.of("oauth", json.dumps(drive.people.authorized_user(PERSON)))
    folder = drive.folder("Theirs", drive.root_of("other@example.org"))
    connection = importer.files(folders=[folder, drive.my_drive]).connection()
    assert connection.account == f"Kim ({PERSON})"
    assert connection.names == ("My Drive",)
    assert "ask its owner to share it with the account that signed in" in connection.warnings[0]


def test_shared_drives_and_files_have_names(drive, importer, team):
    shared = drive.shared_drive("Company")
    assert importer.files("drives", drives=[shared]).connection().names == ("Company",)
    item = drive.doc("Plan", "x", team)
    assert importer.files("files", files=[item]).connection().names == ("Plan",)


def test_items_in_the_trash_or_of_the_wrong_kind_are_missing(drive, importer, team):
    item, trash = drive.doc("Plan", "x", team), drive.folder("Gone", team)
    drive.trash(trash)
    folders = importer.files(folders=[item, trash]).connection()
    assert folders.names == ()
    assert "import it as a file" in folders.warnings[0]
    assert "in the trash" in folders.warnings[1]
    assert "as a folder" in importer.files("files", files=[team]).connection().warnings[0]


def test_the_error_for_a_revoked_login_says_what_to_do(drive, importer, team):
    importer.login = DriveLogin.of("oauth", json.dumps(drive.people.authorized_user(PERSON)))
    drive.people.revoke(PERSON)
    with pytest.raises(SourceError, match="google-login"):
        importer.files(folders=[team]).connection()


def test_an_unreachable_drive_is_reported(drive, importer, team):
    files = importer.files(folders=[team])
    drive.unplug()
    with pytest.raises(SourceUnavailableError):
        files.connection()
