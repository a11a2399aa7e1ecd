"""The site behind the fake Google Drive: people edit, move, trash, and share its items."""

import random
import string
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.fakes.google_drive_changes import ChangeLog
from tests.fakes.google_drive_items import (
    DOCUMENT,
    FOLDER,
    SHORTCUT,
    Content,
    Doc,
    Grant,
    Item,
    Sheet,
    Slides,
    type_of,
)
from tests.fakes.google_drive_people import IMPORTER, PERSON

_LETTERS = string.ascii_letters + string.digits + "-_"


class DriveSite:
    """One user's My Drive, and shared drives. New items are private.

    `logs_descendants`: a change of a folder is also logged for its descendants, which Drive may
    or may not do. `others_see_trash`: whether other users see trashed items as trashed or not
    at all.
    """

    def __init__(self, seed: int = 0) -> None:
        self.lock = threading.RLock()
        self.items: dict[str, Item] = {}
        self.log = ChangeLog()
        self.logs_descendants = False
        self.others_see_trash = True
        self.now = datetime(2026, 1, 1, 9, tzinfo=UTC)
        self._random = random.Random(seed)
        self._roots: dict[str, Item] = {}
        self.my_drive = self.root_of(PERSON)

    def root_of(self, account: str) -> Item:
        """The root folder of the account, Drive's "root"."""
        if account not in self._roots:
            root = self._roots[account] = self._new("My Drive", FOLDER, None)
            root.owner = account
            root.shared.add(account)
        return self._roots[account]

    def folder(self, name: str, parent: Item | None = None) -> Item:
        return self._create(name, FOLDER, parent)

    def upload(
        self, name: str, content: bytes | str, parent: Item | None = None, mime: str | None = None
    ) -> Item:
        """Upload a file; its type follows from its name by default."""
        data = content.encode() if isinstance(content, str) else content
        return self._create(name, mime or type_of(name, data), parent, content=data)

    def doc(self, name: str, markdown: str, parent: Item | None = None) -> Item:
        return self._create(name, DOCUMENT, parent, content=Doc(markdown))

    def sheet(
        self, name: str, sheets: dict[str, list[list[Any]]], parent: Item | None = None
    ) -> Item:
        return self._create(name, type_of(name, Sheet({})), parent, content=Sheet(sheets))

    def slides(self, name: str, texts: list[str], parent: Item | None = None) -> Item:
        return self._create(name, type_of(name, Slides([])), parent, content=Slides(texts))

    def other(self, name: str, kind: str, parent: Item | None = None) -> Item:
        """Another Google type, such as a "form" or a "drawing", which cannot be exported."""
        return self._create(name, f"application/vnd.google-apps.{kind}", parent)

    def shortcut(self, target: Item, parent: Item | None = None, name: str | None = None) -> Item:
        return self._create(name or target.name, SHORTCUT, parent, target=target)

    def shared_drive(self, name: str, members: Iterable[str] = (IMPORTER,)) -> Item:
        """Create a shared drive; returns its root."""
        drive = self._new(name, FOLDER, None, is_shared_drive=True)
        for member in members:
            self.add_member(drive, member)
        return drive

    def edit(self, item: Item, content: Content | str, modified: datetime | None = None) -> None:
        """Replace the content; `modified` as set by programs that preserve a file's time.

        A text is the Markdown of a document, or the content of a file.
        """
        if isinstance(content, str):
            content = Doc(content) if isinstance(item.content, Doc) else content.encode()
        with self._changing(item):
            item.content = content
            item.modified = modified or self.now

    def rename(self, item: Item, name: str) -> None:
        with self._changing(item):
            item.name, item.modified = name, self.now

    def move(self, item: Item, *parents: Item) -> None:
        """Move to these parents, two folders at once if needed; the modified time stays.

        Raises:
            ValueError: No parent is given, or one is inside the item itself.
        """
        if not parents or any(parent.is_below(item) for parent in parents):
            raise ValueError(f"{item.name} can't be moved there")
        with self._changing(item):
            item.parents = list(parents)

    def trash(self, item: Item) -> None:
        """Trash with all descendants, which are not logged separately."""
        with self._changing(item):
            item.explicitly_trashed = True

    def restore(self, item: Item) -> None:
        with self._changing(item):
            item.explicitly_trashed = False

    def purge(self, item: Item) -> None:
        """Delete permanently with all descendants."""
        with self._changing(item):
            for one in self.below(item):
                one.is_purged = True
                del self.items[one.id]

    def share(self, item: Item, account: str = IMPORTER) -> None:
        with self._changing(item):
            item.shared.add(account)

    def unshare(self, item: Item, account: str = IMPORTER) -> None:
        """Remove the item's own sharing; it may still be visible through a folder."""
        with self._changing(item):
            item.shared.discard(account)

    def let_edit(self, item: Item, account: str = IMPORTER) -> None:
        """Share with an editor, who also sees the permissions."""
        with self._changing(item):
            item.shared.add(account)
            item.editors.add(account)

    def grant(self, item: Item, *grants: Grant) -> None:
        """Replace the permissions of groups, domains, and anyone."""
        with self._changing(item):
            item.grants = list(grants)

    def hide_permissions(self, item: Item, is_hidden: bool = True) -> None:
        """Hide who may read it from everyone but its managers."""
        item.hides_permissions = is_hidden

    def add_member(self, drive: Item, account: str = IMPORTER) -> None:
        """Logged in the account's log for the drive as a whole, not for its items."""
        with self._changing(drive, {account}):
            drive.shared.add(account)

    def remove_member(self, drive: Item, account: str = IMPORTER) -> None:
        with self._changing(drive, {account}):
            drive.shared.discard(account)

    def forbid_download(self, item: Item) -> None:
        """Forbid readers to download it."""
        with self._changing(item):
            item.can_download = False

    def below(self, folder: Item) -> list[Item]:
        """The folder and all descendants, including trashed ones."""
        return [item for item in self.items.values() if item.is_below(folder)]

    def children(self, folder: Item) -> list[Item]:
        return [item for item in self.items.values() if folder in item.parents]

    def sees(self, account: str, item: Item) -> bool:
        if self.items.get(item.id) is not item or account not in item.viewers:
            return False
        hidden = item.trashed and item.drive is None and account != item.owner
        return self.others_see_trash or not hidden

    def visible(self, *starts: Item, account: str = IMPORTER) -> dict[str, Item]:
        """What an importer of these folders should find, by id: no folders and nothing trashed.

        A shortcut counts as its target, once however many shortcuts there are; one to another
        shortcut, to nothing, or to an invisible item is ignored.
        """
        items: dict[str, Item] = {}
        seen: set[Item] = set()
        waiting = list(starts)
        while waiting:
            item = waiting.pop()
            if item in seen or item.trashed or not self.sees(account, item):
                continue
            seen.add(item)
            if item.target is not None:
                waiting.extend([item.target] if item.target.target is None else [])
            elif item.mime == FOLDER:
                waiting.extend(self.children(item))
            else:
                items[item.id] = item
        return items

    def _create(self, name: str, mime: str, parent: Item | None, **more: Any) -> Item:
        item = self._new(name, mime, parent or self.my_drive, **more)
        with self._changing(item):
            return item

    def _new(self, name: str, mime: str, parent: Item | None, **more: Any) -> Item:
        with self.lock:
            length, start = (32, "1") if parent else (17, "0A")
            id_ = start + "".join(self._random.choices(_LETTERS, k=length))
            parents = [parent] if parent else []
            item = Item(id_, name, mime, PERSON, self.now, self.now, parents, **more)
            self.items[id_] = item
            return item

    @contextmanager
    def _changing(self, item: Item, accounts: Iterable[str] = ()) -> Iterator[None]:
        with self.lock:
            self.now += timedelta(seconds=1, milliseconds=7)
            logged = self.below(item) if self.logs_descendants else [item]
            before = [(one.drive, one.followers) for one in logged]
            yield
            item.version += 1
            for one, (drive, followers) in zip(logged, before, strict=True):
                members = one.shared if one.is_shared_drive else set()
                self._log(
                    one, [drive, one.drive], followers | one.followers | members | set(accounts)
                )

    def _log(self, item: Item, drives: list[Item | None], accounts: set[str]) -> None:
        if accounts:
            self.log.add(item, "", accounts, self.now)
        for drive in dict.fromkeys(drive for drive in drives if drive is not None):
            if drive is not item:
                self.log.add(item, drive.id, set(), self.now)
