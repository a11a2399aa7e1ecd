import contextlib
import hashlib
import os
import tempfile
import unicodedata
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import DocumentRef, Skipped
from domain.errors import SourceError, UnreadableError
from loaders.directory_loader import DirectoryLoader, _modified_at
from tests.quick import examples


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"This is {name}.", encoding="utf-8")


def keys(loader: DirectoryLoader) -> list[str]:
    return [item.key for item in loader.list() if isinstance(item, DocumentRef)]


def skipped(loader: DirectoryLoader) -> dict[str, str]:
    return {item.key: item.reason for item in loader.list() if isinstance(item, Skipped)}


def test_files_are_listed_by_key_with_the_hash_of_their_bytes(tmp_path):
    write(tmp_path, "b.md", "a/z.txt", "a.txt", "a/b/c.md")
    refs = list(DirectoryLoader(tmp_path).list())
    assert [ref.key for ref in refs] == ["a.txt", "a/b/c.md", "a/z.txt", "b.md"]
    assert refs[3].version == hashlib.sha256(b"This is b.md.").hexdigest()
    assert Path(refs[1].location).read_text() == "This is a/b/c.md."


def test_the_metadata_of_a_document_contains_its_origin(tmp_path):
    write(tmp_path, "a/leave.md")
    loader = DirectoryLoader(tmp_path)
    (ref,) = loader.list()
    document = loader.read(ref)
    assert document.page_content == "This is a/leave.md."
    expected = {"key": "a/leave.md", "version": ref.version, "location": ref.location}
    assert expected.items() <= document.metadata.items()
    assert document.metadata["title"] == "leave"


def test_a_file_changed_after_listing_is_read_under_its_new_version(tmp_path):
    write(tmp_path, "a.md")
    loader = DirectoryLoader(tmp_path)
    (ref,) = loader.list()
    (tmp_path / "a.md").write_text("new text")
    document = loader.read(ref)
    assert document.page_content == "new text"
    assert document.metadata["version"] == hashlib.sha256(b"new text").hexdigest() != ref.version


def test_a_file_removed_after_listing_is_unreadable(tmp_path):
    write(tmp_path, "a.md")
    loader = DirectoryLoader(tmp_path)
    (ref,) = loader.list()
    (tmp_path / "a.md").unlink()
    with pytest.raises(UnreadableError, match="was removed while the import was running"):
        loader.read(ref)


def test_a_file_removed_during_the_listing_is_not_listed(tmp_path):
    write(tmp_path, "a.md", "b.md")
    listing = DirectoryLoader(tmp_path).list()
    first = next(listing)
    (tmp_path / "b.md").unlink()
    assert first.key == "a.md"
    assert list(listing) == []


def test_hidden_files_and_office_lock_files_are_ignored(tmp_path):
    write(tmp_path, ".hidden.md", ".git/config.md", "a/.b/c.md", "~$report.docx", "visible.md")
    assert [item.key for item in DirectoryLoader(tmp_path).list()] == ["visible.md"]


def test_files_of_unsupported_formats_are_skipped_with_a_reason(tmp_path):
    write(tmp_path, "book.mp3", "README", "a.md")
    reasons = skipped(DirectoryLoader(tmp_path))
    assert reasons["book.mp3"] == "Footnote does not read .mp3 files yet"
    assert "file name extension" in reasons["README"]


def test_include_and_exclude_patterns_apply_to_files_and_folders(tmp_path):
    write(tmp_path, "a.md", "a.txt", "drafts/b.md", "docs/c.md", "docs/old/d.md", "docs/e.mp3")
    assert keys(DirectoryLoader(tmp_path, include=["*.md"])) == [
        "a.md", "docs/c.md", "docs/old/d.md", "drafts/b.md",
    ]  # fmt: skip
    loader = DirectoryLoader(tmp_path, include=["docs/**"], exclude=["old", "*.mp3"])
    assert [item.key for item in loader.list()] == ["docs/c.md"]


