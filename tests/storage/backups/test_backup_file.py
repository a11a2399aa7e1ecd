"""The file of a backup: complete or missing, and never read if anything in it is wrong."""

import dataclasses
import gzip
import io
import json
import os
import shutil
import stat
import tarfile
from datetime import UTC, datetime

import pytest

from domain import CancelledError
from domain.errors import InputError, StorageError
from services.long_work import ignore
from storage.backups import backup_file as module
from storage.backups.backup_file import entries_of, read_backup, read_manifest, write_backup
from storage.backups.manifest import FORMAT, Manifest, parse_manifest
from storage.safe_writes import SPARE_BYTES

NAMES = ("footnote.db", "indexes/i/passages/rows/x", "uploads/box/휴가.md", "uploads/box/empty.md")


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "copy"
    for number, name in enumerate(NAMES):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"{name} ".encode() * number * 1000)
        os.utime(path, (1_700_000_000.25, 1_700_000_000.25))
    return folder


@pytest.fixture
def manifest(folder):
    return Manifest(
        created_at=datetime(2026, 11, 26, 9, tzinfo=UTC),
        library="/data",
        is_scheduled=False,
        version="0.1.0",
        schema="0009",
        counts={"documents": 2},
        files=entries_of(folder),
    )


@pytest.fixture
def backup(folder, manifest, tmp_path):
    target = tmp_path / "backup.tar.gz"
    write_backup(folder, manifest, target, ignore)
    return target


def members(file):
    """The members of a backup with their contents, the manifest first."""
    with tarfile.open(file) as tar:
        return [(member, tar.extractfile(member).read()) for member in tar]


def write_members(file, pairs):
    with tarfile.open(file, "w:gz") as tar:
        for member, content in pairs:
            member.size = len(content) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(content))


def contents(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def test_a_backup_is_read_as_it_was_written(backup, folder, manifest, tmp_path):
    assert read_manifest(backup) == manifest
    assert read_backup(backup, on_progress=ignore) == manifest
    target = tmp_path / "restored"
    assert read_backup(backup, target, on_progress=ignore) == manifest
    assert contents(target) == contents(folder)
    assert {(target / name).stat().st_mtime for name in NAMES} == {1_700_000_000.25}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_only_this_user_may_read_a_backup(backup):
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert {stat.S_IMODE(member.mode) for member, _content in members(backup)} == {0o600}


def test_an_existing_file_is_never_replaced(backup, folder, manifest):
    before = backup.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        write_backup(folder, manifest, backup, ignore)
    assert backup.read_bytes() == before
    assert list(backup.parent.glob(".*")) == []


def failing(target, folder, manifest, error, match):
    with pytest.raises(error, match=match):
        write_backup(folder, manifest, target, ignore)
    assert not target.exists()
    if target.parent.is_dir():
        assert list(target.parent.glob(".*.part")) == []


def test_a_full_disk_leaves_nothing(folder, manifest, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    failing(tmp_path / "b", folder, manifest, StorageError, r"No space left on device\): check")


def test_a_missing_or_unsuitable_folder_is_named(folder, manifest, tmp_path):
    failing(
        tmp_path / "nowhere" / "b", folder, manifest, StorageError, "nowhere/b can't be written"
    )
    (tmp_path / "file").write_text("")
    failing(tmp_path / "file" / "b", folder, manifest, StorageError, "Not a directory")


def test_a_folder_without_write_permission_is_named(folder, manifest, unprivileged_folder):
    locked = unprivileged_folder / "locked"
    locked.mkdir(mode=0o500)
    failing(locked / "b", folder, manifest, StorageError, "Permission denied")


def test_a_cancellation_leaves_nothing(folder, manifest, tmp_path):
    def cancel(progress):
        if progress.done == 2:
            raise CancelledError

    with pytest.raises(CancelledError):
        write_backup(folder, manifest, tmp_path / "b", cancel)
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_a_file_that_changes_while_it_is_written_leaves_no_backup(folder, manifest, tmp_path):
    path = folder / NAMES[1]
    path.write_bytes(b"X" * path.stat().st_size)
    failing(tmp_path / "b", folder, manifest, StorageError, "can't be read back.*checksum of 'ind")


def test_the_spare_space_stays_free(folder, manifest, tmp_path, monkeypatch):
    free = SPARE_BYTES + manifest.size - 1
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: usage._replace(free=free))
    failing(tmp_path / "b", folder, manifest, StorageError, "Free some space")


def test_a_part_that_another_program_replaced_is_no_backup(folder, manifest, tmp_path, monkeypatch):
    other = dataclasses.replace(manifest, library="other")
    write = module._write_archive
    monkeypatch.setattr(
        module, "_write_archive", lambda file, folder, _own, on: write(file, folder, other, on)
    )
    failing(tmp_path / "b", folder, manifest, StorageError, "was replaced while it was written")


def test_two_writers_of_one_file_do_not_mix(folder, manifest, tmp_path):
    other = dataclasses.replace(manifest, library="other")
    target = tmp_path / "b"

    def write_other(_progress):
        if not target.exists():
            write_backup(folder, other, target, ignore)

    with pytest.raises(InputError, match="exists already"):
        write_backup(folder, manifest, target, write_other)
    assert read_backup(target, on_progress=ignore) == other
    assert list(tmp_path.glob(".*")) == []


def test_a_file_of_another_size_is_rejected_before_it_is_read(backup, monkeypatch):
    first, *rest = members(backup)
    member, content = rest[1]
    write_members(backup, [first, rest[0], (member, content * 2), *rest[2:]])
    read = module._read_member

    def read_others(tar, one, folder):
        assert one.name != member.name
        return read(tar, one, folder)

    monkeypatch.setattr(module, "_read_member", read_others)
    unreadable(backup, f"the size of '{member.name}' differs")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("files", []),
        ("files", {"footnote.db": ["12", "ab"]}),
        ("files", {"footnote.db": [-1, "ab"]}),
        ("files", {"footnote.db": [1]}),
        ("format", float("inf")),
        ("format", "1"),
        ("created_at", "2026-11-26T09:00:00"),
        ("created_at", 5),
        ("counts", [1]),
        ("counts", {"documents": "2"}),
        ("is_scheduled", "yes"),
        ("library", None),
        ("version", 1),
    ],
)
def test_a_manifest_with_values_of_wrong_types_is_damaged(backup, manifest, name, value):
    content = json.loads(manifest.to_json()) | {name: value}
    (head, _json), *rest = members(backup)
    write_members(backup, [(head, json.dumps(content).encode()), *rest])
    with pytest.raises(InputError, match="is damaged or is not a backup"):
        read_manifest(backup)


