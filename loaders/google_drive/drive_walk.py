"""A full walk through the selected parts of a Drive, and the folder tree that it finds."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, NamedTuple

from domain import Skipped
from domain.errors import SourceError
from domain.messages import _
from loaders.google_drive.drive_calls import DriveCalls, File
from loaders.google_drive.drive_errors import NotVisibleError
from loaders.google_drive.drive_selection import (
    FOLDER,
    SHORTCUT,
    DriveScope,
    DriveSelection,
    link_of,
)

Path = tuple[str, ...]
"""The names of folders, the topmost first."""


class Folder(NamedTuple):
    """A folder: `above` is the folder through which it is imported, `parents` are Drive's."""

    name: str
    above: str | None
    parents: tuple[str, ...]


class Shortcut(NamedTuple):
    """A shortcut in `folder` to the file or folder `target`; None: it was selected itself."""

    target: str
    folder: str | None


@dataclass(slots=True)
class Tree:
    """The imported items: folders with all their contents, whole shared drives, and files.

    `outer` are the ids of folders above these that are not imported: if one of them is moved, for
    example to the trash, its contents move too, but Drive reports only the folder itself.
    """

    folders: dict[str, Folder] = field(default_factory=dict)
    shortcuts: dict[str, Shortcut] = field(default_factory=dict)
    drives: frozenset[str] = frozenset()
    singles: frozenset[str] = frozenset()
    outer: set[str] = field(default_factory=set)
    _paths: dict[str, Path] = field(default_factory=dict)
    _targets: dict[str, list[str]] = field(default_factory=dict)

    def add(self, folder_id: str, name: str, above: str | None, parents: Sequence[str]) -> bool:
        """Add a folder; return False, without changes, if it is already there, to end cycles."""
        if folder_id in self.folders:
            return False
        self.folders[folder_id] = Folder(name, above, tuple(parents))
        self._paths[folder_id] = (*self._paths.get(above or "", ()), name)
        return True

    def add_shortcut(self, shortcut_id: str, shortcut: Shortcut) -> None:
        """Add a shortcut; its target is in the same folder unless it is elsewhere in the tree."""
        self.shortcuts[shortcut_id] = shortcut
        self._targets.setdefault(shortcut.target, []).append(shortcut.folder or "")

    def path(self, folder_id: str | None) -> Path:
        """The names of the folders down to this one; empty for None."""
        return self._paths.get(folder_id or "", ())

    def above(self, file: Mapping[str, Any]) -> str | None:
        """The folder in which a file is imported; if there are several, the one nearest the top.

        `""` for an item that was selected itself; None if the file is not imported.
        """
        if file["id"] in self.singles:  # even if a shortcut leads to its folder
            return ""
        parents: list[str] = [one for one in file.get("parents", ()) if one in self.folders]
        if parents:
            return min(parents, key=self._order)
        if file.get("driveId") in self.drives:
            return str(file["driveId"])
        return min(self._targets.get(file["id"], ()), key=self._order, default=None)

    def _order(self, folder_id: str) -> tuple[int, Path, str]:
        path = self.path(folder_id)
        return len(path), path, folder_id

    def as_json(self) -> dict[str, Any]:
        """The tree as JSON for `of_json`, without the selected drives and files."""
        return {
            "folders": [[key, *folder] for key, folder in self.folders.items()],
            "shortcuts": [[key, *shortcut] for key, shortcut in self.shortcuts.items()],
            "outer": sorted(self.outer),
        }

    @classmethod
    def of_json(
        cls, values: Mapping[str, Any], drives: frozenset[str], singles: frozenset[str]
    ) -> "Tree":
        """Restore the tree of an earlier import."""
        tree = cls(drives=drives, singles=singles, outer=set(values["outer"]))
        for key, name, above, parents in values["folders"]:  # outer folders come first
            tree.add(key, name, above, parents)
        for key, *shortcut in values["shortcuts"]:
            tree.add_shortcut(key, Shortcut(*shortcut))
        return tree


def empty_tree(selection: DriveSelection) -> Tree:
    """The tree before the walk: only the selected drives or files."""
    drives = selection.ids if selection.scope is DriveScope.DRIVES else ()
    singles = selection.ids if selection.scope is DriveScope.FILES else ()
    return Tree(drives=frozenset(drives), singles=frozenset(singles))


def version_of(file: Mapping[str, Any], path: Path) -> str:
    """A version that changes only with the bytes, the name, and the folders of a file.

    Google's own documents have no checksum; the time of their last change is used instead.
    """
    content = file.get("md5Checksum") or file.get("modifiedTime", "")
    displayed = "\0".join((file["mimeType"], file["name"], *path))
    return f"{content}/{hashlib.sha256(displayed.encode('utf-8', 'replace')).hexdigest()[:16]}"


