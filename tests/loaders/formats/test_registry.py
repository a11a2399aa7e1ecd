import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from errors import UnreadableError
from loaders.formats import read_document
from loaders.formats.content import clean
from tests.loaders.formats.files import docx_file, html_page, pdf_file, pptx_file, xlsx_file

SUFFIXES = ("txt", "md", "markdown", "html", "htm", "pdf", "docx", "pptx", "xlsx", "csv", "json")
ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("FOOTNOTE_EVAL_DATA", ROOT.parent / "shared" / "data"))
DOCUMENTS = DATA / "documents"
WHOLE = {
    "a.docx": docx_file(),
    "a.pptx": pptx_file(),
    "a.xlsx": xlsx_file(),
    "a.pdf": pdf_file(["Some text on a page."]),
    "a.html": html_page("<h1>Title</h1><p>Text</p>"),
    "a.json": b'{"a": [1, {"b": "text"}]}',
    "a.csv": b"a;b\n1;2\n",
}


def read_or_refuse(name: str, data: bytes) -> None:
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
@settings(deadline=None, max_examples=60)
def test_arbitrary_bytes_are_a_document_or_a_reason(suffix, data):
    read_or_refuse(f"a.{suffix}", data)


@pytest.mark.parametrize("name", WHOLE)
@given(data=st.data())
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_file_is_a_document_or_a_reason(name, data):
    whole = WHOLE[name]
    cut = data.draw(st.integers(0, len(whole)))
    at = data.draw(st.integers(0, len(whole)))
    junk = data.draw(st.binary(max_size=8))
    read_or_refuse(name, whole[:cut])
    read_or_refuse(name, whole[:at] + junk + whole[at + len(junk) :])


@given(st.text(max_size=300))
@settings(deadline=None)
def test_any_text_keeps_its_characters_but_for_controls_and_newlines(text):
    read_or_refuse("a.txt", text.encode("utf-8", "surrogatepass"))
    for wrapped in (f"<p>{text}</p>", f"<table><tr><td>{text}<td>b</table>"):
        read_or_refuse("a.html", wrapped.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_says_so(suffix):
    with pytest.raises(UnreadableError, match=r"^the file is empty$"):
        read_document(f"a.{suffix}", b"")


@pytest.mark.parametrize("suffix", ["txt", "html", "csv"])
def test_white_space_alone_is_no_text(suffix):
    with pytest.raises(UnreadableError, match="0 characters"):
        read_document(f"a.{suffix}", b" \r\n \n")


@pytest.mark.parametrize("suffix", ["docx", "pptx", "xlsx"])
def test_a_cut_off_office_file_says_damaged(suffix):
    with pytest.raises(UnreadableError, match="damaged, incomplete, or not"):
        read_document(f"a.{suffix}", WHOLE[f"a.{suffix}"][:-200])


def test_a_file_under_a_wrong_name_is_refused_with_what_to_do():
    with pytest.raises(UnreadableError, match="save it again"):
        read_document("a.docx", WHOLE["a.xlsx"])
    with pytest.raises(UnreadableError, match=r"not a \.pdf file"):
        read_document("a.pdf", b"<html>Not found</html>")


def test_a_format_that_is_not_read_is_refused_by_name():
    with pytest.raises(UnreadableError, match=r"does not read \.mp3 files yet"):
        read_document("a.mp3", b"x")


def test_the_title_falls_back_to_the_composed_name():
    title = read_document("dir/가이드.v2.txt", b"text").metadata["title"]
    assert title == "가이드.v2"


def test_newlines_controls_and_surrogates_are_normalised():
    document = read_document("a.txt", "\ufeffone\r\ntwo\rthree\0\x0cfour".encode())
    assert document.page_content == "one\ntwo\nthree\nfour"
    assert "\ufffd" in read_document("a.json", rb'{"a": "x\ud800"}').page_content


def test_reading_starts_without_the_parsers():
    code = (
        "import sys, loaders.formats, loaders.directory_loader;"
        "print([m for m in ('pypdf','docx','pptx','openpyxl','bs4')"
        " if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.skipif(not DOCUMENTS.is_dir(), reason="the data set documents is absent")
@pytest.mark.slow
def test_real_files_are_read_or_refused_quickly(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))  # by our own readers, not by other programs
    slow = []
    for path in sorted(DOCUMENTS.glob("*/*")):
        started = time.perf_counter()
        read_or_refuse(path.name, path.read_bytes())
        if time.perf_counter() - started > 10:
            slow.append(path.name)
    assert slow == []