def unreadable(file, match):
    target = file.parent / "target"
    for folder in (None, target):
        with pytest.raises(InputError, match=match):
            read_backup(file, folder, on_progress=ignore)


def test_a_truncated_backup_is_rejected_wherever_it_ends(backup):
    whole = backup.read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 40)):
        backup.write_bytes(whole[:length])
        with pytest.raises(InputError, match="is damaged or is not a backup"):
            read_backup(backup, on_progress=ignore)


def test_a_changed_byte_is_found_wherever_it_is(backup):
    whole = backup.read_bytes()
    header = 10  # of gzip, with its time and operating system, which nothing depends on
    for position in range(header, len(whole), max(1, len(whole) // 60)):
        changed = bytearray(whole)
        changed[position] ^= 0x55
        backup.write_bytes(changed)
        with pytest.raises(InputError, match="is damaged or is not a backup"):
            read_backup(backup, on_progress=ignore)


@pytest.mark.parametrize(
    "content",
    [b"", b"not an archive", gzip.compress(b""), gzip.compress(b"x" * 9999)],
    ids=["empty", "text", "compressed empty", "compressed text"],
)
def test_other_files_are_rejected(tmp_path, content):
    (tmp_path / "b").write_bytes(content)
    unreadable(tmp_path / "b", "is damaged or is not a backup")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(StorageError, match="nothing.tar.gz can.t be used .No such file"):
        read_manifest(tmp_path / "nothing.tar.gz")


def test_a_member_that_the_manifest_does_not_list_is_rejected(backup):
    extra = tarfile.TarInfo("uploads/box/extra.md")
    write_members(backup, [*members(backup), (extra, b"extra")])
    unreadable(backup, "contains 'uploads/box/extra.md', which is not in its manifest")


def test_a_member_that_occurs_twice_is_rejected(backup):
    write_members(backup, [*members(backup), members(backup)[-1]])
    unreadable(backup, "which is not in its manifest")


def test_a_missing_member_is_rejected(backup):
    write_members(backup, members(backup)[:-1])
    unreadable(backup, "is missing")


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_other_members_that_are_no_files_are_rejected(backup, kind):
    first, *rest = members(backup)
    member, content = rest[0]
    member.type, member.linkname = kind, "../../outside"
    write_members(backup, [first, (member, content), *rest[1:]])
    unreadable(backup, "which is not in its manifest")


@pytest.mark.parametrize(
    "name",
    [
        "../outside.md",
        "uploads/../../outside.md",
        "/etc/passwd",
        "uploads/./a.md",
        "uploads//a.md",
        "uploads",
        "encryption.key",
        "cache/model.onnx",
        "indexes",
        "indexes/i/passages/readable",
        "indexes/i/keywords/READABLE",
        "",
    ],
)
def test_paths_that_are_not_of_a_library_are_rejected(backup, name, tmp_path):
    (head, _json), *rest = members(backup)
    manifest = json.loads(_json)
    member, content = rest[0]
    manifest["files"] = {name: manifest["files"][member.name]}
    member.name = name
    write_members(backup, [(head, json.dumps(manifest).encode()), (member, content)])
    unreadable(backup, "no file of a library")
    assert not (tmp_path / "outside.md").exists()
    assert not (tmp_path / "target").exists()


def test_a_newer_format_names_the_version_that_reads_it(backup, manifest):
    content = json.loads(manifest.to_json()) | {"format": FORMAT + 1, "version": "2.5.0"}
    (head, _json), *rest = members(backup)
    write_members(backup, [(head, json.dumps(content).encode()), *rest])
    unreadable(backup, f"format {FORMAT + 1}.*formats up to {FORMAT}: use Footnote 2.5.0 or newer")


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(Manifest)])
def test_an_incomplete_manifest_is_rejected(backup, manifest, field):
    content = json.loads(manifest.to_json())
    del content[field]
    with pytest.raises(ValueError, match=f"{field}: "):
        parse_manifest(json.dumps(content).encode())
