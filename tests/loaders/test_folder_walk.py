"""Folders whose entries can't be accessed."""

import errno
import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import DocumentRef, Skipped
from domain.errors import SourceError, UnreadableError
from loaders.directory_loader import DirectoryLoader, FolderWalk, Globs, key_of
from services.imports.import_plan import Planner
from storage.ledger.document_store import StoredVersion
from tests.fakes.permissions import enforced_permissions
from tests.quick import examples


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"This is " + os.fsencode(path.name))
    return path


def reasons_by_key(root: Path, **options) -> dict[str, str]:
    """The reason for which each entry is skipped; empty for listed entries."""
    entries = DirectoryLoader(root, **options).list()
    return {entry.key: entry.reason if isinstance(entry, Skipped) else "" for entry in entries}


@pytest.fixture
def root(tmp_path):
    """A folder to import, next to a folder `private`."""
    write(tmp_path / "root" / "a.md")
    write(tmp_path / "private" / "secret.md")
    with enforced_permissions():
        yield tmp_path / "root"
    for folder in (tmp_path / "private", tmp_path / "root" / "sub", tmp_path / "root" / ".store"):
        if folder.exists():
            folder.chmod(0o700)


def forbid(path: Path) -> None:
    path.chmod(0)


@pytest.mark.parametrize("target", ["secret.md", "folder", "nothing.md", "a/b/c.md"])
def test_a_link_into_a_forbidden_folder_is_skipped_with_a_reason(root, target):
    private = root.parent / "private"
    (root / "out.md").symlink_to(private / target)
    forbid(private)
    reason = "it can't be opened: Permission denied"
    assert reasons_by_key(root) == {"a.md": "", "out.md": reason}


def test_a_link_into_a_forbidden_folder_is_reported_whatever_the_patterns(root):
    """It may replace a folder, whose documents must not be removed."""
    private = root.parent / "private"
    (root / "docs").symlink_to(private / "docs")
    forbid(private)
    entries = DirectoryLoader(root, include=["*.md"]).list()
    [link] = [entry for entry in entries if entry.key == "docs"]
    assert (link.folder, link.is_error) == ("docs/", True)


def test_a_forbidden_folder_is_reported_but_not_a_link_to_it(root):
    (root / "sub").mkdir()
    (root / "link").symlink_to(root / "sub")
    forbid(root / "sub")
    assert reasons_by_key(root) == {
        "a.md": "",
        "sub/": "the folder can't be opened: Permission denied",
    }


def test_a_link_into_a_hidden_folder_is_reported_once_the_folder_is_forbidden(root):
    write(root / ".store" / "linked.md")
    (root / "linked.md").symlink_to(root / ".store" / "linked.md")
    assert reasons_by_key(root) == {"a.md": "", "linked.md": ""}
    forbid(root / ".store")
    assert reasons_by_key(root) == {
        "a.md": "",
        "linked.md": "it can't be opened: Permission denied",
    }


def test_each_entry_of_a_folder_without_search_permission_is_reported(root):
    write(root / "sub" / "b.md")
    write(root / "sub" / "deeper" / "c.md")
    (root / "sub" / "link.md").symlink_to("b.md")
    (root / "sub").chmod(0o600)
    assert reasons_by_key(root) == {
        "a.md": "",
        "sub/b.md": "the file can't be opened: Permission denied",
        "sub/deeper/": "the folder can't be opened: Permission denied",
        "sub/link.md": "it can't be opened: Permission denied",
    }


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO, errno.ENAMETOOLONG, errno.EACCES])
def test_a_link_that_fails_to_resolve_is_skipped_with_the_reason(tmp_path, monkeypatch, number):
    write(tmp_path / "a.md")
    (tmp_path / "b.md").symlink_to("a.md")

    def fail(self, *, strict=False):
        raise OSError(number, os.strerror(number))

    walk = FolderWalk(tmp_path, Globs(["**/*"]), Globs([]))
    monkeypatch.setattr(Path, "resolve", fail)
    link = next(entry for entry in walk.entries() if entry.key == "b.md")
    assert link.reason == f"it can't be opened: {os.strerror(number)}"
    assert link.may_be_folder


