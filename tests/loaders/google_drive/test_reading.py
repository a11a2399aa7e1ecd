"""The text and metadata of documents of each type."""

import pytest

from domain import DocumentRef
from domain.errors import TemporarilyUnreadableError, UnreadableError
from loaders.google_drive.drive_selection import NATIVE
from loaders.google_drive.google_drive_loader import EXPORTS
from tests.loaders.google_drive.conftest import refuse


@pytest.fixture
def read(importer, team):
    def read_item(item):
        return importer.files(folders=[team]).read(DocumentRef(item.id, "", ""))

    return read_item


def test_a_document_is_markdown_with_complete_metadata(drive, importer, team):
    sub = drive.folder("Sub", team)
    item = drive.doc("Plan 2.1", "# Goals\n\n- grow\n\n| a | b |\n| --- | --- |\n| 1 | 2 |", sub)
    files = importer.files(folders=[team])
    [ref] = [entry for entry in files.list() if isinstance(entry, DocumentRef)]
    document = files.read(ref)
    assert document.page_content == item.content.markdown
    assert document.metadata == {
        "key": item.id,
        "version": ref.version,
        "location": f"https://docs.google.com/document/d/{item.id}/edit?usp=drivesdk",
        "title": "Plan 2.1",
        "format": "gdoc",
        "encoding": None,
        "pages": [],
        "warnings": [],
        "modified_at": "2026-01-01T09:00:03Z",
        "folder": "Team / Sub",
        "owner": "Kim",
        "modified_by": "Kim",
    }


def test_every_sheet_is_a_table_below_its_name(drive, team, read):
    item = drive.sheet("Figures", {"2025": [["a", "b"], [1, 2]], "2026": [["c"], [3]]}, team)
    text = read(item).page_content
    assert (
        text == "# 2025\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n# 2026\n\n| c |\n| --- |\n| 3 |"
    )


def test_every_slide_has_its_number(drive, team, read):
    document = read(drive.slides("Deck", ["Goals\nGrow", "Means\nWork"], team))
    text = document.page_content
    assert text == "## Slide 1: Goals\n\nGrow\n\n## Slide 2: Means\n\nWork"
    assert document.metadata["pages"] == [(0, 1), (text.index("## Slide 2"), 2)]


@pytest.mark.parametrize(
    ("name", "mime", "data", "text"),
    [
        ("a.md", None, "# Head\n\ntext", "# Head\n\ntext"),
        ("a.txt", None, "안녕하세요, 여러분".encode("cp949"), "안녕하세요, 여러분"),
        ("a.html", None, "<h1>Head</h1><p>text</p>", "# Head\n\ntext"),
        ("a.csv", None, "a,b\n1,2\n", "| a | b |\n| --- | --- |\n| 1 | 2 |"),
        ("no suffix", "text/plain", "text", "text"),
        ("Report 2.1", "text/html", "<p>text</p>", "text"),
    ],
)
def test_files_are_read_by_the_reader_of_their_format(drive, team, read, name, mime, data, text):
    document = read(drive.upload(name, data, team, mime))
    assert document.page_content == text
    assert document.metadata["title"] == name


def test_a_document_too_large_for_one_export_format_uses_the_next(drive, team, read):
    item = drive.doc("Long", "# Head\n\n" + "word " * 300, team)
    refuse(drive, 403, "exportSizeLimitExceeded", on="/export", times=1)
    document = read(item)
    assert document.page_content.startswith("# Head\n\nword word")
    assert document.metadata["warnings"] == []
    assert drive.calls()["files/ID/export"] == 2


@pytest.mark.parametrize(
    ("kind", "refusals", "text", "warning"),
    [
        ("doc", 2, "Head\n\ntext", "imported without headings"),
        ("sheet", 1, "| a |\n| --- |\n| 1 |", "only the first sheet was imported"),
        ("slides", 1, "Goals\nGrow", "without slide numbers"),
    ],
)
def test_losses_of_the_last_export_format_are_warnings(
    drive, team, read, kind, refusals, text, warning
):
    content = {"doc": "# Head\n\ntext", "sheet": {"A": [["a"], [1]], "B": [["b"]]}}
    item = getattr(drive, kind)("Big", content.get(kind, ["Goals\nGrow"]), team)
    refuse(drive, 403, "exportSizeLimitExceeded", on="/export", times=refusals)
    document = read(item)
    assert document.page_content == text
    [message] = document.metadata["warnings"]
    assert warning in message


def test_a_document_too_large_for_every_export_format_is_reported(drive, team, read):
    item = drive.doc("Huge", "x" * 2000, team)
    drive.export_limit = 10
    with pytest.raises(
        UnreadableError, match="Huge can't be read.*split it into smaller"
    ) as raised:
        read(item)
    assert not raised.value.retryable


def test_an_empty_file_is_reported_without_a_download(drive, team, read):
    with pytest.raises(UnreadableError, match=r"nothing.txt can't be read: the file is empty"):
        read(drive.upload("nothing.txt", b"", team))


def test_damaged_files_are_named(drive, team, read):
    with pytest.raises(UnreadableError, match="report.pdf can't be read: the .pdf file is damaged"):
        read(drive.upload("report.pdf", b"not a pdf", team))


def test_a_document_removed_during_the_import_is_retried(drive, team, read):
    purged, trashed = drive.doc("A", "x", team), drive.doc("B", "x", team)
    drive.purge(purged)
    drive.trash(trashed)
    for item in (purged, trashed):
        with pytest.raises(TemporarilyUnreadableError):
            read(item)


def test_documents_have_the_version_that_was_read(drive, importer, team):
    item = drive.doc("Plan", "old", team)
    files = importer.files(folders=[team])
    [ref] = [entry for entry in files.list() if isinstance(entry, DocumentRef)]
    drive.rename(item, "Goals")
    document = files.read(ref)
    assert document.metadata["title"] == "Goals"
    assert document.metadata["version"] != ref.version
    importer.sync(files)
    assert importer.previous.documents[item.id].version == document.metadata["version"]


def test_embedded_pictures_are_not_part_of_the_text(drive, team, read):
    item = drive.doc("Map", "See ![the map][image1]\n\n[image1]: <data:image/png;base64,AA>", team)
    assert read(item).page_content == "See the map"


def test_every_google_type_has_export_formats():
    assert EXPORTS.keys() == NATIVE.keys()
