"""Random changes of the fake Google Drive, from a seed; each step is one action of a person."""

import random
import re
from itertools import count

from tests.fakes.google_drive import IMPORTER, PERSON, Doc, FakeDrive, Item, Sheet, Slides
from tests.fakes.google_drive_items import FOLDER

_WORD = re.compile(r"w\d+")


class PeopleAtWork:
    """A Drive with an imported team folder and shared drive, and items that are not imported.

    Every text has unique words, so that its origin can be recognized.
    """

    def __init__(self, fake: FakeDrive, seed: int) -> None:
        self.fake, self.random, self._number = fake, random.Random(seed), count(1)
        self.team = fake.folder("Team")
        fake.share(self.team)
        self.wiki = fake.shared_drive("Wiki")
        self.board = fake.shared_drive("Board", members=[IMPORTER, PERSON])
        self.aside, self.private = fake.folder("Aside"), fake.folder("Private")
        fake.share(self.aside)
        self.places = [self.team, self.wiki, self.board, self.aside, self.private]
        for _ in range(12):
            self.new_folder()
        for _ in range(25):
            self.new_file()
        self._acts = [
            *[self.new_file, self.edit] * 6,
            *[self.rename, self.move_file, self.trash, self.restore] * 3,
            *[self.move_folder, self.rename_folder, self.new_folder, self.shortcut] * 2,
            *[self.share, self.unshare, self.trash_folder, self.shortcut] * 2,
            *[self.purge, self.two_folders, self.forbid, self.membership, self.look],
        ]

    def step(self) -> str:
        """Perform one action; returns its name."""
        act = self.random.choice(self._acts)
        act()
        return act.__name__

    def expected(self) -> dict[str, Item]:
        """The visible items that the library should contain."""
        items = self.fake.visible(self.team, self.wiki)
        return {key: item for key, item in items.items() if _is_document(item)}

    def new_folder(self) -> None:
        self.places.append(self.fake.folder(f"Folder {next(self._number)}", self._place()))

    def new_file(self) -> None:
        place, number = self._place(), next(self._number)
        make = self.random.choice(["txt", "md", "doc", "sheet", "slides", "mp4", "form"])
        if make in ("txt", "md", "mp4"):
            self.fake.upload(f"File {number}.{make}", self._text(), place)
        elif make == "form":
            self.fake.other(f"Form {number}", "form", place)
        elif make == "doc":
            self.fake.doc(f"Doc {number}", self._text(), place)
        elif make == "sheet":
            self.fake.sheet(f"Sheet {number}", self._sheets(), place)
        else:
            self.fake.slides(f"Slides {number}", self._slides(), place)

    def edit(self) -> None:
        item = self._file()
        if isinstance(item.content, bytes):
            old = self.fake.now.replace(year=2020) if self.random.random() < 0.3 else None
            self.fake.edit(item, self._text(), modified=old)
        elif isinstance(item.content, Doc):
            self.fake.edit(item, Doc(self._text()))
        elif isinstance(item.content, Sheet):
            self.fake.edit(item, Sheet(self._sheets()))
        elif isinstance(item.content, Slides):
            self.fake.edit(item, Slides(self._slides()))

    def rename(self) -> None:
        item = self._file()
        stem, dot, suffix = item.name.rpartition(".")
        self.fake.rename(item, f"{stem} renamed.{suffix}" if dot else f"{item.name} renamed")

    def rename_folder(self) -> None:
        self.fake.rename(self.random.choice(self.places), f"Renamed {next(self._number)}")

    def move_file(self) -> None:
        self.fake.move(self._file(), self._place())

    def move_folder(self) -> None:
        folder, place = self._inner_folder(), self._place()
        if folder and not place.is_below(folder):
            self.fake.move(folder, place)

    def two_folders(self) -> None:
        mine = [place for place in self.places if place.drive is None]
        file = self._file()
        if file.drive is None:
            self.fake.move(file, *self.random.sample(mine, 2))

    def trash(self) -> None:
        self.fake.trash(self._file())

    def trash_folder(self) -> None:
        if folder := self.random.choice([self._inner_folder(), self.aside]):
            self.fake.trash(folder)

    def restore(self) -> None:
        trashed = [item for item in self.fake.items.values() if item.explicitly_trashed]
        if trashed:
            self.fake.restore(self.random.choice(trashed))

    def purge(self) -> None:
        self.fake.purge(self._file())

    def share(self) -> None:
        item = self.random.choice([self.aside, self._place(), self._file(), self._file()])
        if item.parents:
            self.fake.share(item)

    def unshare(self) -> None:
        shared = [item for item in self.fake.items.values() if IMPORTER in item.shared]
        shared = [item for item in shared if item.parents and item is not self.team]
        if shared:
            self.fake.unshare(self.random.choice(shared))

    def forbid(self) -> None:
        self.fake.forbid_download(self._file())

    def shortcut(self) -> None:
        target = self.random.choice([self._file(), self._file(), self._place()])
        if target.parents and target.target is None:
            self.fake.shortcut(target, self._place(), f"Shortcut {next(self._number)}")

    def membership(self) -> None:
        if IMPORTER in self.board.shared:
            self.fake.remove_member(self.board)
        else:
            self.fake.add_member(self.board)

    def look(self) -> None:
        """Star it, or share it with another user; nothing that is imported changes."""
        self.fake.share(self._file(), "guest@example.org")

    def _place(self) -> Item:
        return self.random.choice(self.places)

    def _inner_folder(self) -> Item | None:
        inner = [place for place in self.places if place.name.startswith(("Folder", "Renamed"))]
        inner = [place for place in inner if place.parents and place not in self.places[:5]]
        return self.random.choice(inner) if inner else None

    def _file(self) -> Item:
        files = [item for item in self.fake.items.values() if item.mime != FOLDER]
        return self.random.choice(files)

    def _text(self) -> str:
        return f"# Heading w{next(self._number)}\n\nA line with w{next(self._number)} in it.\n"

    def _sheets(self) -> dict[str, list[list[str]]]:
        return {
            name: [["word", "more"], [f"w{next(self._number)}", f"w{next(self._number)}"]]
            for name in ("First", "Second")
        }

    def _slides(self) -> list[str]:
        return [f"Title w{next(self._number)}\nbody w{next(self._number)}" for _ in range(2)]


def words(content: object) -> list[str]:
    """The unique words of a content, in order."""
    return _WORD.findall(content.decode() if isinstance(content, bytes) else repr(content))


def _is_document(item: Item) -> bool:
    is_read = isinstance(item.content, Doc | Sheet | Slides) or item.name.endswith((".txt", ".md"))
    return is_read and item.can_download
