"""One listing of a Drive: full, or only the changes in its change logs since the cursor."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from domain import Cursor, DocumentRef, ListingEntry, NewOptions, PreviousImport, Removed, Skipped
from domain.messages import _
from loaders.google_drive.drive_calls import DriveCalls, File
from loaders.google_drive.drive_errors import NotVisibleError, StaleTokenError
from loaders.google_drive.drive_permissions import DrivePermissions
from loaders.google_drive.drive_selection import (
    FOLDER,
    SHORTCUT,
    DriveSelection,
    is_withheld,
    kind_of,
    link_of,
    too_large,
)
from loaders.google_drive.drive_walk import Tree, Walk, empty_tree, not_visible, version_of


@dataclass(slots=True)
class DriveChanges:
    """Changes: `files` maps ids to the current file, or to None if it is no longer visible.

    `drives` maps the ids of changed shared drives to their current names, or to None if they are no
    longer visible. `tokens` are for the next request.
    """

    files: dict[str, File | None] = field(default_factory=dict)
    drives: dict[str, str | None] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def take(self, change: Mapping[str, Any]) -> None:
        """Add one change; a removal in one log does not hide a file that another log reports.

        A file that moves from one log to another is removed in the first and present in the second.
        """
        if change.get("changeType") == "drive":
            removed = bool(change.get("removed"))
            self.drives[change["driveId"]] = None if removed else change["drive"]["name"]
        elif change.get("file") is not None:
            self.files[change["fileId"]] = change["file"]
        elif change.get("removed"):
            self.files.setdefault(change["fileId"], None)

    def shows_folders(self) -> bool:
        """Whether any visible folder or shared drive has changed, even outside the selection."""
        files = (file for file in self.files.values() if file is not None)
        is_drive = any(name is not None for name in self.drives.values())
        return is_drive or any(
            file["mimeType"] == FOLDER and not file.get("trashed") for file in files
        )

    def is_of_folders(self, tree: Tree) -> bool:
        """Whether the tree has changed, which requires a full listing."""
        return any(_is_drive_other(tree, *one) for one in self.drives.items()) or any(
            _moves_others(tree, *one) for one in self.files.items()
        )


def changes_since(calls: DriveCalls, tokens: Mapping[str, str]) -> DriveChanges:
    """The changes since the tokens, which are by shared drive; "" stands for the user's own drive.

    Raises:
        StaleTokenError: A token has expired.
    """
    news = DriveChanges()
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
    """Whether a folder or shortcut was added, changed, or removed."""
    if key in tree.outer:
        return True
    if key not in tree.folders and key not in tree.shortcuts:
        if file is None or file["mimeType"] not in {FOLDER, SHORTCUT}:
            return False
        return not file.get("trashed") and tree.above(file) is not None
    if file is None or file.get("trashed"):
        return True
    if key in tree.folders:
        folder = tree.folders[key]
        return (file["name"], tuple(file.get("parents", ()))) != (folder.name, folder.parents)
    shortcut = tree.shortcuts[key]
    now = (file["shortcutDetails"]["targetId"], tree.above(file) or None)
    return now != (shortcut.target, shortcut.folder)


NOT_VISIBLE = _("deleted, or no longer shared with this account")
IN_TRASH = _("in the trash of Google Drive")
MOVED_OUT = _("moved out of the selection")
_OTHER_TYPE = _("of a type that is not imported")
_WITHHELD = _("its owner does not let this account download it")


@dataclass(slots=True)
class Listing:
    """Compares the current contents with the `previous` import.

    `fingerprint` identifies the selection of the cursor; `invite` is the advice to users about
    items that are not visible. `tree` is complete when `entries` has ended. Without `permissions`,
    documents have no restrictions; with them, each listing is full, because Drive does not report
    every file below a folder that is shared with others.
    """

    calls: DriveCalls
    selection: DriveSelection
    max_bytes: int
    fingerprint: str
    invite: str
    previous: PreviousImport
    permissions: DrivePermissions | None = None
    tree: Tree = field(init=False)
    _tokens: dict[str, str] = field(default_factory=dict)
    _skipped: dict[str, tuple[str, str, bool, str]] = field(default_factory=dict)
    _reported: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.tree = empty_tree(self.selection)

    def entries(self) -> Iterator[ListingEntry]:
        """Yield all documents, skipped and removed items (with reasons), and finally a cursor.

        Raises:
            SourceError: The Drive can't be listed.
        """
        for entry in self._entries():
            if isinstance(entry, DocumentRef) and self.permissions is None:
                yield replace(entry, restrictions=())
            else:
                yield entry

    def _entries(self) -> Iterator[ListingEntry]:
        news = self._news() if self.permissions is None else None
        if news is None or news.is_of_folders(self.tree) or self._may_lead_on(news):
            yield from self._whole({} if news is None else news.files)
        else:
            yield from self._by_changes(news)
        state = {"of": self.fingerprint, "tokens": self._tokens, "skipped": self._skipped}
        yield Cursor({**state, **self.tree.as_json()})

    def _news(self) -> DriveChanges | None:
        """The changes since the cursor; None if it has another fingerprint or has expired."""
        cursor = self.previous.cursor
        if cursor.get("of") != self.fingerprint:
            return None
        try:
            news = changes_since(self.calls, cursor["tokens"])
        except StaleTokenError:
            return None
        self.tree = Tree.of_json(cursor, self.tree.drives, self.tree.singles)
        return news

    def _may_lead_on(self, news: DriveChanges) -> bool:
        """Whether a broken shortcut may have a target now, because a folder has appeared."""
        waiting = self.tree.shortcuts.keys() & self.previous.cursor["skipped"].keys()
        return bool(waiting) and news.shows_folders()

    def _whole(self, changed: Mapping[str, File | None]) -> Iterator[ListingEntry]:
        walk = Walk(self.calls, self.selection, self.invite)
        self.tree = walk.tree
        for file in walk.files():
            if isinstance(file, Skipped):
                yield from self._report(self._unavailable(file, NOT_VISIBLE) or file)
            else:
                yield from self._report(self._entry(file))
        for key in self.previous.documents:
            if key not in self._reported:
                yield from self._report(self._missing(key, changed))
        self._tokens = walk.tokens

    def _by_changes(self, news: DriveChanges) -> Iterator[ListingEntry]:
        self._tokens = news.tokens
        for key, file in news.files.items():
            if file is None or file["mimeType"] not in {FOLDER, SHORTCUT}:  # those are unchanged
                yield from self._report(self._change(key, file))
        for key, skipped in self.previous.cursor["skipped"].items():
            shortcut = self.tree.shortcuts.get(key)
            if (shortcut.target if shortcut else key) not in news.files:
                yield from self._report(Skipped(key, *skipped))
        # A failure is reported for the version that failed; the library may contain an older one.
        for key, ref in ({**self.previous.documents, **self.previous.failed}).items():
            if key not in news.files and key not in self._reported:
                yield ref

    def _report(self, entry: ListingEntry | None) -> Iterator[ListingEntry]:
        if entry is None or isinstance(entry, Cursor | NewOptions):
            return
        self._reported.add(entry.key)
        if isinstance(entry, Skipped):
            self._remember_skipped(entry)
            if not entry.is_error and entry.key in self.previous.documents:
                entry = Removed(entry.key, entry.reason)
        yield entry

    def _remember_skipped(self, skipped: Skipped) -> None:
        """Remember a skipped item, so that later listings of changes can report it too."""
        values = (skipped.location, skipped.reason, skipped.is_error, skipped.title)
        self._skipped[skipped.key] = values

    def _missing(self, key: str, changed: Mapping[str, File | None]) -> ListingEntry | None:
        """What happened to a document that the full listing did not find."""
        if key in changed:  # it may have come back since, so only a removal is trusted
            entry = self._change(key, changed[key])
            if isinstance(entry, Removed):
                return entry
        try:
            return self._change(key, self.calls.file(key))
        except NotVisibleError:
            return Removed(key, NOT_VISIBLE)

    def _change(self, key: str, file: File | None) -> ListingEntry | None:
        if file is None:
            return self._unavailable(not_visible(key, self.invite), NOT_VISIBLE)
        if file.get("trashed"):
            return self._unavailable(self._skip(file, IN_TRASH), IN_TRASH)
        if self.tree.above(file) is None:
            return self._removal(key, MOVED_OUT)
        return self._entry(file)

    def _removal(self, key: str, reason: str) -> Removed | None:
        return Removed(key, reason) if key in self.previous.documents else None

    def _unavailable(self, skipped: Skipped, reason: str) -> ListingEntry | None:
        """The entry for an unavailable item; if it was selected by id, later listings repeat it."""
        if skipped.key not in self.tree.singles:
            return self._removal(skipped.key, reason)
        self._remember_skipped(skipped)
        return self._removal(skipped.key, reason) or skipped

    def _entry(self, file: File) -> ListingEntry | None:
        """The entry for a file in the selection; None for a new file whose type is not imported."""
        key, name, link = file["id"], file["name"], link_of(file)
        kind = kind_of(name, file["mimeType"])
        if file.get("trashed"):
            return self._unavailable(self._skip(file, IN_TRASH), IN_TRASH)
        if not self.selection.takes(kind.type):
            return self._removal(key, _OTHER_TYPE)
        if kind.reason is not None:
            return self._skip(file, kind.reason)
        if is_withheld(file):
            return self._skip(file, _WITHHELD)
        if reason := too_large(file, self.max_bytes):
            return Skipped(key, link, reason, title=name)
        version = version_of(file, self.tree.path(self.tree.above(file)))
        ref = DocumentRef(key, version, link, name)
        return ref if self.permissions is None else self.permissions.restrict(ref, file)

    def _skip(self, file: File, reason: str) -> Skipped:
        return Skipped(file["id"], link_of(file), reason, is_error=False, title=file["name"])
