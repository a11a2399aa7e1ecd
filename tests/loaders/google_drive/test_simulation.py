"""After random changes of a Drive, the library equals the Drive."""

import random

import pytest

from domain.errors import SourceError, UnreadableError
from tests.fakes.faults import Faults
from tests.fakes.google_drive import DRIVE_FAULTS, Doc
from tests.loaders.google_drive.conftest import Importer

pytestmark = pytest.mark.slow

STEPS = 75
ACTIONS = (
    *("add", "add", "edit", "edit", "rename", "move", "access"),
    *("trash", "restore", "restore", "purge"),
)
KINDS = ("doc", "text", "folder", "shortcut")


class PeopleAtWork:
    """Makes random changes in the imported folder and in another folder."""

    def __init__(self, drive, seed):
        self.drive, self.random = drive, random.Random(seed)
        self.team, self.other_folder = drive.folder("Team"), drive.folder("Aside")
        drive.share(self.team)
        drive.share(self.other_folder)
        self.items = [self.make() for _ in range(25)]

    def make(self):
        drive, name = self.drive, f"{self.random.randrange(1000)}"
        where = self.choose_folder()
        match self.random.choice(KINDS):
            case "doc":
                return drive.doc(name, f"# Doc {name}", where)
            case "text":
                return drive.upload(f"{name}.txt", f"text {name}", where)
            case "folder":
                return drive.folder(name, where)
        target = self.random.choice([self.other_folder, *self.folders(), *self.existing()])
        return drive.shortcut(target if target.target is None else self.other_folder, where)

    def existing(self):
        items = getattr(self, "items", [])
        return [item for item in items if not item.is_purged]

    def folders(self):
        return [item for item in self.existing() if item.mime.endswith(".folder")]

    def choose_folder(self):
        return self.random.choice([self.team] * 2 + [self.other_folder] + self.folders() * 2)

    def step(self):
        item = self.random.choice(self.existing())
        getattr(self, self.random.choice(ACTIONS))(item)

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
        where = self.choose_folder()
        if not where.is_below(item):
            self.drive.move(item, where)

    def trash(self, item):
        self.drive.trash(item)

    def restore(self, item):
        self.drive.restore(item)

    def purge(self, item):
        if self.random.random() < 0.3 and len(self.existing()) > 6:
            self.drive.purge(item)
            self.items = self.existing()

    def access(self, item):
        if self.random.random() < 0.3:
            self.drive.move(item, self.drive.my_drive)
        else:
            self.drive.share(item)

    def texts(self):
        """The texts that an import of the team's folder must contain."""
        documents = self.drive.visible(self.team)
        return {
            key: item.content.markdown if isinstance(item.content, Doc) else item.content.decode()
            for key, item in documents.items()
        }


def sync(importer, files):
    """Repeat the import until it succeeds."""
    for _ in range(20):
        try:
            return importer.sync(files)
        except UnreadableError:
            continue
    raise AssertionError("it never succeeded")


@pytest.mark.parametrize("seed", range(4))
def test_after_each_import_the_library_equals_the_drive(drive, seed):
    people, importer = PeopleAtWork(drive, seed), Importer(drive)
    drive.logs_descendants, drive.others_see_trash = bool(seed & 1), bool(seed & 2)
    drive.page_limit = 5
    files = importer.files(folders=[people.team])
    if seed > 1:
        drive.faults = Faults(seed, 0.2, DRIVE_FAULTS, slow_seconds=0.001, retry_after=1)
    for step in range(STEPS):
        for _ in range(people.random.choice([0, 1, 1, 2, 5])):
            people.step()
        if step % 30 == 29:
            drive.log.expire()
        sync(importer, files)
        assert importer.texts == people.texts(), f"after step {step}"
    changes = sync(importer, files)
    assert changes == set()
    drive.faults = Faults(share=0)
    importer.sync(files)
    assert drive.calls() == {"changes": 1}


def test_a_full_listing_has_the_versions_of_incremental_imports(drive):
    """Otherwise, a full listing would read every document again."""
    people, importer = PeopleAtWork(drive, 7), Importer(drive)
    files = importer.files(folders=[people.team])
    for _ in range(15):
        for _ in range(4):
            people.step()
        importer.sync(files)
        known = importer.previous.documents
        fresh_importer = Importer(drive)
        try:
            fresh_importer.sync(fresh_importer.files(folders=[people.team]))
        except SourceError as error:
            pytest.fail(str(error))
        assert fresh_importer.previous.documents == known
