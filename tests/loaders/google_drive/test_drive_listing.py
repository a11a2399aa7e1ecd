"""Full listings contain every selected document once, and the others with a reason."""

import pytest

from domain import DocumentRef
from domain.errors import SourceError
from tests.fakes.google_drive import PERSON
from tests.loaders.google_drive.conftest import Importer


def keys(importer):
    return {entry.key for entry in importer.entries if isinstance(entry, DocumentRef)}


def test_folders_are_listed_with_all_subfolders(drive, importer, team):
    below = team
    items = []
    for name in "abcdef":
        below = drive.folder(name, below)
        items.append(drive.doc(name, name, below))
    drive.doc("elsewhere", "x")
    importer.sync(importer.files(folders=[team]))
    assert keys(importer) == {item.id for item in items}


def test_listings_are_read_page_by_page(drive, importer, team):
    drive.page_limit = 7
    items = {drive.upload(f"{n}.txt", f"text {n}", team).id for n in range(30)}
    folders = [drive.folder(str(n), team) for n in range(20)]
    items |= {drive.upload("a.txt", "text", folder).id for folder in folders}
    list(importer.files(folders=[team]).list())
    importer.entries = list(importer.files(folders=[team]).list())
    assert keys(importer) == items


def test_several_folders_are_listed_with_one_request(drive, importer, team):
    for n in range(24):
        drive.upload("a.txt", "text", drive.folder(str(n), team))
    importer.entries = list(importer.files(folders=[team]).list())
    assert len(keys(importer)) == 24
    assert drive.calls()["files"] == 1 + 24 / 8


def test_a_file_in_two_folders_is_listed_once(drive, importer, team):
    sub, other = drive.folder("Sub", team), drive.folder("Other", team)
    item = drive.doc("Both", "text", sub)
    drive.move(item, sub, other, team)
    importer.sync(importer.files(folders=[team, sub]))
    assert [entry.key for entry in importer.entries if isinstance(entry, DocumentRef)] == [item.id]


def test_shortcut_cycles_are_followed_once(drive, importer, team):
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
def test_full_listings_have_stable_versions(drive, importer, team, scope):
    outside, below = drive.folder("Outside"), drive.folder("Below", team)
    drive.share(outside)
    item = drive.doc("There", "text", outside)
    near, far = drive.shortcut(item, team), drive.shortcut(outside, below)
    drive.share(far)
    selection = {"folders": [team]} if scope == "folders" else {"files": [item, near, far]}
    assert importer.sync(importer.files(scope, **selection)) == {item.id}
    drive.log.expire()
    assert importer.sync(importer.files(scope, **selection)) == set()


def test_a_shortcut_to_an_invisible_file_is_skipped_without_an_error(drive, importer, team):
    secret, trashed = drive.doc("Secret", "x"), drive.doc("Old", "x", team)
    first, second = drive.shortcut(secret, team, "To it"), drive.shortcut(trashed, team)
    drive.trash(trashed)
    assert importer.sync(importer.files(folders=[team])) == set()
    assert "shortcut To it is not followed" in importer.skipped[first.id]
    assert importer.login.email in importer.skipped[first.id]
    assert "in the trash" in importer.skipped[second.id]
    assert not any(entry.is_error for entry in importer.entries if hasattr(entry, "is_error"))


def test_files_that_are_not_imported_are_skipped_with_a_reason(drive, team):
    importer = Importer(drive, max_bytes=100)
    form, clip = drive.other("Survey", "form", team), drive.upload("clip.mp4", b"1", team)
    locked, large = drive.doc("Locked", "x", team), drive.upload("big.txt", "x" * 200, team)
    drive.forbid_download(locked)
    importer.sync(importer.files(folders=[team]))
    assert importer.skipped == {
        form.id: "Footnote does not read Google's form files",
        clip.id: "Footnote does not read .mp4 files yet",
        locked.id: "its owner does not let this account download it",
        large.id: "0.0 MiB exceeds the limit of 0.0 MiB: split the file",
    }
    errors = {entry.key for entry in importer.entries if getattr(entry, "is_error", False)}
    assert errors == {large.id}


def test_files_of_other_types_are_neither_listed_nor_skipped(drive, importer, team):
    item = drive.doc("Plan", "text", team)
    drive.upload("a.txt", "text", team)
    drive.other("Survey", "form", team)
    importer.sync(importer.files(folders=[team], types=["gdoc"]))
    assert keys(importer) == {item.id}
    assert importer.skipped == {}


