"""A whole listing: everything that is wanted, once, and what is left out with its reason."""

import pytest

from domain import DocumentRef
from errors import SourceError
from tests.fakes.google_drive import PERSON
from tests.loaders.google_drive.conftest import Importer


def keys(importer):
    return {one.key for one in importer.listed if isinstance(one, DocumentRef)}


def test_a_folder_comes_with_all_its_subfolders(drive, importer, team):
    below = team
    items = []
    for name in "abcdef":
        below = drive.folder(name, below)
        items.append(drive.doc(name, name, below))
    drive.doc("elsewhere", "x")
    importer.sync(importer.files(folders=[team]))
    assert keys(importer) == {item.id for item in items}


def test_everything_comes_page_by_page(drive, importer, team):
    drive.page_limit = 7
    items = {drive.upload(f"{n}.txt", f"text {n}", team).id for n in range(30)}
    folders = [drive.folder(str(n), team) for n in range(20)]
    items |= {drive.upload("a.txt", "text", folder).id for folder in folders}
    list(importer.files(folders=[team]).list())
    importer.listed = list(importer.files(folders=[team]).list())
    assert keys(importer) == items


def test_many_folders_are_asked_about_together(drive, importer, team):
    for n in range(24):
        drive.upload("a.txt", "text", drive.folder(str(n), team))
    importer.listed = list(importer.files(folders=[team]).list())
    assert len(keys(importer)) == 24
    assert drive.calls()["files"] == 1 + 24 / 8


def test_a_file_in_two_folders_comes_once(drive, importer, team):
    sub, other = drive.folder("Sub", team), drive.folder("Other", team)
    item = drive.doc("Both", "text", sub)
    drive.move(item, sub, other, team)
    importer.sync(importer.files(folders=[team, sub]))
    assert [one.key for one in importer.listed if isinstance(one, DocumentRef)] == [item.id]


def test_shortcuts_are_followed_once_however_they_go_round(drive, importer, team):
    outside = drive.folder("Outside")
    drive.share(outside)
    item = drive.doc("There", "text", outside)
    inside = drive.doc("Here", "text", team)
    for target in (outside, item, inside, team):
        drive.shortcut(target, team)
        drive.shortcut(target, outside)
    files = importer.files(folders=[team])
    importer.sync(files)
    assert keys(importer) == {item.id, inside.id}
    assert files.read(importer.previous.documents[item.id]).metadata["folder"] == "Team / Outside"


@pytest.mark.parametrize("scope", ["folders", "files"])
def test_whole_listings_of_the_same_tell_the_same_versions(drive, importer, team, scope):
    outside, below = drive.folder("Outside"), drive.folder("Below", team)
    drive.share(outside)
    item = drive.doc("There", "text", outside)
    near, far = drive.shortcut(item, team), drive.shortcut(outside, below)
    drive.share(far)
    asked = {"folders": [team]} if scope == "folders" else {"files": [item, near, far]}
    assert importer.sync(importer.files(scope, **asked)) == {item.id}
    drive.log.expire()
    assert importer.sync(importer.files(scope, **asked)) == set()


def test_a_shortcut_to_what_is_not_visible_is_named_and_no_error(drive, importer, team):
    secret, trashed = drive.doc("Secret", "x"), drive.doc("Old", "x", team)
    first, second = drive.shortcut(secret, team, "To it"), drive.shortcut(trashed, team)
    drive.trash(trashed)
    assert importer.sync(importer.files(folders=[team])) == set()
    assert "shortcut To it is not followed" in importer.skipped[first.id]
    assert importer.login.email in importer.skipped[first.id]
    assert "in the trash" in importer.skipped[second.id]
    assert not any(one.is_error for one in importer.listed if hasattr(one, "is_error"))


def test_what_is_left_out_is_named_with_the_reason(drive, team):
    importer = Importer(drive, max_bytes=100)
    form, clip = drive.other("Survey", "form", team), drive.upload("clip.mp4", b"1", team)
    locked, large = drive.doc("Locked", "x", team), drive.upload("big.txt", "x" * 200, team)
    drive.forbid_download(locked)
    importer.sync(importer.files(folders=[team]))
    assert importer.skipped == {
        form.id: "Footnote does not read Google's form files",
        clip.id: "Footnote does not read .mp4 files yet",
        locked.id: "its owner does not let this account download it",
        large.id: "0.0 MiB is more than the limit of 0.0 MiB: split it",
    }
    errors = {one.key for one in importer.listed if getattr(one, "is_error", False)}
    assert errors == {large.id}


def test_only_the_types_that_are_wanted_come_and_others_are_not_named(drive, importer, team):
    item = drive.doc("Plan", "text", team)
    drive.upload("a.txt", "text", team)
    drive.other("Survey", "form", team)
    importer.sync(importer.files(folders=[team], types=["gdoc"]))
    assert keys(importer) == {item.id}
    assert importer.skipped == {}


