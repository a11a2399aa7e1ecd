"""The id of a library is created once and survives everything but the loss of its file."""

import pytest

from domain.errors import StorageError
from storage.backups.library_id import library_id, require_library_id


@pytest.fixture
def file(tmp_path):
    (tmp_path / ".backup").mkdir()
    return tmp_path / ".backup" / "library.id"


def test_an_id_is_created_on_request_and_stays(file, tmp_path):
    assert library_id(tmp_path) == ""
    created = require_library_id(tmp_path)
    assert len(created) == 32
    assert library_id(tmp_path) == require_library_id(tmp_path) == created


def test_two_folders_have_different_ids(file, tmp_path):
    (tmp_path / "other" / ".backup").mkdir(parents=True)
    assert require_library_id(tmp_path) != require_library_id(tmp_path / "other")


@pytest.mark.parametrize("content", [b"", b"\xff\0", b"../../outside", b"ab" * 17])
def test_a_damaged_id_is_replaced(file, tmp_path, content):
    file.write_bytes(content)
    assert library_id(tmp_path) == ""
    assert require_library_id(tmp_path) == library_id(tmp_path) != ""


def test_a_file_that_cannot_be_used_is_named(file, tmp_path):
    file.mkdir()
    with pytest.raises(StorageError, match=r"library.id can't be used \("):
        require_library_id(tmp_path)
