import pytest

from domain.errors import StorageError
from storage.upload_files import UploadFiles

BOX = "uploads/mine"


@pytest.fixture
def files(tmp_path):
    return UploadFiles(tmp_path)


def test_removing_a_box_removes_its_files_and_folder(files, tmp_path):
    files.write(BOX, "a.md", b"A")
    files.write("uploads/other", "b.md", b"B")
    files.remove_box(BOX)
    assert [box.name for box in (tmp_path / "uploads").iterdir()] == ["other"]
    assert files.names(BOX) == []


def test_a_removed_box_can_be_removed_again_and_reused(files):
    files.remove_box(BOX)
    files.write(BOX, "a.md", b"A")
    assert files.names(BOX) == ["a.md"]


def test_the_error_for_a_box_that_cannot_be_removed_contains_advice(files, tmp_path):
    (tmp_path / "uploads").mkdir()
    (tmp_path / BOX).write_text("a file in place of the folder")
    with pytest.raises(StorageError, match="uploads/mine can't be written to.*FOOTNOTE_DATA_DIR"):
        files.remove_box(BOX)


def test_a_failed_write_leaves_no_folders(files, tmp_path, monkeypatch):
    files.write(BOX, "rules/a.md", b"A")

    def fail(file, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    for name in ("rules/travel/b.md", "new/c.md"):
        with pytest.raises(StorageError, match="No space left"):
            files.write(BOX, name, b"B")
    assert [one.name for one in (tmp_path / BOX).rglob("*")] == ["rules", "a.md"]
