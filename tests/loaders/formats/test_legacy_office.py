import io
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from olefile import OleFileIO

from domain.errors import TemporarilyUnreadableError, UnreadableError
from loaders import document_reader
from loaders.directory_loader import DirectoryLoader
from loaders.document_reader import ReaderProcess
from loaders.formats import legacy_office, read_document
from loaders.programs import is_installed, run_program
from tests.fakes.server_thread import serving_in_thread
from tests.loaders.formats.files import docx_file, html_page, pptx_file, xlsx_file
from tests.loaders.formats.ole_files import ole_file

requires_libreoffice = pytest.mark.skipif(
    not is_installed("soffice"), reason="LibreOffice is not installed"
)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
STREAMS = {"doc": "WordDocument", "ppt": "PowerPoint Document", "xls": "Workbook"}


def legacy_file(data: bytes, kind: str) -> bytes:
    """A file converted by LibreOffice to the format before 2007."""
    profile = "-env:UserInstallation=file://{}/profile"
    converted = run_program(
        lambda folder: [
            "soffice",
            profile.format(folder),
            "--headless",
            "--convert-to",
            kind,
            "--outdir",
            str(folder / "out"),
            str(folder / f"it.{kind}x"),
        ],
        {f"it.{kind}x": data},
        f"out/it.{kind}",
        timeout_s=120,
    ).output_file
    assert converted is not None
    assert converted.startswith(OLE[:8])
    return converted


def handbook(document):
    document.add_heading("휴가 규정", 1)
    document.add_paragraph("연차 휴가는 매년 15일입니다. 有給休暇は十五日です。")
    table = document.add_table(2, 2)
    for cell, text in zip(table._cells, ["Kind", "Days", "Sick leave", "30"], strict=True):
        cell.text = text
    document.add_paragraph("Apply in time", style="List Bullet")


def slides(presentation):
    for title, text in (("Plan", "One point"), ("계획", "두 번째 장")):
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = text


@pytest.fixture(scope="module")
def doc():
    return legacy_file(docx_file(handbook), "doc")


@pytest.fixture(scope="module")
def xls():
    return legacy_file(
        xlsx_file({"Leave": [["구분", "日数"], ["연차", 15]], "Pay": [["Day"], [25]]}), "xls"
    )


@requires_libreoffice
def test_doc_files_keep_headings_tables_and_lists(doc):
    document = read_document("규정.doc", doc)
    assert document.page_content == (
        "# 휴가 규정\n\n연차 휴가는 매년 15일입니다. 有給休暇は十五日です。\n\n"
        "| Kind | Days |\n| --- | --- |\n| Sick leave | 30 |\n\n- Apply in time"
    )
    assert (document.metadata["format"], document.metadata["title"]) == ("doc", "휴가 규정")


@pytest.mark.slow
@requires_libreoffice
def test_ppt_files_keep_their_slide_numbers():
    document = read_document("plan.ppt", legacy_file(pptx_file(slides), "ppt"))
    (first, one), (second, two) = document.metadata["pages"]
    text = document.page_content
    assert (first, one, two, document.metadata["format"]) == (0, 1, 2, "ppt")
    assert text.startswith("# Plan")
    assert "One point" in text[:second]
    assert text[second:].startswith("# 계획")
    assert "두 번째 장" in text[second:]


@requires_libreoffice
def test_every_sheet_of_an_xls_file_is_read(xls):
    document = read_document("a.xls", xls)
    assert document.metadata["format"] == "xls"
    for row in ("| 구분 | 日数 |", "| 연차 | 15 |", "| Day |", "| 25 |", "# Leave", "# Pay"):
        assert row in document.page_content


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.doc", docx_file()),
        ("a.ppt", pptx_file()),
        ("a.xls", xlsx_file()),
        ("a.xls", html_page("<table><tr><td>a<td>b<tr><td>1<td>2</table>")),
    ],
)
def test_new_formats_with_an_old_extension_are_read_without_libreoffice(
    monkeypatch, tmp_path, name, data
):
    monkeypatch.setenv("PATH", str(tmp_path))
    document = read_document(name, data)
    assert document.page_content
    assert document.metadata["format"] == name[-3:]