def test_an_entry_of_unknown_type_is_skipped_with_the_reason(tmp_path, monkeypatch):
    class Entry:
        name, path = "odd", str(tmp_path / "odd")

        def is_dir(self, *, follow_symlinks):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("loaders.directory_loader._entries", lambda folder: [Entry()])
    [entry] = FolderWalk(tmp_path, Globs(["*.md"]), Globs([])).entries()
    assert entry.key == "odd"
    assert entry.reason == "it can't be opened: Input/output error"
    assert entry.may_be_folder


def test_a_folder_removed_during_the_walk_is_reported(tmp_path, monkeypatch):
    write(tmp_path / "a.md")
    write(tmp_path / "sub" / "b.md")
    original_scandir = os.scandir

    def scandir(path):
        if Path(path).name == "sub":
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return original_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    reason = "the folder can't be opened: No such file or directory"
    assert reasons_by_key(tmp_path) == {"a.md": "", "sub/": reason}


def test_broken_links_are_reported(tmp_path):
    write(tmp_path / "a.md")
    (tmp_path / "missing.md").symlink_to("also-missing.md")
    (tmp_path / "through-a-file.md").symlink_to("a.md/b.md")
    (tmp_path / "one.md").symlink_to("two.md")
    (tmp_path / "two.md").symlink_to("one.md")
    reasons = reasons_by_key(tmp_path)
    assert reasons.pop("a.md") == ""
    assert set(reasons.values()) == {"a broken link"}
    assert sorted(reasons) == ["missing.md", "one.md", "through-a-file.md", "two.md"]


def test_links_into_the_excluded_folder_are_ignored(tmp_path):
    write(tmp_path / "a.md")
    write(tmp_path / ".data" / "uploads" / "private.md")
    (tmp_path / "b.md").symlink_to(tmp_path / ".data" / "uploads" / "private.md")
    assert reasons_by_key(tmp_path, excluded_folder=tmp_path / ".data") == {"a.md": ""}


def test_a_file_replaced_by_a_link_to_the_outside_is_unreadable(tmp_path):
    write(tmp_path / "secret.md")
    path = write(tmp_path / "root" / "a.md")
    loader = DirectoryLoader(tmp_path / "root")
    [ref] = loader.list()
    path.unlink()
    path.symlink_to(tmp_path / "secret.md")
    with pytest.raises(UnreadableError, match="not in the folder"):
        loader.read(ref)


def test_a_file_in_a_folder_forbidden_after_listing_is_unreadable(root):
    write(root / "sub" / "b.md")
    loader = DirectoryLoader(root)
    ref = next(entry for entry in loader.list() if entry.key == "sub/b.md")
    forbid(root / "sub")
    with pytest.raises(UnreadableError, match="Permission denied"):
        loader.read(ref)


@pytest.mark.parametrize("name", ["nul\0", "x" * 300, "loop"])
def test_an_impossible_root_raises_a_source_error(tmp_path, name):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(SourceError):
        list(DirectoryLoader(tmp_path / name).list())


NAMES = st.sampled_from(["a.md", "b.md", "c", ".h", "~$o.md", "e.exe", "é.md", "line\nend.md"])
ODD_NAMES = st.sampled_from([os.fsdecode(b"\xb0\xa1.md"), os.fsdecode(b"\xff")])
PATHS = st.lists(NAMES | ODD_NAMES, min_size=1, max_size=3).map(lambda parts: "/".join(parts))
KINDS = st.sampled_from(["file", "folder", "pipe"])
TARGETS = PATHS | st.sampled_from(
    [".", "..", "/", "../private/x", "/root", "/nowhere/at/all", "x" * 300, "/proc/1/root"]
)
MODES = st.sampled_from([0, 0o100, 0o200, 0o400, 0o600, 0o700])


TREES = st.tuples(
    st.lists(st.tuples(PATHS, KINDS), max_size=8), st.lists(st.tuples(PATHS, TARGETS), max_size=5)
)
FORBIDDEN = st.lists(st.tuples(PATHS, MODES), max_size=4)
INCLUDES = st.sampled_from([("**/*",), ("*.md",)])
EXCLUDES = st.sampled_from([(), ("b.md",)])


