"""People change a Drive at random while it is imported: the library ends equal to it."""

import random

import pytest

from errors import SourceError, UnreadableError
from tests.fakes.faults import Faults
from tests.fakes.google_drive import DRIVE_FAULTS, Doc
from tests.loaders.google_drive.conftest import Importer

STEPS = 75
WAYS = (
    *("add", "add", "edit", "edit", "rename", "move", "access"),
    *("trash", "restore", "restore", "purge"),
)
KINDS = ("doc", "text", "folder", "shortcut")


class Life:
    """One random thing after the other, in a folder, a place beside it and a shared drive."""

    def __init__(self, drive, seed):
        self.drive, self.random = drive, random.Random(seed)
        self.team, self.aside = drive.folder("Team"), drive.folder("Aside")
        drive.share(self.team)
        drive.share(self.aside)
        self.items = [self.make() for _ in range(25)]

    def make(self):
        drive, name = self.drive, f"{self.random.randrange(1000)}"
        where = self.place()
        match self.random.choice(KINDS):
            case "doc":
                return drive.doc(name, f"# Doc {name}", where)
            case "text":
                return drive.upload(f"{name}.txt", f"text {name}", where)
            case "folder":
                return drive.folder(name, where)
        target = self.random.choice([self.aside, *self.folders(), *self.there()])
        return drive.shortcut(target if target.target is None else self.aside, where)

    def there(self):
        kept = getattr(self, "items", [])
        return [item for item in kept if not item.is_purged]

    def folders(self):
        return [item for item in self.there() if item.mime.endswith(".folder")]

    def place(self):
        return self.random.choice([self.team] * 2 + [self.aside] + self.folders() * 2)

    def step(self):
        item = self.random.choice(self.there())
        getattr(self, self.random.choice(
            WAYS
        ))(item)  # fmt: skip

    def add(self, item):
        self.items.append(self.make())

    def edit(self, item):
        text = f"text {self.random.random()}"
        if item.content is not None:
            self.drive.edit(item, Doc(text) if isinstance(item.content, Doc) else text)

    def rename(self, item):
        suffix = ".txt" if isinstance(item.content, bytes) else ""
        self.drive.rename(item, f"{self.random.randrange(1000)}{suffix}")

    def move(self, item):
        where = self.place()
        if not where.is_below(item):
            self.drive.move(item, where)

    def trash(self, item):
        self.drive.trash(item)

    def restore(self, item):
        self.drive.restore(item)

    def purge(self, item):
        if self.random.random() < 0.3 and len(self.there()) > 6:
            self.drive.purge(item)
            self.items = self.there()

    def access(self, item):
        if self.random.random() < 0.3:
            self.drive.move(item, self.drive.my_drive)
        else:
            self.drive.share(item)

    def texts(self):
        """What an importer of the team's folder is to have."""
        found = self.drive.visible(self.team)
        return {
            key: item.content.markdown if isinstance(item.content, Doc) else item.content.decode()
            for key, item in found.items()
        }


def sync(importer, files):
    """Import until it succeeds, as people do whose network is bad."""
    for _ in range(20):
        try:
            return importer.sync(files)
        except UnreadableError:
            continue
    raise AssertionError("it never succeeded")


@pytest.mark.parametrize("seed", range(4))
def test_after_each_import_the_library_equals_the_drive(drive, seed):
    life, importer = Life(drive, seed), Importer(drive)
    drive.tells_descendants, drive.others_see_trash = bool(seed & 1), bool(seed & 2)
    drive.page_limit = 5
    files = importer.files(folders=[life.team])
    if seed > 1:
        drive.faults = Faults(seed, 0.2, DRIVE_FAULTS, slow_seconds=0.001, retry_after=1)
    for step in range(STEPS):
        for _ in range(life.random.choice([0, 1, 1, 2, 5])):
            life.step()
        if step % 30 == 29:
            drive.log.expire()
        sync(importer, files)
        assert importer.texts == life.texts(), f"after step {step}"
    quiet = sync(importer, files)
    assert quiet == set()
    drive.faults = Faults(share=0)
    importer.sync(files)
    assert drive.calls() == {"changes": 1}


def test_the_same_ways_of_asking_tell_the_same_versions(drive):
    """A whole listing of what changes have told before reads nothing again."""
    life, importer = Life(drive, 7), Importer(drive)
    files = importer.files(folders=[life.team])
    for _ in range(15):
        for _ in range(4):
            life.step()
        importer.sync(files)
        known = importer.previous.documents
        again = Importer(drive)
        try:
            again.sync(again.files(folders=[life.team]))
        except SourceError as error:
            pytest.fail(str(error))
        assert again.previous.documents == known