@pytest.mark.parametrize("kind", ["doc", "ppt", "xls"])
def test_without_libreoffice_files_are_listed_but_not_read(monkeypatch, tmp_path, kind):
    monkeypatch.setenv("PATH", "")
    # A process that is already running would look for programs in the earlier path.
    monkeypatch.setattr(document_reader, "DOCUMENTS", ReaderProcess())
    (tmp_path / f"a.{kind}").write_bytes(ole_file({STREAMS[kind]: b"text"}))
    files = DirectoryLoader(tmp_path)
    (ref,) = files.list()
    with pytest.raises(
        TemporarilyUnreadableError, match="apt-get install libreoffice-writer-nogui"
    ) as caught:
        files.read(ref)
    assert f".{kind} files require LibreOffice, which is not installed" in str(caught.value)
    assert caught.value.retryable


@pytest.mark.slow
@requires_libreoffice
def test_files_are_converted_within_the_limits_of_the_reader_process(doc, xls):
    for name, data in (("a.doc", doc), ("a.xls", xls)):
        document = document_reader.read_document(name, data)
        assert document.page_content == read_document(name, data).page_content


@pytest.mark.slow
@requires_libreoffice
def test_files_are_converted_concurrently(doc, xls):
    with ThreadPoolExecutor(4) as pool:
        documents = [
            *pool.map(lambda file: read_document(*file), [("a.doc", doc), ("b.xls", xls)] * 2)
        ]
    assert [document.metadata["format"] for document in documents] == ["doc", "xls"] * 2
    assert documents[0].page_content == documents[2].page_content


def stream(data: bytes, name: str) -> bytearray:
    with OleFileIO(io.BytesIO(data)) as file:
        return bytearray(file.openstream(name).read())


def with_stream(data: bytes, name: str, changed: bytes) -> bytes:
    buffer = io.BytesIO(data)
    with OleFileIO(buffer, write_mode=True) as file:
        file.write_stream(name, changed)
        return buffer.getvalue()


@pytest.mark.slow
@requires_libreoffice
def test_password_protected_files_are_rejected(doc, xls):
    word = stream(doc, "WordDocument")
    word[11] |= 1  # fEncrypted
    excel = stream(xls, "Workbook")
    after_start = 4 + int.from_bytes(excel[2:4], "little")
    excel[after_start : after_start + 4] = b"\x2f\x00\x06\x00"  # FilePass, of 6 bytes
    for name, data in (
        ("a.doc", with_stream(doc, "WordDocument", bytes(word))),
        ("a.xls", with_stream(xls, "Workbook", bytes(excel))),
    ):
        with pytest.raises(UnreadableError, match="password-protected"):
            read_document(name, data)


@requires_libreoffice
@pytest.mark.parametrize("kind", ["doc", "ppt", "xls"])
@pytest.mark.parametrize("data", [OLE, ole_file({"Contents": b"text"}), OLE[:8]])
def test_damaged_files_are_rejected_permanently(kind, data):
    with pytest.raises(UnreadableError) as caught:
        read_document(f"a.{kind}", data)
    assert not caught.value.retryable
    assert f"save it as .{kind}x" in str(caught.value) or "damaged" in str(caught.value)


def test_other_files_with_an_old_extension_are_rejected():
    with pytest.raises(UnreadableError, match=r"damaged, or not a \.doc file"):
        read_document("a.doc", b"only some text")


@requires_libreoffice
def test_files_that_take_too_long_to_convert_are_rejected(monkeypatch, doc):
    monkeypatch.setattr(legacy_office, "_TIMEOUT_S", 0.05)
    with pytest.raises(UnreadableError, match=r"longer than 0\.05 s: open it in the program"):
        read_document("a.doc", doc)


@pytest.mark.slow
@requires_libreoffice
def test_linked_images_are_not_fetched():
    requests = []

    class Site(BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_error(404)

        do_HEAD = do_OPTIONS = do_PROPFIND = do_GET

        def log_message(self, *_):
            pass

    def convert(command):
        address = f"http://127.0.0.1:{server.server_port}/pixel.png"
        page = html_page(f"Before <img src='{address}' width=50 height=50>")

        def as_text(folder):
            return [
                "odt:writer8" if argument == "docx" else argument for argument in command(folder)
            ]

        return run_program(as_text, {"it.doc": page}, "out/it.odt", timeout_s=120).output_file

    def command_with_default_profile(folder):
        command = legacy_office._command(folder, "doc")
        (folder / "profile" / "user" / "registrymodifications.xcu").unlink()
        return command

    server = HTTPServer(("127.0.0.1", 0), Site)
    with serving_in_thread(server):
        assert convert(lambda folder: legacy_office._command(folder, "doc"))
        assert requests == []
        assert convert(command_with_default_profile)
        assert requests  # LibreOffice fetches the image if the profile allows it