def build(root: Path, tree) -> None:
    """Create the entries as far as possible: a parent of a path may be a file."""
    makers = {"file": write, "folder": lambda path: path.mkdir(parents=True), "pipe": os.mkfifo}
    entries, links = tree
    for name, kind in entries:
        with suppress(OSError):
            if not (root / name).exists():  # writing to a pipe would wait for a reader
                makers[kind](root / name)
    for name, target in links:
        link = root / name
        with suppress(OSError):
            if Path(os.path.realpath(link.parent)).is_relative_to(root):  # not in a link's target
                link.symlink_to(target)


@contextmanager
def apply_modes(root: Path, modes):
    """Set the modes of paths below the root, and restore them at the end."""
    changes = [(root / name, mode) for name, mode in modes if not is_below_link(root, name)]
    before = [(path, path.stat().st_mode) for path, _ in changes if os.path.exists(path)]
    for path, mode in changes:
        if os.path.exists(path):
            path.chmod(mode)
    try:
        with enforced_permissions():
            yield
    finally:
        for path, mode in sorted(before):  # parents first
            path.chmod(mode)


def is_below_link(root: Path, name: str) -> bool:
    path = root / name
    return any(os.path.islink(part) for part in (path, *path.parents) if part != root.parent)


def entries_below(root: Path) -> list[Path]:
    return [
        Path(folder, name)
        for folder, folders, files in os.walk(root)
        for name in (*folders, *files)
    ]


def key(path: Path, root: Path) -> str:
    return key_of(PurePosixPath(path.relative_to(root)))


def is_included(path: Path, root: Path, include: Globs, exclude: Globs) -> bool:
    """Whether the rules include the path if it is a file, independently of the loader's code."""
    parts = [part for part in (path, *path.parents) if part != root and part.is_relative_to(root)]
    if any(part.name.startswith((".", "~$")) or exclude.match(key(part, root)) for part in parts):
        return False
    return include.match(key(path, root))


def is_link_to_listed_entry(path: Path, root: Path, include: Globs, exclude: Globs) -> bool:
    if not (path.is_symlink() and os.path.exists(path)):
        return False
    target = path.resolve()
    is_inside = target.is_relative_to(root)
    return is_inside and (target.is_dir() or is_included(target, root, include, exclude))


@given(tree=TREES, modes=FORBIDDEN, include=INCLUDES, exclude=EXCLUDES)
@settings(max_examples=examples(200), deadline=None)
def test_every_entry_of_a_tree_is_listed_skipped_or_excluded_by_a_rule(
    tree, modes, include, exclude
):
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "root"
        root.mkdir()
        (root.parent / "private").mkdir(mode=0)
        build(root, tree)
        rules = (root, Globs(include), Globs(exclude))
        expected = [
            path
            for path in entries_below(root)
            if is_included(path, *rules)
            and (path.is_symlink() or not path.is_dir())
            and not is_link_to_listed_entry(path, *rules)
        ]
        loader = DirectoryLoader(root, include=include, exclude=exclude)
        before = [entry for entry in loader.list() if isinstance(entry, DocumentRef)]
        with apply_modes(root, modes):
            entries = list(loader.list())
        skipped = [entry for entry in entries if isinstance(entry, Skipped)]
        assert all(entry.reason for entry in skipped)
        "".join(entry.key + entry.location for entry in entries).encode("utf-8")
        keys = {entry.key for entry in entries}
        hidden = tuple(entry.folder for entry in skipped if entry.folder)
        for path in expected:
            assert key(path, root) in keys or f"{key(path, root)}/".startswith(hidden)
        assert removals(before, entries) == []


def removals(before: list[DocumentRef], entries) -> list[str]:
    """The documents that an import of these entries would remove if `before` were imported."""
    known = {ref.key: StoredVersion(ref.key, ref.version, 1, 1, ref.location) for ref in before}
    planner = Planner(stored=known, failures={}, formats_version=1, confirm_removals=True)
    return [document_id for document_id, _ in planner.plan(entries).removals]
