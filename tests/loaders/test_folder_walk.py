"""Folders with entries that nobody may look at, and what becomes of each entry."""

import errno
import os
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import DocumentRef, Skipped
from errors import SourceError, UnreadableError
from loaders.directory_loader import DirectoryLoader, FolderWalk, key_of
from loaders.globs import Globs
from services.imports.import_plan import plan
from storage.ledger.document_store import StoredVersion
from tests.fakes.permissions import permissions_hold


def write(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"This is " + os.fsencode(path.name))
    return path


def listed(root: Path, **options) -> dict[str, str]:
    """By key the reason of what is skipped, "" of what is listed."""
    found = DirectoryLoader(root, **options).list()
    return {one.key: one.reason if isinstance(one, Skipped) else "" for one in found}


@pytest.fixture
def root(tmp_path):
    """A folder to import, and `private` beside it, to be forbidden."""
    write(tmp_path / "root" / "a.md")
    write(tmp_path / "private" / "secret.md")
    with permissions_hold():
        yield tmp_path / "root"
    for folder in (tmp_path / "private", tmp_path / "root" / "sub", tmp_path / "root" / ".store"):
        if folder.exists():
            folder.chmod(0o700)


def forbid(path: Path) -> None:
    path.chmod(0)


@pytest.mark.parametrize("target", ["secret.md", "folder", "nothing.md", "a/b/c.md"])
def test_a_link_below_a_forbidden_folder_is_named_and_the_rest_is_listed(root, target):
    private = root.parent / "private"
    (root / "out.md").symlink_to(private / target)
    forbid(private)
    reason = "it can't be opened: Permission denied"
    assert listed(root) == {"a.md": "", "out.md": reason}


def test_such_a_link_is_named_even_where_no_pattern_asks_for_it(root):
    """It may stand where a folder stood, whose documents must not go for it."""
    private = root.parent / "private"
    (root / "docs").symlink_to(private / "docs")
    forbid(private)
    [link] = [one for one in DirectoryLoader(root, include=["*.md"]).list() if one.key == "docs"]
    assert (link.folder, link.is_error) == ("docs/", True)


def test_a_link_to_a_forbidden_folder_inside_is_quiet_for_the_folder_is_named(root):
    (root / "sub").mkdir()
    (root / "link").symlink_to(root / "sub")
    forbid(root / "sub")
    assert listed(root) == {"a.md": "", "sub/": "the folder can't be opened: Permission denied"}


def test_a_link_to_a_hidden_folder_that_was_forbidden_keeps_its_document(root):
    write(root / ".store" / "kept.md")
    (root / "kept.md").symlink_to(root / ".store" / "kept.md")
    assert listed(root) == {"a.md": "", "kept.md": ""}
    forbid(root / ".store")
    assert listed(root) == {"a.md": "", "kept.md": "it can't be opened: Permission denied"}


def test_a_folder_that_lists_but_can_not_be_entered_names_each_of_its_entries(root):
    write(root / "sub" / "b.md")
    write(root / "sub" / "deeper" / "c.md")
    (root / "sub" / "link.md").symlink_to("b.md")
    (root / "sub").chmod(0o600)
    found = listed(root)
    assert found == {
        "a.md": "",
        "sub/b.md": "the file can't be opened: Permission denied",
        "sub/deeper/": "the folder can't be opened: Permission denied",
        "sub/link.md": "it can't be opened: Permission denied",
    }


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO, errno.ENAMETOOLONG, errno.EACCES])
def test_a_link_that_the_system_can_not_follow_is_named_with_its_reason(
    tmp_path, monkeypatch, number
):
    write(tmp_path / "a.md")
    (tmp_path / "b.md").symlink_to("a.md")

    def fail(self, *, strict=False):
        raise OSError(number, os.strerror(number))

    walk = FolderWalk(tmp_path, Globs(["**/*"]), Globs([]))
    monkeypatch.setattr(Path, "resolve", fail)
    link = next(found for found in walk.entries() if found.key == "b.md")
    assert link.reason == f"it can't be opened: {os.strerror(number)}"
    assert link.may_be_folder


def test_an_entry_of_which_the_system_does_not_say_what_it_is_is_named(tmp_path, monkeypatch):
    class Entry:
        name, path = "odd", str(tmp_path / "odd")

        def is_dir(self, *, follow_symlinks):
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("loaders.directory_loader._entries", lambda folder: [Entry()])
    [found] = FolderWalk(tmp_path, Globs(["*.md"]), Globs([])).entries()
    assert found.key == "odd"
    assert found.reason == "it can't be opened: Input/output error"
    assert found.may_be_folder


def test_a_folder_that_vanishes_while_it_is_walked_is_named(tmp_path, monkeypatch):
    write(tmp_path / "a.md")
    write(tmp_path / "sub" / "b.md")
    true_scandir = os.scandir

    def scandir(path):
        if Path(path).name == "sub":
            raise FileNotFoundError(errno.ENOENT, "No such file or directory")
        return true_scandir(path)

    monkeypatch.setattr(os, "scandir", scandir)
    reason = "the folder can't be opened: No such file or directory"
    assert listed(tmp_path) == {"a.md": "", "sub/": reason}


