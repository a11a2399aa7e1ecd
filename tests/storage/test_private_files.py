import logging
import os
import stat
from pathlib import Path

import pytest

from storage.data_folder import close_to_others, is_open_to_others, keep_private

pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX permissions")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def modes(folder: Path) -> set[str]:
    """The modes of the folder and everything in it, each after "folder" or "file"."""
    paths = [folder, *(path for path in folder.rglob("*") if not path.is_symlink())]
    return {f"{'folder' if path.is_dir() else 'file'} {mode(path):o}" for path in paths}


PRIVATE = {"folder 700", "file 600"}


def old_data_folder(folder: Path) -> None:
    """Create a data folder with default permissions, as earlier versions did."""
    for name in (
        "footnote.db",
        "encryption.key",
        "writer.lock",
        "uploads/box/a.md",
        "indexes/1/rows/x",
        "cache/m",
    ):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("text")


def test_a_new_folder_and_files_created_later_are_private(tmp_path):
    keep_private(tmp_path / "above" / "data")
    (tmp_path / "above" / "data" / "folder").mkdir()
    (tmp_path / "above" / "data" / "folder" / "file").write_text("text")
    assert modes(tmp_path / "above" / "data") == PRIVATE
    assert mode(tmp_path / "above") == 0o755


def test_permissions_of_a_readable_folder_are_fixed_once_with_a_warning(tmp_path, caplog):
    old_data_folder(tmp_path / "data")
    keep_private(tmp_path / "data")
    assert modes(tmp_path / "data") == PRIVATE
    assert caplog.text.count("permissions fixed") == 1
    keep_private(tmp_path / "data")
    assert caplog.text.count("permissions fixed") == 1


def test_readable_files_in_a_private_folder_are_made_private(tmp_path):
    old_data_folder(tmp_path / "data")
    (tmp_path / "data").chmod(0o700)
    keep_private(tmp_path / "data")
    assert modes(tmp_path / "data") == PRIVATE


def test_permissions_of_the_owner_and_special_bits_stay_unchanged(tmp_path):
    old_data_folder(tmp_path)
    (tmp_path / "cache" / "m").chmod(0o544)
    tmp_path.chmod(0o2770)
    keep_private(tmp_path)
    assert mode(tmp_path / "cache" / "m") == 0o500
    assert mode(tmp_path) == 0o2700


def test_link_targets_and_files_of_other_programs_stay_unchanged(tmp_path):
    shared, data = tmp_path / "shared", tmp_path / "data"
    for folder in (shared, data):
        folder.mkdir()
    for path in (shared / "model", data / "notes.txt"):
        path.write_text("text")
    (data / "cache").symlink_to(shared)
    keep_private(data)
    assert mode(data) == 0o700
    assert [mode(path) for path in (shared, shared / "model", data / "notes.txt")] == [
        0o755,
        0o644,
        0o644,
    ]


def test_a_readable_ledger_behind_a_link_is_reported_and_not_changed(tmp_path, caplog):
    ledger, data = tmp_path / "ledger", tmp_path / "data"
    ledger.write_text("text")
    data.mkdir(mode=0o700)
    (data / "footnote.db").symlink_to(ledger)
    keep_private(data)
    assert mode(ledger) == 0o644
    warning = f"Other users can read the ledger {data / 'footnote.db'}: run chmod 600 on it."
    assert warning in caplog.text
    assert "permissions fixed" not in caplog.text


def test_a_shared_folder_stays_unchanged_with_a_warning(tmp_path, caplog):
    tmp_path.chmod(0o1777)
    old_data_folder(tmp_path)
    keep_private(tmp_path)
    assert mode(tmp_path) == 0o1777
    assert mode(tmp_path / "footnote.db") == 0o644
    assert "use a separate folder" in caplog.text


def test_a_folder_of_another_user_stays_unchanged_with_a_warning(tmp_path, caplog, monkeypatch):
    caplog.set_level(logging.WARNING)
    old_data_folder(tmp_path / "data")
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    keep_private(tmp_path / "data")
    assert mode(tmp_path / "data") == 0o755
    assert "belongs to the user who runs Footnote" in caplog.text


def test_missing_folders_are_not_open_to_others(tmp_path):
    assert not is_open_to_others(tmp_path / "nothing")
    assert close_to_others(tmp_path / "nothing")
    keep_private(tmp_path / "file" / "data")


def test_a_folder_that_cannot_be_created_raises_no_error(tmp_path):
    (tmp_path / "file").write_text("text")
    keep_private(tmp_path / "file" / "data")
    assert not is_open_to_others(tmp_path / "file" / "data")
