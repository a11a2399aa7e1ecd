"""The fake Drive through Google's own client."""

import io

import pytest
from googleapiclient.http import MediaIoBaseDownload

from tests.fakes.google_drive import IMPORTER, PERSON, Slides
from tests.fakes.google_drive_client import ALL, error, names
from tests.fakes.google_drive_items import Grant

pytestmark = pytest.mark.slow


def test_a_shared_folder_shows_only_its_contents(strict, api, team):
    below = strict.folder("Sub", team)
    strict.doc("Plan", "# Plan", below)
    strict.upload("a.txt", "x", team)
    strict.upload("private.txt", "x")
    assert names(api) == ["Plan", "Sub", "Team", "a.txt"]
    assert names(api, q=f"'{team.id}' in parents and trashed = false") == ["Sub", "a.txt"]
    result = api.files().get(fileId=team.id, fields="*").execute()
    assert "parents" not in result, "the parent folder is not shared"
    assert api.files().get(fileId=below.id, fields="parents").execute() == {"parents": [team.id]}


def test_files_that_are_not_shared_are_not_found(strict, api):
    file = strict.upload("private.txt", "x")
    assert error(api.files().get(fileId=file.id)) == (404, "notFound")
    assert error(api.files().get_media(fileId=file.id)) == (404, "notFound")
    query = f"'{strict.my_drive.id}' in parents"
    assert error(api.files().list(q=query)) == (404, "notFound")
    assert names(api, q="'root' in parents") == [], "its own drive is empty"


def test_paging_ends_with_the_last_item(strict, api, team):
    expected = sorted(strict.upload(f"{n}.txt", "x", team).name for n in range(25))
    query = f"'{team.id}' in parents"
    assert names(api, q=query, pageSize=4) == expected
    strict.page_limit = 10
    assert names(api, q=query, pageSize=1000) == expected
    assert strict.calls()["files"] == 7 + 3
    assert error(api.files().list(q=query, pageToken="nonsense")) == (400, "invalid")


def test_later_pages_omit_items_removed_since_the_first(strict, api, team):
    files = [strict.upload(f"{n}.txt", "x", team) for n in range(4)]
    query = f"'{team.id}' in parents"
    first = api.files().list(q=query, pageSize=2).execute()
    remaining = [file for file in files if file.name not in [one["name"] for one in first["files"]]]
    strict.purge(remaining[0])
    token = first["nextPageToken"]
    second = api.files().list(q=query, pageSize=2, pageToken=token).execute()
    assert [one["id"] for one in second["files"]] == [remaining[1].id]


def test_files_are_downloaded_whole_or_in_ranges(strict, api, team):
    data = bytes(range(256)) * 10
    for content in (data, b""):
        file = strict.upload("a.bin", content, team)
        assert api.files().get_media(fileId=file.id).execute() == content
        buffer, is_done = io.BytesIO(), False
        parts = MediaIoBaseDownload(buffer, api.files().get_media(fileId=file.id), chunksize=1000)
        while not is_done:
            _, is_done = parts.next_chunk()
        assert buffer.getvalue() == content
        result = api.files().get(fileId=file.id, fields="md5Checksum,size").execute()
        assert result == {"md5Checksum": file.md5, "size": str(len(content))}


def test_google_documents_are_exported_and_not_downloaded(strict, api, team):
    doc = strict.doc("Plan", "# Plan\n\nWe ship in May.\n", team)
    slides = strict.slides("Talk", ["Aims\nto ship", "End"], team)
    file = strict.upload("a.txt", "x", team)
    files = api.files()
    assert files.export(fileId=doc.id, mimeType="text/markdown").execute() == (
        b"# Plan\n\nWe ship in May.\n"
    )
    plain = files.export(fileId=doc.id, mimeType="text/plain").execute()
    assert plain.decode("utf-8-sig") == "Plan\r\n\r\nWe ship in May."
    assert error(files.get_media(fileId=doc.id)) == (403, "fileNotDownloadable")
    assert error(files.export(fileId=file.id, mimeType="text/plain")) == (403, "fileNotExportable")
    assert error(files.export(fileId=slides.id, mimeType="text/csv")) == (400, "badRequest")
    strict.export_limit = 5
    too_large = (403, "exportSizeLimitExceeded")
    assert error(files.export(fileId=doc.id, mimeType="text/markdown")) == too_large


def test_a_download_can_be_forbidden(strict, api, team):
    file = strict.upload("a.txt", "x", team)
    strict.forbid_download(file)
    assert error(api.files().get_media(fileId=file.id)) == (403, "cannotDownloadFile")
    result = api.files().get(fileId=file.id, fields="capabilities(canDownload)").execute()
    assert result == {"capabilities": {"canDownload": False}}


def test_shared_drives_are_listed_only_on_request(strict, api):
    drive = strict.shared_drive("Wiki")
    hidden = strict.shared_drive("Board", members=[PERSON])
    file = strict.upload("a.txt", "x", drive)
    assert names(api) == []
    assert error(api.files().get(fileId=file.id)) == (404, "notFound")
    assert names(api, **ALL) == ["a.txt"]
    assert names(api, corpora="drive", driveId=drive.id, **ALL) == ["a.txt"]
    result = api.files().get(fileId=file.id, supportsAllDrives=True, fields="driveId").execute()
    assert result == {"driveId": drive.id}
    listed = api.drives().list(fields="drives(id,name)").execute()["drives"]
    assert listed == [{"id": drive.id, "name": "Wiki"}]
    assert error(api.drives().get(driveId=hidden.id)) == (404, "notFound")