def test_a_file_with_a_decomposed_name_is_read_and_has_a_composed_key(tmp_path):
    name = unicodedata.normalize("NFD", "휴가 규정 ガイド.md")
    write(tmp_path, name)
    loader = DirectoryLoader(tmp_path)
    (ref,) = loader.list()
    assert ref.key == unicodedata.normalize("NFC", name) != name
    assert loader.read(ref).metadata["title"] == "휴가 규정 ガイド"


def test_of_two_names_that_differ_only_in_unicode_form_one_is_skipped(tmp_path):
    write(tmp_path, "가.md", unicodedata.normalize("NFD", "가.md"))
    if len(os.listdir(tmp_path)) < 2:
        pytest.skip("this file system normalizes file names")
    items = list(DirectoryLoader(tmp_path).list())
    assert [type(item) for item in items] == [DocumentRef, Skipped]
    assert "Unicode form" in items[1].reason


def test_only_files_that_are_too_large_are_skipped_as_errors(tmp_path):
    write(tmp_path, "a.mp3", "b.md")
    errors = {item.key: item.is_error for item in DirectoryLoader(tmp_path, max_bytes=3).list()}
    assert errors == {"a.mp3": False, "b.md": True}


def test_a_name_that_is_not_utf8_is_skipped_with_a_key_that_can_be_stored(tmp_path):
    try:
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xb0\xa1.txt"))).write_text("x")
    except OSError:
        pytest.skip("this file system accepts only UTF-8 names")
    (item,) = DirectoryLoader(tmp_path).list()
    assert isinstance(item, Skipped)
    assert "rename" in item.reason
    (item.key + item.location).encode("utf-8")


