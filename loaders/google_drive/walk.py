"""Goes through all that is wanted of a Drive, once: each file it comes to, and where it is."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from domain import Skipped
from errors import SourceError
from loaders.google_drive.calls import DriveCalls, File
from loaders.google_drive.kinds import FOLDER, SHORTCUT, link_of
from loaders.google_drive.tree import Shortcut, empty_tree
from loaders.google_drive.trouble import NotVisibleError
from loaders.google_drive.wanted import DriveScope, DriveWanted

_AT_ONCE = 8  # folders in one query: with more the address grows beyond 2,048 characters
_NO_FOLDERS = f"mimeType != '{FOLDER}' and trashed = false"
_FOLDERS = f"mimeType = '{FOLDER}' and trashed = false"


class Walk:
    """One way through; `tree` and `tokens` are whole once `files` has ended.

    `tokens` say, for the user ("") and each shared drive, from where changes are to be asked for
    later. Each is taken before anything there is looked at.
    """

    def __init__(self, calls: DriveCalls, wanted: DriveWanted, invite: str) -> None:
        """Args: `invite` says what to do about what can't be seen."""
        self._calls = calls
        self._wanted = wanted
        self._invite = invite
        self.tree = empty_tree(wanted)
        self.tokens: dict[str, str] = {}
        self._seen: set[str] = set()
        self._shortcuts: dict[str, File] = {}

    def files(self) -> Iterator[File | Skipped]:
        """Every file once, and what could not be looked at. Folders and shortcuts are not told.

        Raises:
            SourceError: A folder or shared drive that is wanted can't be seen.
        """
        self.tokens[""] = self._calls.start_token()
        ways = {
            DriveScope.FOLDERS: self._of_folders,
            DriveScope.FILES: self._of_singles,
            DriveScope.DRIVES: self._of_drives,
        }
        yield from self._once(ways[self._wanted.scope]())
        yield from self._once(self._behind_shortcuts())

    def _once(self, files: Iterable[File | Skipped]) -> Iterator[File | Skipped]:
        for file in files:
            if isinstance(file, Skipped):
                yield file
            elif file["id"] not in self._seen:
                self._seen.add(file["id"])
                yield file

    def _of_folders(self) -> Iterator[File | Skipped]:
        roots = [self._root(folder_id) for folder_id in self._wanted.ids]
        for root in roots:
            self.tree.add(root["id"], root["name"], None, root.get("parents", ()))
            self._climb(root)
        yield from self._below(roots)

    def _of_singles(self) -> Iterator[File | Skipped]:
        for file_id in self._wanted.ids:
            try:
                file = self._look_up(file_id)
            except NotVisibleError:
                yield not_visible(file_id, self._invite)
                continue
            if file["mimeType"] == FOLDER:
                reason = f"{file['name']} is a folder: import it as a folder, not as a file"
                yield Skipped(file_id, link_of(file), reason, title=file["name"])
            elif file["mimeType"] == SHORTCUT:
                self._note(file, None)
            else:
                self._climb(file)
                yield file

    def _of_drives(self) -> Iterator[File | Skipped]:
        for drive_id in self._wanted.ids:
            try:
                self.tokens[drive_id] = self._calls.start_token(drive_id)
                name = self._calls.drive_name(drive_id)
            except NotVisibleError as error:
                raise SourceError(
                    f"The shared drive {drive_id} is not visible to this account: {self._invite}"
                ) from error
            self.tree.add(drive_id, name, None, ())
            self._add_folders(list(self._calls.files(_FOLDERS, drive_id)))
            for file in self._calls.files(_NO_FOLDERS, drive_id):
                if file["mimeType"] == SHORTCUT:
                    self._note(file, self.tree.above(file))
                else:
                    yield file

    def _add_folders(self, folders: Sequence[File]) -> None:
        """Add the folders of a shared drive, which come in no order: those above come first.

        One below a folder that this account does not see is taken as one of the drive itself.
        """
        while folders:
            near = [one for one in folders if self._has_known_parent(one)] or folders
            for folder in near:
                self._add(folder)
            folders = [one for one in folders if one["id"] not in self.tree.folders]

    def _has_known_parent(self, folder: File) -> bool:
        return any(one in self.tree.folders for one in folder.get("parents", ()))

    def _add(self, folder: File) -> bool:
        above = self.tree.above(folder) or None
        return self.tree.add(folder["id"], folder["name"], above, folder.get("parents", ()))

    def _root(self, folder_id: str) -> File:
        """A folder that is to be imported, also by way of a shortcut to it."""
        try:
            root = self._look_up(folder_id)
            if root["mimeType"] == SHORTCUT:
                root = self._look_up(root["shortcutDetails"]["targetId"])
        except NotVisibleError as error:
            raise SourceError(
                f"The folder {folder_id} is not visible to this account: {self._invite}"
            ) from error
        if root["mimeType"] != FOLDER:
            raise SourceError(f"{root['name']} is a file, not a folder: import it as a file.")
        if root.get("trashed"):
            raise SourceError(
                f"The folder {root['name']} is in the trash: restore it, or delete this source."
            )
        if root["id"] == root.get("driveId"):  # the top of a shared drive, which is named "Drive"
            return root | {"name": self._calls.drive_name(root["id"])}
        return root

    def _look_up(self, file_id: str) -> File:
        """A file as it is after changes of its shared drive are asked for."""
        file = self._calls.file(file_id)
        drive_id = file.get("driveId", "")
        if not drive_id or drive_id in self.tokens:
            return file
        try:
            self.tokens[drive_id] = self._calls.start_token(drive_id)
        except NotVisibleError:  # not of this drive, which shares one thing: told to the user
            return file
        return self._calls.file(file_id)

    def _climb(self, file: File) -> None:
        """Note the folders above that this account sees and that are not imported."""
        above = list(file.get("parents", ()))
        while above:
            folder_id = above.pop()
            noted = (self.tree.folders, self.tree.outer, self.tokens)  # a token is of a drive
            if not any(folder_id in one for one in noted):
                self.tree.outer.add(folder_id)
                above += self._parents(folder_id)

    def _parents(self, folder_id: str) -> Sequence[str]:
        try:
            parents: Sequence[str] = self._calls.file(folder_id).get("parents", ())
        except NotVisibleError:  # no more: that is told as a change
            return ()
        return parents

    def _below(self, level: list[File]) -> Iterator[File | Skipped]:
        """Files in these folders and all below them, level by level: thus paths stay the same."""
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
        """All that is right in these folders, asked for with as few calls as may be."""
        for drive_id, group in groupby(sorted(folders, key=self._drive), key=self._drive):
            ids = [folder["id"] for folder in group]
            for start in range(0, len(ids), _AT_ONCE):
                yield from self._children(ids[start : start + _AT_ONCE], drive_id)

    def _children(self, ids: Sequence[str], drive_id: str) -> Iterator[File]:
        """As `_in`; a folder that goes away meanwhile makes Drive refuse to tell of the others."""
        wanted = " or ".join(f"'{one}' in parents" for one in ids)
        try:
            yield from self._calls.files(f"({wanted}) and trashed = false", drive_id)
        except NotVisibleError:
            for one in ids if len(ids) > 1 else ():
                yield from self._children([one], drive_id)

    def _drive(self, file: File) -> str:
        """The shared drive it is in, if this account is a member: only then it may ask there."""
        drive_id = str(file.get("driveId", ""))
        return drive_id if drive_id in self.tokens else ""

    def _note(self, file: File, folder: str | None) -> None:
        target = file["shortcutDetails"]["targetId"]
        self.tree.add_shortcut(file["id"], Shortcut(target, folder))
        self._shortcuts[file["id"]] = file

    def _behind_shortcuts(self) -> Iterator[File | Skipped]:
        """What shortcuts lead to and was not come to otherwise; there may be shortcuts again."""
        followed: set[str] = set()
        while waiting := [one for key, one in self._shortcuts.items() if key not in followed]:
            # First: a file that is in one has its place there, whatever else leads to it.
            folders = [one for one in waiting if _leads_to_folder(one)]
            for shortcut in sorted(folders or waiting, key=self._nearest):
                followed.add(shortcut["id"])
                target = shortcut["shortcutDetails"]["targetId"]
                if target not in self._seen and target not in self.tree.folders:
                    yield from self._behind(shortcut, target)

    def _behind(self, shortcut: File, target: str) -> Iterator[File | Skipped]:
        try:
            file = self._look_up(target)
        except NotVisibleError:
            yield _skipped(shortcut, f"it leads to what is not visible: {self._invite}")
            return
        if file.get("trashed"):
            yield _skipped(shortcut, "it leads to what is in the trash")
            return
        self._climb(file)
        if file["mimeType"] == FOLDER:
            self._add(file)
            yield from self._below([file])
        elif file["mimeType"] != SHORTCUT:  # Drive makes none to another
            yield file

    def _nearest(self, shortcut: File) -> tuple[int, str]:
        """The order in which shortcuts are followed, the same each time."""
        return len(self.tree.path(self.tree.shortcuts[shortcut["id"]].folder)), shortcut["id"]


def not_visible(file_id: str, invite: str) -> Skipped:
    """What is told of a single file that was asked for and can't be seen."""
    return Skipped(file_id, file_id, f"not visible to this account: {invite}")


def _leads_to_folder(shortcut: File) -> bool:
    return shortcut["shortcutDetails"].get("targetMimeType") in {FOLDER}


def _skipped(shortcut: File, why: str) -> Skipped:
    name = shortcut["name"]
    reason = f"the shortcut {name} is not followed: {why}"
    return Skipped(shortcut["id"], link_of(shortcut), reason, is_error=False, title=name)
