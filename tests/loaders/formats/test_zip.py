import io
import random
import struct
import time
import zipfile

import pytest

from domain.errors import TemporarilyUnreadableError, UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.files import docx_file, xlsx_file, zipped
from tests.loaders.formats.ole_files import ole_file


def read(parts):
    return read_document("a.zip", parts if isinstance(parts, bytes) else zipped(parts))


def test_each_file_becomes_a_section_headed_by_its_path():
    document = read({"docs/규정.txt": "연차는 15일".encode(), "docs/b.docx": docx_file()})
    assert document.page_content == (
        "# docs/규정.txt\n\n연차는 15일\n\n# docs/b.docx\n\n# Leave\n\nEmployees get 15 days."
    )
    assert document.metadata["title"] == "a"


def test_unreadable_files_are_reported_with_the_reason():
    warnings = read({"a.txt": b"x", "b.exe": b"MZ", "c.docx": b"broken"}).metadata["warnings"]
    assert warnings[0] == "b.exe: Footnote does not read .exe files yet"
    assert warnings[1].startswith("c.docx: damaged, incomplete, or not")


@pytest.mark.parametrize(
    ("encoding", "name"), [("cp949", "휴가 규정.txt"), ("cp932", "休暇のルール.txt")]
)
def test_file_names_in_legacy_encodings_are_decoded(encoding, name):
    raw = name.encode(encoding)
    data = zipped({"x" * len(raw): b"text"}).replace(b"x" * len(raw), raw)
    assert read(data).page_content == f"# {name}\n\ntext"


def test_utf8_file_names_without_the_utf8_flag_are_decoded():
    raw = "휴가.txt".encode()
    data = zipped({"x" * len(raw): b"text"}).replace(b"x" * len(raw), raw)
    assert read(data).page_content.startswith("# 휴가.txt\n")


def test_hidden_and_temporary_files_are_ignored():
    ignored = {
        "__MACOSX/._a.txt": b"x",
        ".DS_Store": b"x",
        "d/~$b.docx": b"x",
        "d/.git/c.txt": b"x",
    }
    document = read({"a.txt": b"text", **ignored})
    assert document.page_content == "# a.txt\n\ntext"
    assert document.metadata["warnings"] == []


def test_nested_archives_are_read_to_a_limited_depth():
    third = zipped({"c.txt": b"third"})
    second = zipped({"b.txt": b"second", "third.zip": third})
    document = read({"second.zip": second})
    assert document.page_content == "# second.zip\n\n# b.txt\n\nsecond"
    assert "not read: nested more than 2 files deep" in document.metadata["warnings"][0]


def test_paths_outside_the_archive_are_only_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = read({"../../etc/evil.txt": b"text", "/abs.txt": b"more"}).page_content
    assert text == "# ../../etc/evil.txt\n\ntext\n\n# /abs.txt\n\nmore"
    assert list(tmp_path.iterdir()) == []


def encrypted(data):
    """The archive with the encryption flag set on all files."""
    data = bytearray(data)
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = -1
        while (start := data.find(mark, start + 1)) >= 0:
            data[start + at] |= 1
    return bytes(data)


def test_encrypted_archives_are_rejected():
    with pytest.raises(UnreadableError, match="^password-protected"):
        read(encrypted(zipped({"a.txt": b"text", "b.txt": b"more"})))


def test_archives_without_readable_files_are_rejected_with_the_reason():
    with pytest.raises(UnreadableError, match=r"nothing in the archive can be read: a\.exe: Foot"):
        read({"a.exe": b"MZ"})
    with pytest.raises(UnreadableError, match="the archive contains no files"):
        read(zipped({}))


def assert_rejected_quickly(data, reason):
    started = time.process_time()
    with pytest.raises(UnreadableError, match=reason):
        read(data)
    assert time.process_time() - started < 2


def test_zip_bombs_are_rejected_before_unpacking():
    assert_rejected_quickly(
        zipped({"a.txt": bytes(64 * 2**20)}), "unpacks to 64 MiB, which is too much"
    )


@pytest.mark.parametrize("name", ["a.zip", "a.docx", "a.odt", "a.epub", "a.hwpx"])
def test_zip_bombs_with_a_false_size_are_rejected(name):
    size = 64 * 2**20
    data = zipped({"content.txt": bytes(size)})
    data = data.replace(struct.pack("<I", size), struct.pack("<I", 10))
    started = time.process_time()
    with pytest.raises(UnreadableError, match="too much to read safely"):
        read_document(name, data)
    assert time.process_time() - started < 2


def test_zip_bombs_of_overlapping_files_are_rejected():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.txt", b"text " * 1000)
        archive.filelist += archive.filelist * 99
    assert_rejected_quickly(out.getvalue(), "parts of the archive overlap")


def test_nested_archives_share_one_size_limit():
    inner = zipped({"a.rtf": random.Random(1).randbytes(2**14) * 2**11})
    warnings = read({"b.txt": b"text"} | {f"{i}.zip": inner for i in range(9)}).metadata["warnings"]
    assert "0.zip: nothing" in warnings[0]
    assert "exceed 256 MiB" in warnings[-1]


def test_archives_with_too_many_files_are_rejected():
    assert_rejected_quickly(zipped({f"{i}.txt": b"x" for i in range(1001)}), "contains 1001 files")


def test_zip64_archives_are_read():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, archive.open("a.txt", "w", force_zip64=True) as file:
        file.write(b"text")
    assert read(out.getvalue()).page_content == "# a.txt\n\ntext"


def test_a_damaged_file_does_not_affect_the_others():
    data = zipped({"a.txt": b"first " * 100, "b.xlsx": xlsx_file()})
    at = data.index(b"a.txt") + 8
    document = read(data[:at] + b"\xff\xff\xff" + data[at + 3 :])
    assert document.page_content.startswith("# b.xlsx")
    assert document.metadata["warnings"][0].startswith("a.txt: damaged (its part a.txt")


def test_the_text_of_nested_archives_counts_toward_the_text_limit():
    inner = zipped({"a.txt": b"A" * (20 * 2**20)})
    document = read({f"{i}.zip": inner for i in range(20)})
    assert len(document.page_content) < 33 * 2**20
    assert "exceeds 32 MiB" in document.metadata["warnings"][-1]


def test_files_that_need_a_missing_program_raise_a_retryable_error(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    document = ole_file({"WordDocument": b"text"})
    with pytest.raises(
        TemporarilyUnreadableError,
        match="rules.doc: .doc files require LibreOffice, which is not installed",
    ):
        read({"rules.doc": document})
    assert (
        "rules.doc: .doc files require LibreOffice"
        in read({"a.txt": b"x", "rules.doc": document}).metadata["warnings"][0]
    )
