"""Where a Drive's files are: the folders that are imported, and the shortcuts in them."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from loaders.google_drive.wanted import DriveScope, DriveWanted

Path = tuple[str, ...]
"""The names of folders, the topmost first."""


class Folder(NamedTuple):
    """A folder: `above` is that through which it is imported, if any; `parents` Drive tells."""

    name: str
    above: str | None
    parents: tuple[str, ...]


class Shortcut(NamedTuple):
    """A shortcut to the file or folder `target`, in `folder`; None: it was given by itself."""

    target: str
    folder: str | None


@dataclass(slots=True)
class Tree:
    """What is imported: folders with all that is in them, whole shared drives, single files.

    `outer` are the ids of folders above these that are not imported: what befalls those, such as
    the trash, befalls what is in them, and Drive tells it of those alone.
    """

    folders: dict[str, Folder] = field(default_factory=dict)
    shortcuts: dict[str, Shortcut] = field(default_factory=dict)
    drives: frozenset[str] = frozenset()
    singles: frozenset[str] = frozenset()
    outer: set[str] = field(default_factory=set)
    _paths: dict[str, Path] = field(default_factory=dict)
    _targets: dict[str, list[str]] = field(default_factory=dict)

    def add(self, folder_id: str, name: str, above: str | None, parents: Sequence[str]) -> bool:
        """Add a folder; False, and nothing is done, where it is there: thus cycles end."""
        if folder_id in self.folders:
            return False
        self.folders[folder_id] = Folder(name, above, tuple(parents))
        self._paths[folder_id] = (*self._paths.get(above or "", ()), name)
        return True

    def add_shortcut(self, shortcut_id: str, shortcut: Shortcut) -> None:
        """Add a shortcut: its target is in its folder, unless it has a place of its own."""
        self.shortcuts[shortcut_id] = shortcut
        self._targets.setdefault(shortcut.target, []).append(shortcut.folder or "")

    def path(self, folder_id: str | None) -> Path:
        """The names of the folders down to this one; of none where nothing is above."""
        return self._paths.get(folder_id or "", ())

    def above(self, file: Mapping[str, Any]) -> str | None:
        """The folder in which a file is imported: of several that nearest the top.

        `""` where it was given by itself. None where it is not among what is imported.
        """
        if file["id"] in self.singles:  # even where a shortcut leads to a folder that it is in
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
        """What `of_json` takes; without what was given by itself."""
        return {
            "folders": [[key, *folder] for key, folder in self.folders.items()],
            "shortcuts": [[key, *shortcut] for key, shortcut in self.shortcuts.items()],
            "outer": sorted(self.outer),
        }

    @classmethod
    def of_json(
        cls, told: Mapping[str, Any], drives: frozenset[str], singles: frozenset[str]
    ) -> "Tree":
        """The tree of an earlier import."""
        tree = cls(drives=drives, singles=singles, outer=set(told["outer"]))
        for key, name, above, parents in told["folders"]:  # those above others come before them
            tree.add(key, name, above, parents)
        for key, *shortcut in told["shortcuts"]:
            tree.add_shortcut(key, Shortcut(*shortcut))
        return tree


def empty_tree(wanted: DriveWanted) -> Tree:
    """The tree before anything was looked at."""
    drives = wanted.ids if wanted.scope is DriveScope.DRIVES else ()
    singles = wanted.ids if wanted.scope is DriveScope.FILES else ()
    return Tree(drives=frozenset(drives), singles=frozenset(singles))


def version_of(file: Mapping[str, Any], path: Path) -> str:
    """Another for other bytes, another name and other folders; the same whatever else changes.

    Google's own documents have no checksum: the moment of their last change stands for it.
    """
    content = file.get("md5Checksum") or file.get("modifiedTime", "")
    shown = "\0".join((file["mimeType"], file["name"], *path))
    return f"{content}/{hashlib.sha256(shown.encode('utf-8', 'replace')).hexdigest()[:16]}"
