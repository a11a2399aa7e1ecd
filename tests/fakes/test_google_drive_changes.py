"""The change logs of the fake, through Google's own client."""

import pytest

from tests.fakes.google_drive import PERSON
from tests.fakes.google_drive_client import BY_LOG, changes, error, names, start

pytestmark = pytest.mark.slow


def test_changes_list_each_item_once_in_its_current_state(strict, api, team):
    token = start(api)
    file = strict.upload("a.txt", "x", team)
    strict.edit(file, "y")
    strict.rename(file, "b.txt")
    strict.upload("private.txt", "x")
    [change], token = changes(api, token)
    assert (change["removed"], change["fileId"]) == (False, file.id)
    assert change["file"]["name"] == "b.txt"
    assert changes(api, token) == ([], token)


def test_changes_are_paged(strict, api, team):
    token = start(api)
    expected = [strict.upload(f"{n}.txt", "x", team).id for n in range(5)]
    strict.page_limit = 2
    listed = []
    while token:
        page = api.changes().list(pageToken=token, **BY_LOG).execute()
        listed += [change["fileId"] for change in page["changes"]]
        token = page.get("nextPageToken")
    assert listed == expected
    assert strict.calls()["changes"] == 3


@pytest.mark.parametrize("logs_descendants", [False, True])
def test_a_folder_change_lists_only_the_folder_by_default(strict, api, team, logs_descendants):
    below = strict.folder("Sub", team)
    file = strict.upload("a.txt", "x", below)
    token = start(api)
    strict.logs_descendants = logs_descendants
    strict.trash(below)
    listed, _ = changes(api, token)
    expected = [below.id, file.id] if logs_descendants else [below.id]
    assert [change["fileId"] for change in listed] == expected
    fields = "trashed,explicitlyTrashed"
    assert api.files().get(fileId=file.id, fields=fields).execute() == {
        "trashed": True,
        "explicitlyTrashed": False,
    }
    assert names(api, q=f"'{below.id}' in parents and trashed = false") == []


def test_trashed_items_of_others_can_be_hidden(strict, api, team):
    file = strict.upload("a.txt", "x", team)
    token = start(api)
    strict.others_see_trash = False
    strict.trash(file)
    [change], token = changes(api, token)
    assert change["removed"]
    strict.restore(file)
    assert [change["removed"] for change in changes(api, token)[0]] == [False]


@pytest.mark.parametrize("operation", ["unshare", "move", "purge"])
def test_items_that_become_invisible_are_listed_as_removed(strict, api, team, operation):
    file = strict.upload("a.txt", "x", team)
    token = start(api)
    if operation == "unshare":
        strict.unshare(team)
    elif operation == "move":
        strict.move(file, strict.my_drive)
    else:
        strict.purge(file)
    [change], token = changes(api, token)
    item = team if operation == "unshare" else file
    assert (change["removed"], change["fileId"]) == (True, item.id)
    assert "file" not in change
    assert error(api.files().get(fileId=file.id)) == (404, "notFound")
    strict.edit(file, "later")
    assert changes(api, token) == ([], start(api))


def test_a_shared_drive_has_its_own_log(strict, api, team):
    drive = strict.shared_drive("Wiki")
    account_token, drive_token = start(api), start(api, driveId=drive.id)
    file = strict.upload("a.txt", "x", drive)
    assert changes(api, account_token)[0] == [], "members read the log of the drive"
    [change], drive_token = changes(api, drive_token, driveId=drive.id)
    assert change["fileId"] == file.id
    strict.move(file, team)
    assert [change["removed"] for change in changes(api, account_token)[0]] == [False]
    assert [change["removed"] for change in changes(api, drive_token, driveId=drive.id)[0]] == [
        True
    ]
    [after] = changes(api, drive_token, driveId=drive.id, includeCorpusRemovals=True)[0]
    assert (after["removed"], after["file"]["id"]) == (True, file.id), (
        "the account can still see it elsewhere"
    )
    assert error(api.changes().list(pageToken=drive_token, **BY_LOG)) == (400, "invalid")


def test_a_membership_change_is_one_entry(strict, api):
    drive = strict.shared_drive("Wiki", members=[PERSON])
    strict.upload("a.txt", "x", drive)
    token = start(api)
    strict.add_member(drive)
    [joined], token = changes(api, token)
    strict.remove_member(drive)
    [removal], _ = changes(api, token)
    assert (joined["changeType"], joined["removed"], joined["driveId"]) == (
        *("drive", False, drive.id),
    )
    assert (removal["changeType"], removal["removed"]) == ("drive", True)
    assert error(api.changes().getStartPageToken(driveId=drive.id, supportsAllDrives=True)) == (
        *(404, "notFound"),
    )


def test_a_shared_file_of_a_drive_appears_in_the_users_log(strict, api):
    drive = strict.shared_drive("Wiki", members=[PERSON])
    file = strict.upload("a.txt", "x", drive)
    strict.share(file)
    token = start(api)
    strict.edit(file, "y")
    assert [change["fileId"] for change in changes(api, token)[0]] == [file.id]


@pytest.mark.parametrize("status", [400, 410])
def test_a_token_can_be_unknown_or_expired(strict, api, team, status):
    token = start(api)
    assert error(api.changes().list(pageToken="x")) == (400, "invalid")
    strict.log.expired_status = status
    strict.log.expire()
    assert error(api.changes().list(pageToken=token)) == (status, "invalid")
    assert changes(api, start(api))[0] == []