def test_single_files_are_listed_from_any_folder(drive, importer):
    item, secret, folder = drive.doc("Plan", "x"), drive.doc("Secret", "x"), drive.folder("Team")
    drive.share(item)
    drive.share(folder)
    shortcut = drive.shortcut(item)
    drive.share(shortcut)
    importer.sync(importer.files("files", files=[shortcut, secret, folder]))
    assert keys(importer) == {item.id}
    assert f"share it with {importer.login.email}" in importer.skipped[secret.id]
    assert "import it as a folder" in importer.skipped[folder.id]


def test_shared_drives_are_listed_completely(drive, importer):
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


def test_folders_of_shared_drives_are_listed_for_members_and_guests(drive, importer):
    for members in ([importer.login.email], []):
        shared = drive.shared_drive("Company", members)
        top = drive.folder("Top", shared)
        drive.share(top)
        item = drive.doc("A", "x", drive.folder("Sub", top))
        importer.entries = list(importer.files(folders=[top]).list())
        assert keys(importer) == {item.id}


def test_a_shared_drive_can_be_imported_as_a_folder_with_its_name(drive, importer):
    shared = drive.shared_drive("Company")
    item = drive.doc("A", "x", drive.folder("Sub", shared))
    files = importer.files(folders=[shared])
    assert importer.sync(files) == {item.id}
    assert files.read(importer.previous.documents[item.id]).metadata["folder"] == "Company / Sub"
    assert importer.sync(files) == set()
    assert drive.calls() == {"changes": 2}


def test_the_address_of_my_drive_lists_the_root_folder(drive, importer):
    item = drive.doc("Mine", "text", drive.root_of(importer.login.email))
    files = importer.files(folders=["https://drive.google.com/drive/my-drive"])
    importer.entries = list(files.list())
    assert keys(importer) == {item.id}


def test_a_shortcut_to_a_folder_can_be_selected(drive, importer, team):
    shortcut = drive.shortcut(team)
    drive.share(shortcut)
    item = drive.doc("Plan", "text", team)
    importer.sync(importer.files(folders=[shortcut]))
    assert keys(importer) == {item.id}


def test_invalid_selections_are_reported(drive, importer, team):
    file, hidden, trash = drive.doc("File", "x"), drive.folder("Hidden"), drive.folder("Gone", team)
    drive.share(file)
    drive.trash(trash)
    shared = drive.shared_drive("Company", [PERSON])
    for scope, item, message in (
        ("folders", hidden, f"share it with {importer.login.email} as a viewer"),
        ("folders", file, "File is a file, not a folder"),
        ("folders", trash, "Gone is in the trash"),
        ("drives", shared, f"shared drive {shared.id} is not visible"),
    ):
        with pytest.raises(SourceError, match=message):
            importer.sync(importer.files(scope, **{scope: [item]}))


def test_a_folder_deleted_during_the_listing_does_not_affect_others(drive, importer, team):
    folders = [drive.folder(name, team) for name in "abc"]
    items = {drive.doc("x", "text", folder).id for folder in folders[1:]}
    drive.doc("y", "text", folders[0])
    answer = drive.answer

    def purge_during_listing(request):
        response = answer(request)
        if "in parents" in request.params.get("q", "") and folders[0].id in drive.items:
            drive.purge(folders[0])
        return response

    drive.answer = purge_during_listing
    importer.entries = list(importer.files(folders=[team]).list())
    assert keys(importer) == items


def test_a_file_moved_during_the_listing_is_not_removed(drive, importer, team):
    first, second = drive.folder("a", team), drive.folder("b", drive.folder("c", team))
    item = drive.doc("Plan", "text", second)
    files = importer.files(folders=[team])
    importer.sync(files)
    drive.rename(first, "aa")  # requires a listing of its contents
    answer = drive.answer

    def move_during_listing(request):
        response = answer(request)
        if f"'{first.id}' in parents" in request.params.get("q", ""):
            drive.answer = answer
            drive.move(item, first)
        return response

    drive.answer = move_during_listing
    importer.sync(files)
    assert keys(importer) == {item.id}
    assert importer.removals == {}
    assert importer.sync(files) <= {item.id}
    assert files.read(importer.previous.documents[item.id]).metadata["folder"] == "Team / aa"