def test_links_that_lead_nowhere_are_named(tmp_path):
    write(tmp_path / "a.md")
    (tmp_path / "gone.md").symlink_to("gone-too.md")
    (tmp_path / "through-a-file.md").symlink_to("a.md/b.md")
    (tmp_path / "one.md").symlink_to("two.md")
    (tmp_path / "two.md").symlink_to("one.md")
    found = listed(tmp_path)
    assert found.pop("a.md") == ""
    assert set(found.values()) == {"a broken link"}
    assert sorted(found) == ["gone.md", "one.md", "through-a-file.md", "two.md"]


def test_a_link_does_not_lead_into_what_is_left_out(tmp_path):
    write(tmp_path / "a.md")
    write(tmp_path / ".data" / "uploads" / "private.md")
    (tmp_path / "b.md").symlink_to(tmp_path / ".data" / "uploads" / "private.md")
    assert listed(tmp_path, excluded_folder=tmp_path / ".data") == {"a.md": ""}


def test_a_file_that_became_a_link_to_the_outside_is_unreadable_and_no_more(tmp_path):
    write(tmp_path / "secret.md")
    path = write(tmp_path / "root" / "a.md")
    loader = DirectoryLoader(tmp_path / "root")
    [ref] = loader.list()
    path.unlink()
    path.symlink_to(tmp_path / "secret.md")
    with pytest.raises(UnreadableError, match="not in the folder"):
        loader.read(ref)


def test_a_file_whose_folder_was_forbidden_after_listing_is_unreadable_and_no_more(root):
    write(root / "sub" / "b.md")
    loader = DirectoryLoader(root)
    ref = next(one for one in loader.list() if one.key == "sub/b.md")
    forbid(root / "sub")
    with pytest.raises(UnreadableError, match="Permission denied"):
        loader.read(ref)


@pytest.mark.parametrize("name", ["nul\0", "x" * 300, "loop"])
def test_a_root_that_can_be_no_path_is_a_source_error(tmp_path, name):
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
    """Make of it what can be made: a file may stand where a folder is wanted."""
    makers = {"file": write, "folder": lambda path: path.mkdir(parents=True), "pipe": os.mkfifo}
    made, links = tree
    for name, kind in made:
        with suppress(OSError):
            if not (root / name).exists():  # to write into a pipe would wait for a reader
                makers[kind](root / name)
    for name, target in links:
        with suppress(OSError):
            (root / name).symlink_to(target)


@contextmanager
def modes_of(root: Path, modes):
    """The tree with these modes, as its owner sees it; with its own again in the end."""
    there = [(root / name, mode) for name, mode in modes if not is_below_link(root, name)]
    before = [(path, path.stat().st_mode) for path, _ in there if os.path.exists(path)]
    for path, mode in there:
        if os.path.exists(path):
            path.chmod(mode)
    try:
        with permissions_hold():
            yield
    finally:
        for path, mode in before:
            path.chmod(mode)


def is_below_link(root: Path, name: str) -> bool:
    path = root / name
    return any(os.path.islink(one) for one in (path, *path.parents) if one != root.parent)


def entries_below(root: Path) -> list[Path]:
    return [
        Path(folder, name)
        for folder, folders, files in os.walk(root)
        for name in (*folders, *files)
    ]


def key(path: Path, root: Path) -> str:
    return key_of(PurePosixPath(path.relative_to(root)))


def is_let_in(path: Path, root: Path, include: Globs, exclude: Globs) -> bool:
    """Whether the rules let it in, were it a file; told anew, apart from the loader."""
    above = [one for one in (path, *path.parents) if one != root and one.is_relative_to(root)]
    if any(one.name.startswith((".", "~$")) or exclude.match(key(one, root)) for one in above):
        return False
    return include.match(key(path, root))


def is_link_to_what_is_walked(path: Path, root: Path, include: Globs, exclude: Globs) -> bool:
    if not (path.is_symlink() and os.path.exists(path)):
        return False
    target = path.resolve()
    is_inside = target.is_relative_to(root)
    return is_inside and (target.is_dir() or is_let_in(target, root, include, exclude))


@given(tree=TREES, modes=FORBIDDEN, include=INCLUDES, exclude=EXCLUDES)
@settings(max_examples=200, deadline=None)
def test_each_entry_of_any_tree_is_listed_or_skipped_or_left_out_by_a_rule(
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
            if is_let_in(path, *rules)
            and (path.is_symlink() or not path.is_dir())
            and not is_link_to_what_is_walked(path, *rules)
        ]
        loader = DirectoryLoader(root, include=include, exclude=exclude)
        before = [one for one in loader.list() if isinstance(one, DocumentRef)]
        with modes_of(root, modes):
            found = list(loader.list())
        skipped = [one for one in found if isinstance(one, Skipped)]
        assert all(one.reason for one in skipped)
        "".join(one.key + one.location for one in found).encode("utf-8")
        told = {one.key for one in found}
        hidden = tuple(one.folder for one in skipped if one.folder)
        for path in expected:
            assert key(path, root) in told or f"{key(path, root)}/".startswith(hidden)
        assert removed(before, found) == []


def removed(before: list[DocumentRef], found) -> list[str]:
    """What an import would take out of the library that holds what was listed `before`."""
    known = {ref.key: StoredVersion(ref.key, ref.version, 1, 1, ref.location) for ref in before}
    made = plan(found, known, {}, formats_version=1, confirm_removals=True)
    return [document_id for document_id, _ in made.removals]
