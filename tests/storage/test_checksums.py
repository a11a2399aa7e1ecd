import pytest

from storage.index_files import (
    CHECKSUMS,
    FileDigest,
    FileList,
    file_digest,
    read_list,
    with_new_files,
    write_list,
)


def test_lists_survive_a_round_trip(tmp_path):
    expected = FileList({"a/b": FileDigest(3, "0f"), "é": FileDigest(0, "")}, {"opstamp": 7})
    assert read_list(tmp_path) is None
    write_list(tmp_path, expected)
    assert read_list(tmp_path) == expected


def test_a_new_list_replaces_the_old_one_and_partial_lists_are_ignored(tmp_path):
    write_list(tmp_path, FileList({"a": FileDigest(1, "x")}))
    (tmp_path / f"{CHECKSUMS}.new").write_bytes(b"partial")  # as left by a killed writer
    assert read_list(tmp_path).files == {"a": FileDigest(1, "x")}
    write_list(tmp_path, FileList())
    assert read_list(tmp_path) == FileList()
    assert [file.name for file in tmp_path.iterdir()] == [CHECKSUMS]


@pytest.mark.parametrize("position", [0, 5, 20, -1])
def test_damaged_lists_are_rejected(tmp_path, position):
    write_list(tmp_path, FileList({"a": FileDigest(1, "x")}, {"b": 2}))
    data = bytearray((tmp_path / CHECKSUMS).read_bytes())
    data[position] ^= 1
    (tmp_path / CHECKSUMS).write_bytes(data)
    with pytest.raises(ValueError, match=f"^{CHECKSUMS} "):
        read_list(tmp_path)


def test_checksums_are_equal_only_for_equal_files(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for data, changed in ((b"", b"\0"), (b"x" * 3_000_000, b"x" * 2_999_999 + b"y")):
        one.write_bytes(data)
        other.write_bytes(data)
        assert file_digest(one) == file_digest(other) == file_digest(one)
        other.write_bytes(changed)
        assert file_digest(one) != file_digest(other)


def test_only_unknown_files_are_read(tmp_path):
    (tmp_path / "new").write_text("new")
    known = FileList({"old": FileDigest(9, "unchanged"), "missing": FileDigest(1, "x")})
    files = with_new_files(tmp_path, known, ["old", "new"])
    assert files == {"old": FileDigest(9, "unchanged"), "new": file_digest(tmp_path / "new")}