def test_single_files_come_wherever_they_are(drive, importer):
    item, secret, folder = drive.doc("Plan", "x"), drive.doc("Secret", "x"), drive.folder("Team")
    drive.share(item)
    drive.share(folder)
    shortcut = drive.shortcut(item)
    drive.share(shortcut)
    importer.sync(importer.files("files", files=[shortcut, secret, folder]))
    assert keys(importer) == {item.id}
    assert f"share it with {importer.login.email}" in importer.skipped[secret.id]
    assert "import it as a folder" in importer.skipped[folder.id]


def test_a_shared_drive_comes_whole(drive, importer):
    shared = drive.shared_drive("Company")
    deep = drive.folder("Sub", drive.folder("Top", shared))
    items = [drive.doc("A", "x", shared), drive.doc("B", "x", deep)]
    drive.shortcut(items[0], deep)
    outside = drive.doc("C", "x")
    drive.share(outside)
    drive.shortcut(outside, deep)
    files = importer.files("drives", drives=[shared])
    importer.sync(files)
    assert keys(importer) == {item.id for item in [*items, outside]}
    folder = files.read(importer.previous.documents[items[1].id]).metadata["folder"]
    assert folder == "Company / Top / Sub"


def test_a_folder_of_a_shared_drive_comes_to_members_and_to_guests(drive, importer):
    for members in ([importer.login.email], []):
        shared = drive.shared_drive("Company", members)
        top = drive.folder("Top", shared)
        drive.share(top)
        item = drive.doc("A", "x", drive.folder("Sub", top))
        importer.listed = list(importer.files(folders=[top]).list())
        assert keys(importer) == {item.id}


def test_a_shared_drive_can_be_imported_as_a_folder_under_its_own_name(drive, importer):
    shared = drive.shared_drive("Company")
    item = drive.doc("A", "x", drive.folder("Sub", shared))
    files = importer.files(folders=[shared])
    assert importer.sync(files) == {item.id}
    assert files.read(importer.previous.documents[item.id]).metadata["folder"] == "Company / Sub"
    assert importer.sync(files) == set()
    assert drive.calls() == {"changes": 2}


def test_the_topmost_folder_of_a_person_is_my_drive(drive, importer):
    item = drive.doc("Mine", "text", drive.root_of(importer.login.email))
    files = importer.files(folders=["https://drive.google.com/drive/my-drive"])
    importer.listed = list(files.list())
    assert keys(importer) == {item.id}


def test_a_shortcut_to_a_folder_can_stand_for_it(drive, importer, team):
    shortcut = drive.shortcut(team)
    drive.share(shortcut)
    item = drive.doc("Plan", "text", team)
    importer.sync(importer.files(folders=[shortcut]))
    assert keys(importer) == {item.id}


def test_what_can_not_be_imported_as_it_was_asked_is_told(drive, importer, team):
    file, hidden, gone = drive.doc("File", "x"), drive.folder("Hidden"), drive.folder("Gone", team)
    drive.share(file)
    drive.trash(gone)
    shared = drive.shared_drive("Company", [PERSON])
    for scope, item, told in (
        ("folders", hidden, f"share it with {importer.login.email} as a viewer"),
        ("folders", file, "File is a file, not a folder"),
        ("folders", gone, "Gone is in the trash"),
        ("drives", shared, f"shared drive {shared.id} is not visible"),
    ):
        with pytest.raises(SourceError, match=told):
            importer.sync(importer.files(scope, **{scope: [item]}))


def test_a_folder_that_goes_away_while_it_is_listed_takes_no_others_along(drive, importer, team):
    folders = [drive.folder(name, team) for name in "abc"]
    items = {drive.doc("x", "text", folder).id for folder in folders[1:]}
    drive.doc("y", "text", folders[0])
    answer = drive.answer

    def answering(request):
        told = answer(request)
        if "in parents" in request.params.get("q", "") and folders[0].id in drive.items:
            drive.purge(folders[0])
        return told

    drive.answer = answering
    importer.listed = list(importer.files(folders=[team]).list())
    assert keys(importer) == items


def test_what_moves_while_it_is_listed_is_not_taken_for_gone(drive, importer, team):
    first, second = drive.folder("a", team), drive.folder("b", drive.folder("c", team))
    item = drive.doc("Plan", "text", second)
    files = importer.files(folders=[team])
    importer.sync(files)
    drive.rename(first, "aa")  # only a whole listing tells what is below
    answer = drive.answer

    def answering(request):
        told = answer(request)
        if f"'{first.id}' in parents" in request.params.get("q", ""):
            drive.answer = answer
            drive.move(item, first)
        return told

    drive.answer = answering
    importer.sync(files)
    assert keys(importer) == {item.id}
    assert importer.gone == {}
    assert importer.sync(files) <= {item.id}
    assert files.read(importer.previous.documents[item.id]).metadata["folder"] == "Team / aa"