def test_only_links_that_leave_the_root_or_are_broken_are_reported(tmp_path):
    root = tmp_path / "root"
    write(root, "a.md", "sub/b.md", ".store/linked.md")
    write(tmp_path, "secret.md", "elsewhere/c.md")
    (root / "same.md").symlink_to(root / "a.md")
    (root / "cycle").symlink_to(root, target_is_directory=True)
    (root / "sub" / "up").symlink_to("..")
    (root / "linked.md").symlink_to(root / ".store" / "linked.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "outdir").symlink_to(tmp_path / "elsewhere")
    (root / "broken.md").symlink_to(root / "nothing.md")
    (root / "loop.md").symlink_to(root / "loop.md")
    loader = DirectoryLoader(root)
    assert keys(loader) == ["a.md", "linked.md", "sub/b.md"]
    assert sorted(skipped(loader)) == ["broken.md", "loop.md", "out.md", "outdir/"]


def test_references_that_leave_the_root_are_rejected(tmp_path):
    write(tmp_path, "secret.md", "root/a.md")
    ref = DocumentRef("a.md", "1", str(tmp_path / "root" / ".." / "secret.md"))
    with pytest.raises(SourceError, match="not in the folder"):
        DirectoryLoader(tmp_path / "root").read(ref)


def test_named_pipes_are_skipped_without_opening_them(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    assert skipped(DirectoryLoader(tmp_path)) == {"pipe.txt": "not a regular file"}


def test_files_over_the_size_limit_are_skipped_or_unreadable(tmp_path):
    write(tmp_path, "a.md")
    (tmp_path / "big.txt").write_bytes(b"x" * 3 * 2**20)
    loader = DirectoryLoader(tmp_path, max_bytes=2**20)
    assert "3.0 MiB exceeds the limit of 1.0 MiB" in skipped(loader)["big.txt"]
    (ref,) = (item for item in loader.list() if isinstance(item, DocumentRef))
    (tmp_path / "a.md").write_bytes(b"x" * 3 * 2**20)
    with pytest.raises(UnreadableError, match="exceeds the limit"):
        loader.read(ref)


def test_entries_without_permission_are_skipped_and_the_others_listed(unprivileged_folder):
    write(unprivileged_folder, "a.md", "locked.md", "private/b.md")
    (unprivileged_folder / "private").chmod(0)
    (unprivileged_folder / "locked.md").chmod(0)
    loader = DirectoryLoader(unprivileged_folder)
    assert keys(loader) == ["a.md"]
    reasons = skipped(loader)
    assert reasons["private/"] == "the folder can't be opened: Permission denied"
    assert reasons["locked.md"] == "the file can't be opened: Permission denied"


def test_a_root_without_permission_raises_a_source_error(unprivileged_folder):
    (unprivileged_folder / "root").mkdir(mode=0)
    with pytest.raises(SourceError, match=r"root can't be opened: Permission denied"):
        list(DirectoryLoader(unprivileged_folder / "root").list())


def test_a_missing_root_raises_a_source_error(tmp_path):
    with pytest.raises(SourceError, match="no-such-folder"):
        list(DirectoryLoader(tmp_path / "no-such-folder").list())


def test_a_root_may_be_a_single_file(tmp_path):
    write(tmp_path, "a.md", "b.md", "c.mp3")
    loader = DirectoryLoader(tmp_path / "a.md")
    (ref,) = loader.list()
    assert ref.key == "a.md"
    assert loader.read(ref).page_content == "This is a.md."
    assert list(skipped(DirectoryLoader(tmp_path / "c.mp3"))) == ["c.mp3"]


def test_an_empty_folder_lists_nothing(tmp_path):
    assert list(DirectoryLoader(tmp_path).list()) == []


def test_an_unreadable_file_does_not_affect_the_others(tmp_path):
    write(tmp_path, "a.md", "c.md", "d.mp3")
    (tmp_path / "b.pdf").write_bytes(b"not a pdf")
    (tmp_path / "e.txt").write_bytes(b"")
    loader, keys_read = DirectoryLoader(tmp_path), []
    for ref in loader.list():
        if isinstance(ref, DocumentRef):
            with contextlib.suppress(UnreadableError):
                keys_read.append(loader.read(ref).metadata["key"])
    assert keys_read == ["a.md", "c.md"]


@pytest.mark.slow
def test_fifty_megabytes_of_text_are_listed_and_read(tmp_path):
    line = "회의록은 매주 월요일에 공유합니다. Minutes are shared on Mondays.\n"
    (tmp_path / "big.txt").write_text(line * 700_000, encoding="cp949")
    loader = DirectoryLoader(tmp_path)
    (ref,) = loader.list()
    assert loader.read(ref).page_content.count("월요일") == 700_000


names = st.text(st.sampled_from("ab가é."), min_size=1, max_size=3).filter(lambda n: set(n) != {"."})


@given(st.sets(st.lists(names, min_size=1, max_size=3).map(tuple), max_size=8))
@settings(max_examples=examples(40), deadline=None)
def test_all_files_except_hidden_ones_are_listed(paths):
    with tempfile.TemporaryDirectory() as folder:
        files = set()
        for parts in paths:
            path = Path(folder, *parts[:-1], parts[-1] + ".md")
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("x")
            except OSError:  # a parent of this path is a file
                continue
            files.add("/".join(path.relative_to(folder).parts))
        expected = {p for p in files if not any(part.startswith(".") for part in p.split("/"))}
        assert keys(DirectoryLoader(Path(folder))) == sorted(expected)


def test_the_metadata_of_a_document_contains_the_modification_time(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("text")
    os.utime(path, (0, 1_795_255_200))
    loader = DirectoryLoader(tmp_path)
    [ref] = loader.list()
    assert loader.read(ref).metadata["modified_at"] == "2026-11-21T10:00:00Z"


@pytest.mark.parametrize("seconds", [1e15, -1e15, 1e300])
def test_impossible_modification_times_are_omitted(seconds):
    class File:
        def stat(self):
            return SimpleNamespace(st_mtime=seconds)

    assert _modified_at(File()) == {}


def test_a_loader_that_has_listed_nothing_reads_the_same_documents(tmp_path):
    (tmp_path / "a.md").write_text("# One\n\nThe first text.", encoding="utf-8")
    (tmp_path / "b.txt").write_text("The second text.", encoding="utf-8")
    listing = DirectoryLoader(tmp_path)
    assert listing.reads_without_listing
    for ref in listing.list():
        elsewhere = DirectoryLoader(tmp_path).read(ref)
        assert elsewhere == listing.read(ref)
        assert elsewhere.metadata["version"] == ref.version