def test_a_search_of_all_drives_can_be_flagged_incomplete(strict, api):
    drives = [strict.shared_drive(name) for name in "AB"]
    for drive in drives:
        strict.upload(f"{drive.name}.txt", "x", drive)
    strict.incomplete = {drives[0].id}
    result = api.files().list(corpora="allDrives", **ALL).execute()
    assert result["incompleteSearch"] is True
    assert [file["name"] for file in result["files"]] == ["B.txt"]


@pytest.mark.parametrize(
    "params",
    [
        {"q": "id = '1'"},
        {"fields": "files(ids)"},
        {"pageSize": 1001},
        {"pageSize": 0},
        {"corpora": "drive"},
        {"driveId": "0A"},
        {"corpora": "allDrives"},
        {"includeItemsFromAllDrives": True},
        {"orderBy": "size"},
        {"includeLabels": "x"},
    ],
)
def test_unknown_parameters_are_refused_and_recorded(drive, api, params):
    assert error(api.files().list(**params)) == (400, "badRequest")
    assert len(drive.refused) == 1


def test_about_needs_fields(drive, api):
    assert api.about().get(fields="user(emailAddress)").execute() == {
        "user": {"emailAddress": drive.service_account()["client_email"]}
    }
    assert error(api.about().get())[0] == 400
    assert len(drive.refused) == 1


def test_visible_returns_what_an_importer_should_find(strict, team):
    below = strict.folder("Sub", team)
    plan = strict.doc("Plan", "x", below)
    strict.trash(strict.upload("gone.txt", "x", team))
    strict.upload("elsewhere.txt", "x")
    aside = strict.folder("Aside")
    strict.share(aside)
    note = strict.upload("note.txt", "x", aside)
    strict.shortcut(note, team)
    strict.shortcut(aside, below)
    strict.shortcut(team, aside, "a circle")
    both = strict.upload("both.txt", "x", team)
    strict.move(both, team, below)
    assert strict.visible(team).keys() == {plan.id, note.id, both.id}
    strict.unshare(aside)
    assert strict.visible(team).keys() == {plan.id, both.id}
    strict.trash(below)
    assert strict.visible(team).keys() == {both.id}, "the file is also in another folder"
    assert strict.visible(team, account="stranger@example.org") == {}


def test_a_shortcut_has_its_target(strict, api, team):
    file = strict.upload("a.txt", "x")
    link = strict.shortcut(file, team)
    result = api.files().get(fileId=link.id, fields="mimeType,shortcutDetails").execute()
    assert result == {
        "mimeType": "application/vnd.google-apps.shortcut",
        "shortcutDetails": {"targetId": file.id, "targetMimeType": "text/plain"},
    }


def test_a_folder_cannot_contain_itself(strict, team):
    below = strict.folder("Sub", team)
    with pytest.raises(ValueError, match="can't be moved there"):
        strict.move(team, below)


def test_the_title_of_a_slide_is_its_first_line(strict, api, team):
    from pptx import Presentation

    slides = strict.slides("Talk", ["Aims\nto ship", "End"], team)
    mime = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    data = api.files().export(fileId=slides.id, mimeType=mime).execute()
    show = Presentation(io.BytesIO(data))
    assert [slide.shapes.title.text for slide in show.slides] == ["Aims", "End"]
    assert slides.content == Slides(["Aims\nto ship", "End"])


def test_a_spreadsheet_is_exported_whole_or_as_its_first_sheet(strict, api, team):
    from openpyxl import load_workbook

    sheet = strict.sheet("N", {"A": [["a", 1]], "B": [["b", 2]]}, team)
    mime = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    data = api.files().export(fileId=sheet.id, mimeType=mime).execute()
    book = load_workbook(io.BytesIO(data))
    assert {page.title: [list(row) for row in page.values] for page in book} == sheet.content.sheets
    assert api.files().export(fileId=sheet.id, mimeType="text/csv").execute() == b"a,1\r\n"


def test_permissions_are_shown_to_those_who_can_share_the_file(strict, api, team):
    file = strict.upload("a.txt", "x", team)
    strict.grant(team, Grant("group", "hr@example.org"))
    strict.grant(file, Grant("anyone", is_by_link=True))
    assert error(api.permissions().list(fileId=file.id)) == (403, "insufficientFilePermissions")
    hidden = api.files().get(fileId=file.id, fields="permissions,permissionIds").execute()
    assert hidden == {}
    strict.let_edit(team)
    fields = "permissions(id,type,emailAddress,allowFileDiscovery)"
    shown = api.permissions().list(fileId=file.id, fields=fields).execute()["permissions"]
    assert {(one["type"], one.get("emailAddress", "")) for one in shown} == {
        ("user", IMPORTER),
        ("user", PERSON),
        ("group", "hr@example.org"),
        ("anyone", ""),
    }
    [by_link] = [one for one in shown if one["type"] == "anyone"]
    assert by_link["allowFileDiscovery"] is False
    result = api.files().get(fileId=file.id, fields="permissions(id),permissionIds").execute()
    assert result["permissionIds"] == [one["id"] for one in shown]
    assert [one["id"] for one in result["permissions"]] == result["permissionIds"]


def test_files_in_shared_drives_have_only_the_ids_of_permissions(strict, api):
    drive = strict.shared_drive("Company")
    file = strict.upload("a.txt", "x", drive)
    fields = "permissions(id),permissionIds"
    result = api.files().get(fileId=file.id, fields=fields, supportsAllDrives=True).execute()
    request = api.permissions().list(fileId=file.id, fields="*", supportsAllDrives=True)
    assert result == {"permissionIds": [one["id"] for one in request.execute()["permissions"]]}
    assert error(api.permissions().list(fileId=file.id)) == (404, "notFound")
