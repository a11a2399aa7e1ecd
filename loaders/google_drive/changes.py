"""What has changed in a Drive since a listing, by the change logs of the user and the drives."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from loaders.google_drive.calls import DriveCalls, File
from loaders.google_drive.kinds import FOLDER, SHORTCUT
from loaders.google_drive.tree import Tree


@dataclass(slots=True)
class News:
    """What has changed: `files` by id as they are now, None for those that are not to be seen.

    `drives` are the shared drives that changed by their id, with the name they have now; None
    where they are no longer there. `tokens` are from where to ask next.
    """

    files: dict[str, File | None] = field(default_factory=dict)
    drives: dict[str, str | None] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def take(self, change: Mapping[str, Any]) -> None:
        """Take one change in; what one log tells of a file is not lost for another's silence.

        A file that moves from one log to another is removed in the first, and there in the second.
        """
        if change.get("changeType") == "drive":
            removed = bool(change.get("removed"))
            self.drives[change["driveId"]] = None if removed else change["drive"]["name"]
        elif change.get("file") is not None:
            self.files[change["fileId"]] = change["file"]
        elif change.get("removed"):
            self.files.setdefault(change["fileId"], None)

    def shows_folders(self) -> bool:
        """Whether a folder or shared drive has changed that can be seen, wherever it is."""
        told = (file for file in self.files.values() if file is not None)
        is_drive = any(name is not None for name in self.drives.values())
        return is_drive or any(
            file["mimeType"] == FOLDER and not file.get("trashed") for file in told
        )

    def is_of_folders(self, tree: Tree) -> bool:
        """Whether what is below something has changed: only a whole listing tells what."""
        return any(_is_drive_other(tree, *one) for one in self.drives.items()) or any(
            _moves_others(tree, *one) for one in self.files.items()
        )


def news_of(calls: DriveCalls, tokens: Mapping[str, str]) -> News:
    """What has changed since the tokens, by shared drive; "" is the user's.

    Raises:
        StaleTokenError: One of them is no longer known.
    """
    news = News()
    for drive_id, token in tokens.items():
        for changes, then in calls.changes(token, drive_id):
            for change in changes:
                news.take(change)
            news.tokens[drive_id] = then
    return news


def _is_drive_other(tree: Tree, drive_id: str, name: str | None) -> bool:
    folder = tree.folders.get(drive_id)
    return name is None or (folder is not None and folder.name != name)


def _moves_others(tree: Tree, key: str, file: File | None) -> bool:
    """Whether a folder or a shortcut has come, is another now, or has gone."""
    if key in tree.outer:
        return True
    if key not in tree.folders and key not in tree.shortcuts:
        is_other = file is not None and file["mimeType"] in {FOLDER, SHORTCUT}
        return is_other and not _is_outside(tree, file)
    if file is None or file.get("trashed"):
        return True
    if key in tree.folders:
        folder = tree.folders[key]
        return (file["name"], tuple(file.get("parents", ()))) != (folder.name, folder.parents)
    shortcut = tree.shortcuts[key]
    now = (file["shortcutDetails"]["targetId"], tree.above(file) or None)
    return now != (shortcut.target, shortcut.folder)


def _is_outside(tree: Tree, file: File | None) -> bool:
    return file is None or bool(file.get("trashed")) or tree.above(file) is None
