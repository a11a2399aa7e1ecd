import pytest

from loaders.google_drive.drive_selection import file_name, is_withheld, kind_of, link_of, too_large

PDF = "application/pdf"
GOOGLE = "application/vnd.google-apps."


@pytest.mark.parametrize(
    ("name", "mime", "type_"),
    [
        ("Plan", GOOGLE + "document", "gdoc"),
        ("Plan.pdf", GOOGLE + "spreadsheet", "gsheet"),
        ("Plan", GOOGLE + "presentation", "gslides"),
        ("report.PDF", PDF, "pdf"),
        ("Report 2.1", PDF, "pdf"),
        ("notes", "text/plain", "txt"),
        ("notes.md", "application/octet-stream", "md"),
    ],
)
def test_readable_types_are_recognized_by_mime_type_or_name(name, mime, type_):
    kind = kind_of(name, mime)
    assert (kind.type, kind.reason) == (type_, None)


@pytest.mark.parametrize(
    ("name", "mime", "reason"),
    [
        ("Survey", GOOGLE + "form", "Google's form files"),
        ("Sketch", GOOGLE + "drawing", "Google's drawing files"),
        ("clip.mp4", "video/mp4", ".mp4 files"),
        ("blob", "application/octet-stream", "has none"),
    ],
)
def test_unreadable_types_have_a_reason(name, mime, reason):
    assert reason in kind_of(name, mime).reason


def test_a_suffix_is_added_only_if_the_name_has_none():
    assert file_name("Report 2.1", PDF) == "Report 2.1.pdf"
    assert file_name("Report.docx", PDF) == "Report.docx"
    assert file_name("clip.mp4", "video/mp4") == "clip.mp4"


def test_the_size_limit_does_not_apply_to_google_documents():
    file = {"mimeType": PDF, "size": str(3 * 2**20)}
    assert too_large(file, 2**20) == "3.0 MiB exceeds the limit of 1.0 MiB: split the file"
    assert too_large(file, 3 * 2**20) is None
    assert too_large({"mimeType": GOOGLE + "document", "size": "99999999"}, 1) is None


def test_files_are_withheld_only_if_the_capability_is_false():
    assert is_withheld({"capabilities": {"canDownload": False}})
    assert not is_withheld({"capabilities": {"canDownload": True}})
    assert not is_withheld({})


def test_a_file_without_a_link_is_linked_by_its_id():
    assert link_of({"id": "1x", "webViewLink": "https://a"}) == "https://a"
    assert link_of({"id": "1x"}) == "https://drive.google.com/open?id=1x"
