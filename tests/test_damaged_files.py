"""Index files damaged while in use: each command reports it, and none crashes."""

import json

import pytest

from storage.index_files import FileList, file_digest, read_list, write_list
from storage.index_reader import READABLE
from tests.fakes.command_line import CommandLine

pytestmark = pytest.mark.slow

REINDEX = "python cli.py reindex"


@pytest.fixture
def footnote(imported, tmp_path):
    imported()
    return CommandLine(tmp_path / "data", tmp_path)


def truncated(data):
    return data[: len(data) // 2]


def zeroed(data):
    return bytes(len(data))


def flipped(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


VECTORS = "passages/rows/[!_]*/*/*"


@pytest.mark.parametrize(
    ("pattern", "damage"),
    [
        (VECTORS, truncated),
        (VECTORS, zeroed),
        ("passages/rows/**/*.lz4", zeroed),
        ("passages/rows/**/next_base", flipped),
        ("keywords/index/*.idx", flipped),
        ("keywords/index/*.store", truncated),
        ("keywords/index/meta.json", zeroed),
    ],
)
def test_check_names_damaged_files_search_still_works_and_reindex_repairs(
    footnote, pattern, damage
):
    [index] = (footnote.data_dir / "indexes").iterdir()
    damaged = [file for file in index.glob(pattern) if file.is_file()]
    assert damaged
    for file in damaged:
        file.write_bytes(damage(file.read_bytes()))

    report = footnote.run("check", code=3).stdout
    assert all(str(file) in report for file in damaged)
    assert REINDEX in report

    result = footnote.run("search", "WireGuard gateway", "--json")
    assert json.loads(result.stdout)[0]["key"] == "vpn.md"
    assert str(index) in result.stderr
    assert REINDEX in result.stderr

    footnote.run("reindex")
    assert "all agree" in footnote.run("check").stdout
    result = footnote.run("search", "WireGuard gateway", "--json")
    assert json.loads(result.stdout)[0]["key"] == "vpn.md"
    assert result.stderr == ""


def test_an_index_from_elsewhere_that_would_crash_the_program_is_reported(footnote):
    [index] = (footnote.data_dir / "indexes").iterdir()
    for file in index.glob(VECTORS):
        file.write_bytes(zeroed(file.read_bytes()))
    listed = read_list(index / "passages")
    files = {name: file_digest(index / "passages" / name) for name in listed.files}
    write_list(index / "passages", FileList(files, listed.state))  # its list matches the files
    (index / "passages" / READABLE).unlink()

    for _process in range(2):
        result = footnote.run("search", "WireGuard gateway", "--json")
        assert json.loads(result.stdout)[0]["key"] == "vpn.md"
        assert f"{index}/passages can't be used: rows can't be read" in result.stderr
    assert "rows can't be read" in footnote.run("check", code=3).stdout
    footnote.run("reindex")
    assert "all agree" in footnote.run("check").stdout


def test_with_both_indexes_damaged_a_search_fails_with_the_folder_and_remedy(footnote):
    [index] = (footnote.data_dir / "indexes").iterdir()
    for file in (*index.glob(VECTORS), *index.glob("keywords/index/*.term")):
        file.write_bytes(zeroed(file.read_bytes()))
    result = footnote.run("search", "WireGuard", code=1)
    assert str(index) in result.stderr
    assert REINDEX in result.stderr
    footnote.run("reindex")
    footnote.run("check")
