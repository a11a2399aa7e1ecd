import io
import random
import struct
import time
import zipfile

import pytest

from errors import TemporarilyUnreadableError, UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.files import docx_file, xlsx_file, zipped
from tests.loaders.formats.ole_files import ole_file


def read(parts):
    return read_document("a.zip", parts if isinstance(parts, bytes) else zipped(parts))


def test_each_file_is_a_section_under_its_path():
    document = read({"docs/규정.txt": "연차는 15일".encode(), "docs/b.docx": docx_file()})
    assert document.page_content == (
        "# docs/규정.txt\n\n연차는 15일\n\n# docs/b.docx\n\n# Leave\n\nEmployees get 15 days."
    )
    assert document.metadata["title"] == "a"


def test_what_can_not_be_read_is_named_with_the_reason():
    warnings = read({"a.txt": b"x", "b.exe": b"MZ", "c.docx": b"broken"}).metadata["warnings"]
    assert warnings[0] == "b.exe: Footnote does not read .exe files yet"
    assert warnings[1].startswith("c.docx: damaged, incomplete, or not")


@pytest.mark.parametrize(
    ("encoding", "name"), [("cp949", "휴가 규정.txt"), ("cp932", "休暇のルール.txt")]
)
def test_names_of_older_programs_are_decoded(encoding, name):
    raw = name.encode(encoding)
    data = zipped({"x" * len(raw): b"text"}).replace(b"x" * len(raw), raw)
    assert read(data).page_content == f"# {name}\n\ntext"


def test_names_in_utf8_without_a_mark_are_decoded():
    raw = "휴가.txt".encode()
    data = zipped({"x" * len(raw): b"text"}).replace(b"x" * len(raw), raw)
    assert read(data).page_content.startswith("# 휴가.txt\n")


def test_what_programs_leave_behind_is_left_out():
    left = {"__MACOSX/._a.txt": b"x", ".DS_Store": b"x", "d/~$b.docx": b"x", "d/.git/c.txt": b"x"}
    document = read({"a.txt": b"text", **left})
    assert document.page_content == "# a.txt\n\ntext"
    assert document.metadata["warnings"] == []


def test_an_archive_in_the_archive_is_read_and_one_deeper_is_named():
    third = zipped({"c.txt": b"third"})
    second = zipped({"b.txt": b"second", "third.zip": third})
    document = read({"second.zip": second})
    assert document.page_content == "# second.zip\n\n# b.txt\n\nsecond"
    assert "not read: nested more than 2 files deep" in document.metadata["warnings"][0]


def test_a_path_that_leads_elsewhere_is_only_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = read({"../../etc/evil.txt": b"text", "/abs.txt": b"more"}).page_content
    assert text == "# ../../etc/evil.txt\n\ntext\n\n# /abs.txt\n\nmore"
    assert list(tmp_path.iterdir()) == []


def encrypted(data):
    """The archive with the mark of encryption on each of its files."""
    data = bytearray(data)
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        start = -1
        while (start := data.find(mark, start + 1)) >= 0:
            data[start + at] |= 1
    return bytes(data)


def test_an_encrypted_archive_says_so():
    with pytest.raises(UnreadableError, match="^password-protected"):
        read(encrypted(zipped({"a.txt": b"text", "b.txt": b"more"})))


def test_an_archive_without_anything_to_read_names_what_it_holds():
    with pytest.raises(UnreadableError, match=r"nothing in the archive can be read: a\.exe: Foot"):
        read({"a.exe": b"MZ"})
    with pytest.raises(UnreadableError, match="the archive contains no files"):
        read(zipped({}))


def refused_quickly(data, reason):
    started = time.perf_counter()
    with pytest.raises(UnreadableError, match=reason):
        read(data)
    assert time.perf_counter() - started < 2


def test_a_bomb_is_refused_before_it_is_unpacked():
    refused_quickly(zipped({"a.txt": bytes(64 * 2**20)}), "unpacks to 64 MiB, which is too much")


@pytest.mark.parametrize("name", ["a.zip", "a.docx", "a.odt", "a.epub", "a.hwpx"])
def test_a_bomb_that_lies_about_its_size_is_refused(name):
    size = 64 * 2**20
    data = zipped({"content.txt": bytes(size)})
    data = data.replace(struct.pack("<I", size), struct.pack("<I", 10))
    started = time.perf_counter()
    with pytest.raises(UnreadableError, match="too much to read safely"):
        read_document(name, data)
    assert time.perf_counter() - started < 2


def test_a_bomb_of_files_that_share_their_bytes_is_refused():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("0.txt", b"text " * 1000)
        archive.filelist += archive.filelist * 99
    refused_quickly(out.getvalue(), "parts of the archive overlap")


def test_archives_in_archives_share_one_bound():
    inner = zipped({"a.rtf": random.Random(1).randbytes(2**14) * 2**11})
    warnings = read({"b.txt": b"text"} | {f"{i}.zip": inner for i in range(9)}).metadata["warnings"]
    assert "0.zip: nothing" in warnings[0]
    assert "exceed 256 MiB" in warnings[-1]


def test_an_archive_of_too_many_files_is_refused():
    refused_quickly(zipped({f"{i}.txt": b"x" for i in range(1001)}), "contains 1001 files")


def test_a_large_archive_of_the_newer_kind_is_read():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, archive.open("a.txt", "w", force_zip64=True) as file:
        file.write(b"text")
    assert read(out.getvalue()).page_content == "# a.txt\n\ntext"


def test_a_damaged_file_leaves_the_others():
    data = zipped({"a.txt": b"first " * 100, "b.xlsx": xlsx_file()})
    at = data.index(b"a.txt") + 8
    document = read(data[:at] + b"\xff\xff\xff" + data[at + 3 :])
    assert document.page_content.startswith("# b.xlsx")
    assert document.metadata["warnings"][0].startswith("a.txt: damaged: its part a.txt")


def test_archives_of_one_character_in_an_archive_are_no_way_around_the_limit():
    inner = zipped({"a.txt": b"A" * (20 * 2**20)})
    document = read({f"{i}.zip": inner for i in range(20)})
    assert len(document.page_content) < 33 * 2**20
    assert "exceeds 32 MiB" in document.metadata["warnings"][-1]


def test_an_archive_that_a_missing_program_would_read_is_tried_again(monkeypatch, tmp_path):
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
