import pytest

from errors import StorageError
from storage.upload_files import UploadFiles

BOX = "uploads/mine"


@pytest.fixture
def files(tmp_path):
    return UploadFiles(tmp_path)


def test_a_box_goes_with_its_files_and_its_folder(files, tmp_path):
    files.write(BOX, "a.md", b"A")
    files.write("uploads/other", "b.md", b"B")
    files.remove_box(BOX)
    assert [box.name for box in (tmp_path / "uploads").iterdir()] == ["other"]
    assert files.names(BOX) == []


def test_a_box_that_is_gone_can_be_removed_again_and_filled_anew(files):
    files.remove_box(BOX)
    files.write(BOX, "a.md", b"A")
    assert files.names(BOX) == ["a.md"]


def test_a_box_that_cannot_be_removed_is_named_with_what_to_do(files, tmp_path):
    (tmp_path / "uploads").mkdir()
    (tmp_path / BOX).write_text("a file stands where the folder should be")
    with pytest.raises(StorageError, match="uploads/mine can't be written to.*FOOTNOTE_DATA_DIR"):
        files.remove_box(BOX)
