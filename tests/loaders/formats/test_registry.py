import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from domain.errors import UnreadableError
from loaders.formats import read_document
from loaders.formats.content import clean
from tests.loaders.formats.files import docx_file, html_page, pdf_file, pptx_file, xlsx_file
from tests.quick import examples

SUFFIXES = ("txt", "md", "markdown", "html", "htm", "pdf", "docx", "pptx", "xlsx", "csv", "json")
ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("FOOTNOTE_EVAL_DATA", ROOT.parent / "shared" / "data"))
DOCUMENTS = DATA / "documents"
FILES = {
    "a.docx": docx_file(),
    "a.pptx": pptx_file(),
    "a.xlsx": xlsx_file(),
    "a.pdf": pdf_file(["Some text on a page."]),
    "a.html": html_page("<h1>Title</h1><p>Text</p>"),
    "a.json": b'{"a": [1, {"b": "text"}]}',
    "a.csv": b"a;b\n1;2\n",
}


def assert_read_or_rejected(name: str, data: bytes) -> None:
    try:
        document = read_document(name, data)
    except UnreadableError:
        return
    text = document.page_content
    assert text == clean(text)
    assert text.strip()
    assert document.metadata["title"]
    pages = document.metadata["pages"]
    assert pages == sorted(pages)
    assert all(0 <= start < len(text) and number >= 1 for start, number in pages)


@pytest.mark.parametrize("suffix", SUFFIXES)
@given(data=st.binary(max_size=400))
@settings(deadline=None, max_examples=examples(60))
def test_arbitrary_bytes_are_read_or_rejected(suffix, data):
    assert_read_or_rejected(f"a.{suffix}", data)


@pytest.mark.parametrize("name", FILES)
@given(data=st.data())
@settings(deadline=None, max_examples=examples(60), suppress_health_check=[HealthCheck.too_slow])
def test_damaged_files_are_read_or_rejected(name, data):
    whole = FILES[name]
    cut = data.draw(st.integers(0, len(whole)))
    at = data.draw(st.integers(0, len(whole)))
    junk = data.draw(st.binary(max_size=8))
    assert_read_or_rejected(name, whole[:cut])
    assert_read_or_rejected(name, whole[:at] + junk + whole[at + len(junk) :])


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_is_read_or_rejected(text):
    assert_read_or_rejected("a.txt", text.encode("utf-8", "surrogatepass"))
    for wrapped in (f"<p>{text}</p>", f"<table><tr><td>{text}<td>b</table>"):
        assert_read_or_rejected("a.html", wrapped.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_empty_files_are_rejected(suffix):
    with pytest.raises(UnreadableError, match=r"^the file is empty$"):
        read_document(f"a.{suffix}", b"")


@pytest.mark.parametrize("suffix", ["txt", "html", "csv"])
def test_files_with_only_white_space_are_rejected(suffix):
    with pytest.raises(UnreadableError, match="0 characters"):
        read_document(f"a.{suffix}", b" \r\n \n")


@pytest.mark.parametrize("suffix", ["docx", "pptx", "xlsx"])
def test_truncated_office_files_are_rejected_as_damaged(suffix):
    with pytest.raises(UnreadableError, match="damaged, incomplete, or not"):
        read_document(f"a.{suffix}", FILES[f"a.{suffix}"][:-200])


def test_files_with_a_wrong_extension_are_rejected_with_advice():
    with pytest.raises(UnreadableError, match="save it again"):
        read_document("a.docx", FILES["a.xlsx"])
    with pytest.raises(UnreadableError, match=r"not a \.pdf file"):
        read_document("a.pdf", b"<html>Not found</html>")


def test_unsupported_formats_are_rejected_by_name():
    with pytest.raises(UnreadableError, match=r"does not read \.mp3 files yet"):
        read_document("a.mp3", b"x")


def test_the_default_title_is_the_normalized_file_name():
    title = read_document("dir/가이드.v2.txt", b"text").metadata["title"]
    assert title == "가이드.v2"


def test_newlines_control_characters_and_surrogates_are_normalized():
    document = read_document("a.txt", "\ufeffone\r\ntwo\rthree\0\x0cfour".encode())
    assert document.page_content == "one\ntwo\nthree\nfour"
    assert "\ufffd" in read_document("a.json", rb'{"a": "x\ud800"}').page_content


def test_parsers_are_imported_lazily():
    code = (
        "import sys, loaders.formats, loaders.directory_loader;"
        "print([m for m in ('pypdf','docx','pptx','openpyxl','bs4')"
        " if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.skipif(not DOCUMENTS.is_dir(), reason="the data set documents is absent")
@pytest.mark.slow
def test_real_files_are_read_or_rejected_quickly(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # without external programs
    slow = []
    for path in sorted(DOCUMENTS.glob("*/*")):
        started = time.perf_counter()
        assert_read_or_rejected(path.name, path.read_bytes())
        if time.perf_counter() - started > 10:
            slow.append(path.name)
    assert slow == []