_AT_ONCE = 8  # folders per query; with more, the URL exceeds 2,048 characters
_NO_FOLDERS = f"mimeType != '{FOLDER}' and trashed = false"
_FOLDERS = f"mimeType = '{FOLDER}' and trashed = false"


class Walk:
    """One walk; `tree` and `tokens` are complete when `files` has ended.

    `tokens` contain, for the user ("") and each shared drive, the point from which to request
    changes later. Each is requested before anything in that drive is read.
    """

    def __init__(self, calls: DriveCalls, selection: DriveSelection, invite: str) -> None:
        """Create a walk; `invite` is the advice to users about items that are not visible."""
        self._calls = calls
        self._selection = selection
        self._invite = invite
        self.tree = empty_tree(selection)
        self.tokens: dict[str, str] = {}
        self._seen: set[str] = set()
        self._shortcuts: dict[str, File] = {}

    def files(self) -> Iterator[File | Skipped]:
        """Yield every file once, but no folders or shortcuts; invisible items are `Skipped`.

        Raises:
            SourceError: A selected folder or shared drive is not visible.
        """
        self.tokens[""] = self._calls.start_token()
        ways = {
            DriveScope.FOLDERS: self._of_folders,
            DriveScope.FILES: self._of_singles,
            DriveScope.DRIVES: self._of_drives,
        }
        yield from self._once(ways[self._selection.scope]())
        yield from self._once(self._behind_shortcuts())

    def _once(self, files: Iterable[File | Skipped]) -> Iterator[File | Skipped]:
        for file in files:
            if isinstance(file, Skipped):
                yield file
            elif file["id"] not in self._seen:
                self._seen.add(file["id"])
                yield file

    def _of_folders(self) -> Iterator[File | Skipped]:
        roots = [self._root(folder_id) for folder_id in self._selection.ids]
        for root in roots:
            self.tree.add(root["id"], root["name"], None, root.get("parents", ()))
            self._climb(root)
        yield from self._below(roots)

    def _of_singles(self) -> Iterator[File | Skipped]:
        for file_id in self._selection.ids:
            try:
                file = self._look_up(file_id)
            except NotVisibleError:
                yield not_visible(file_id, self._invite)
                continue
            if file["mimeType"] == FOLDER:
                reason = _("{name} is a folder: import it as a folder, not as a file").format(
                    name=file["name"]
                )
                yield Skipped(file_id, link_of(file), reason, title=file["name"])
            elif file["mimeType"] == SHORTCUT:
                self._note(file, None)
            else:
                self._climb(file)
                yield file

    def _of_drives(self) -> Iterator[File | Skipped]:
        for drive_id in self._selection.ids:
            try:
                self.tokens[drive_id] = self._calls.start_token(drive_id)
                name = self._calls.drive_name(drive_id)
            except NotVisibleError as error:
                raise SourceError(
                    _(
                        "The shared drive {drive_id} is not visible to this account: {invite}"
                    ).format(drive_id=drive_id, invite=self._invite)
                ) from error
            self.tree.add(drive_id, name, None, ())
            self._add_folders(list(self._calls.files(_FOLDERS, drive_id)))
            for file in self._calls.files(_NO_FOLDERS, drive_id):
                if file["mimeType"] == SHORTCUT:
                    self._note(file, self.tree.above(file))
                else:
                    yield file

    def _add_folders(self, folders: Sequence[File]) -> None:
        """Add the folders of a shared drive, parents first; Drive lists them in arbitrary order.

        If the parent of a folder is not visible to this account, it is put directly below the
        drive.
        """
        while folders:
            known = self.tree.folders.keys()
            near = [one for one in folders if not known.isdisjoint(one.get("parents", ()))]
            for folder in near or folders:
                self._add(folder)
            folders = [one for one in folders if one["id"] not in self.tree.folders]

    def _add(self, folder: File) -> bool:
        above = self.tree.above(folder) or None
        return self.tree.add(folder["id"], folder["name"], above, folder.get("parents", ()))

    def _root(self, folder_id: str) -> File:
        """A selected folder, which may be selected by a shortcut to it."""
        try:
            root = self._look_up(folder_id)
            if root["mimeType"] == SHORTCUT:
                root = self._look_up(root["shortcutDetails"]["targetId"])
        except NotVisibleError as error:
            raise SourceError(
                _("The folder {folder_id} is not visible to this account: {invite}").format(
                    folder_id=folder_id, invite=self._invite
                )
            ) from error
        if root["mimeType"] != FOLDER:
            raise SourceError(
                _("{name} is a file, not a folder: import it as a file.").format(name=root["name"])
            )
        if root.get("trashed"):
            raise SourceError(
                _("The folder {name} is in the trash: restore it, or delete this source.").format(
                    name=root["name"]
                )
            )
        if root["id"] == root.get("driveId"):  # the root of a shared drive, which is named "Drive"
            return root | {"name": self._calls.drive_name(root["id"])}
        return root

    def _look_up(self, file_id: str) -> File:
        """A file, read after requesting the change token of its shared drive."""
        file = self._calls.file(file_id)
        drive_id = file.get("driveId", "")
        if not drive_id or drive_id in self.tokens:
            return file
        try:
            self.tokens[drive_id] = self._calls.start_token(drive_id)
        except NotVisibleError:  # not a member: the user's change log reports it
            return file
        return self._calls.file(file_id)

    def _climb(self, file: File) -> None:
        """Note the visible folders above that are not imported."""
        above = list(file.get("parents", ()))
        while above:
            folder_id = above.pop()
            noted = (self.tree.folders, self.tree.outer, self.tokens)  # tokens: by drive id
            if not any(folder_id in one for one in noted):
                self.tree.outer.add(folder_id)
                above += self._parents(folder_id)

    def _parents(self, folder_id: str) -> Sequence[str]:
        try:
            parents: Sequence[str] = self._calls.file(folder_id).get("parents", ())
        except NotVisibleError:  # no longer visible: reported as a change
            return ()
        return parents

    def _below(self, level: list[File]) -> Iterator[File | Skipped]:
        """Yield the files in and below these folders, level by level to keep paths stable."""
        while level:
            folders: list[File] = []
            for file in self._in(level):
                if file["mimeType"] == FOLDER:
                    folders.append(file)
                elif file["mimeType"] == SHORTCUT:
                    self._note(file, self.tree.above(file))
                else:
                    yield file
            level = [folder for folder in folders if self._add(folder)]

    def _in(self, folders: Sequence[File]) -> Iterator[File]:
        """Yield everything directly in these folders, with as few calls as possible."""
        for drive_id, group in groupby(sorted(folders, key=self._drive), key=self._drive):
            ids = [folder["id"] for folder in group]
            for start in range(0, len(ids), _AT_ONCE):
                yield from self._children(ids[start : start + _AT_ONCE], drive_id)

    def _children(self, ids: Sequence[str], drive_id: str) -> Iterator[File]:
        """Like `_in`; if a folder disappears, Drive rejects the query, so each is queried alone."""
        parents = " or ".join(f"'{one}' in parents" for one in ids)
        try:
            yield from self._calls.files(f"({parents}) and trashed = false", drive_id)
        except NotVisibleError:
            for one in ids if len(ids) > 1 else ():
                yield from self._children([one], drive_id)

    def _drive(self, file: File) -> str:
        """The file's shared drive if this account is a member; only members may query it."""
        drive_id = str(file.get("driveId", ""))
        return drive_id if drive_id in self.tokens else ""

    def _note(self, file: File, folder: str | None) -> None:
        target = file["shortcutDetails"]["targetId"]
        self.tree.add_shortcut(file["id"], Shortcut(target, folder))
        self._shortcuts[file["id"]] = file

    def _behind_shortcuts(self) -> Iterator[File | Skipped]:
        """Yield targets of shortcuts that were not found otherwise; they may contain shortcuts."""
        followed: set[str] = set()
        while waiting := [one for key, one in self._shortcuts.items() if key not in followed]:
            # Folders first: files in them belong there, even if shortcuts lead to the files.
            folders = [
                one for one in waiting if one["shortcutDetails"].get("targetMimeType") == FOLDER
            ]
            for shortcut in sorted(folders or waiting, key=self._nearest):
                followed.add(shortcut["id"])
                target = shortcut["shortcutDetails"]["targetId"]
                if target not in self._seen and target not in self.tree.folders:
                    yield from self._behind(shortcut, target)

    def _behind(self, shortcut: File, target: str) -> Iterator[File | Skipped]:
        try:
            file = self._look_up(target)
        except NotVisibleError:
            yield _skipped(
                shortcut,
                _("its target is not visible to this account: {invite}").format(
                    invite=self._invite
                ),
            )
            return
        if file.get("trashed"):
            yield _skipped(shortcut, _("its target is in the trash"))
            return
        self._climb(file)
        if file["mimeType"] == FOLDER:
            self._add(file)
            yield from self._below([file])
        elif file["mimeType"] != SHORTCUT:  # Drive has no shortcuts to shortcuts
            yield file

    def _nearest(self, shortcut: File) -> tuple[int, str]:
        """Sort key for the order in which shortcuts are followed, which is always the same."""
        return len(self.tree.path(self.tree.shortcuts[shortcut["id"]].folder)), shortcut["id"]


def not_visible(file_id: str, invite: str) -> Skipped:
    """The entry for a selected file that is not visible."""
    return Skipped(
        file_id, file_id, _("not visible to this account: {invite}").format(invite=invite)
    )


def _skipped(shortcut: File, why: str) -> Skipped:
    name = shortcut["name"]
    reason = _("the shortcut {name} is not followed: {why}").format(name=name, why=why)
    return Skipped(shortcut["id"], link_of(shortcut), reason, is_error=False, title=name)
