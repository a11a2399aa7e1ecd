"""Random changes of sites and of their permissions: each person finds exactly what they may read.

After each import, every document in the library is compared with what the fake site says about
each of several people, also while imports fail and removals wait for confirmation.
"""

import random

import pytest

from domain import Principal, group_reader
from domain.errors import SourceUnavailableError
from loaders.confluence.confluence_loader import ConfluenceLoader
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from loaders.google_drive.google_drive_loader import GoogleDriveLoader
from storage.ledger.source_store import MIRROR_PERMISSIONS
from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_library import ConfluenceLibrary
from tests.fakes.confluence_people_at_work import IMPORTED_SPACES, PeopleAtWork
from tests.fakes.google_drive import FakeDrive
from tests.fakes.google_drive_items import Grant
from tests.fakes.google_drive_library import DriveLibrary
from tests.loaders.confluence.reading import client_of

pytestmark = pytest.mark.slow

IMPORTS = 120
GROUPS = ("staff", "hr", "board", "interns", "guests")
PEOPLE = [Principal(f"p{n}", frozenset(GROUPS[n : n + 2])) for n in range(len(GROUPS))]


class MirroredWiki(ConfluenceLibrary):
    """A library that mirrors the permissions of a site with random changes."""

    def __init__(self, fake, data_dir, seed):
        selection = ConfluenceSelection(Scope.SPACES, spaces=IMPORTED_SPACES, attachments=True)
        super().__init__(fake, data_dir, selection)
        self.random, self.people = random.Random(seed), PeopleAtWork(fake, seed)
        self.confirm = lambda: self.random.random() < 0.5
        options = {MIRROR_PERMISSIONS: True}
        self.library.sources.set_options(self.source.id, options)
        self.acts = [self.limit, self.limit, self.free, self.permit, self.publish, self.hide]

    def loader(self):
        client = client_of(self.fake, self.waits)
        return ConfluenceLoader(client, self.selection, mirrors_permissions=True)

    def change(self):
        for _ in range(self.random.randint(1, 4)):
            self.people.step()
            self.random.choice(self.acts)()

    def groups(self):
        return tuple(self.random.sample(GROUPS, self.random.randint(1, 2)))

    def page(self):
        pages = [one.id for one in self.fake.contents.values() if one.type == "page"]
        return self.random.choice(pages)

    def limit(self):
        self.fake.limit(self.page(), groups=self.groups())

    def free(self):
        self.fake.limit(self.page())

    def permit(self):
        self.fake.permit(self.random.choice(IMPORTED_SPACES), groups=self.groups())

    def publish(self):
        space = self.fake.spaces[self.random.choice(IMPORTED_SPACES)]
        space.is_public = self.random.random() < 0.3

    def hide(self):
        is_hidden = self.random.random() < 0.2
        self.fake.hide_permissions(self.random.choice(IMPORTED_SPACES), is_hidden)

    def readable_at_source(self, person):
        listed = {*self.people.expected(), *self.people.expected_files()}
        return {id_ for id_ in listed if self.may_read(person, self.fake.contents[id_])}

    def may_read(self, person, content):
        page = self.fake.contents[content.container] if content.container else content
        space, groups = page.space, {*person.groups}
        if not self.fake.cloud:
            groups |= {outer for outer, inner in self.fake.groups_in.items() if groups & {*inner}}
        if not space.shows_permissions:
            return False
        line = [one.readers.groups for one in (*page.ancestors(), page)]
        is_viewer = space.is_public or bool(space.viewers.groups & groups)
        return is_viewer and all(not allowed or allowed & groups for allowed in line)

    def readable(self, person):
        stored = self.library.documents.versions(self.source.id)
        denied = self.library.access.denied(person).documents
        return {key for key, one in stored.items() if one.document_id not in denied}


def compare(mirrored, people, source):
    """Check what each of the people finds; returns the number of decisions that were compared."""
    for person in people:
        expected, found = mirrored.readable_at_source(person), mirrored.readable(person)
        assert found == expected, (person, found - expected, expected - found)
    return len(people) * len(mirrored.library.documents.versions(source.id))


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("cloud", "seed"), [(True, 1), (False, 2), (False, 3)])
def test_people_find_the_pages_that_they_may_read_in_confluence(tmp_path, cloud, seed):
    with FakeConfluence(cloud=cloud) as fake:
        wiki = MirroredWiki(fake, tmp_path / "data", seed)
        fake.groups_in = {} if cloud else {"staff": ("interns",), "board": ("guests",)}
        decisions = 0
        for _ in range(IMPORTS):
            wiki.change()
            fake.unplug_after = wiki.random.choice([None, None, wiki.random.randrange(6)])
            try:
                wiki.load()
            except SourceUnavailableError:
                fake.unplug_after = None
                fake.plug()
                wiki.load()
            decisions += compare(wiki, PEOPLE, wiki.source)
        assert fake.refused == []
        assert decisions > 10_000


class MirroredDrive(DriveLibrary):
    """A library that mirrors the permissions of a folder and a shared drive."""

    def __init__(self, fake, data_dir, seed):
        self.random, self.folders = random.Random(seed), [fake.folder("Top")]
        fake.let_edit(self.folders[0])
        self.drive_root = fake.shared_drive("Drive")
        super().__init__(fake, data_dir, self.folders[0], self.drive_root)
        self.folders.append(self.drive_root)
        self.library.sources.set_options(self._source.id, {MIRROR_PERMISSIONS: True})
        self.files = []
        for _ in range(10):
            self.add()

    def _loader(self):
        return GoogleDriveLoader(
            self._login,
            self._selection,
            lambda _seconds, _reason: None,
            api_url=self.fake.url,
            mirrors_permissions=True,
        )

    def item(self):
        return self.random.choice([*self.files, *self.folders])

    def change(self):
        acts = [self.add, self.edit, self.move, self.share, self.revoke, self.hide, self.trash]
        for _ in range(self.random.randint(1, 5)):
            self.random.choice([*acts, self.share, self.revoke])()

    def add(self):
        parent = self.random.choice(self.folders)
        if self.random.random() < 0.2:
            self.folders.append(self.fake.folder(f"Folder {len(self.folders)}", parent))
        name = f"{len(self.files)}.txt"
        self.files.append(self.fake.upload(name, f"text of {name}", parent))

    def edit(self):
        file = self.random.choice(self.files)
        self.fake.edit(file, f"edit {self.random.random()}")

    def move(self):
        self.fake.move(self.random.choice(self.files), self.random.choice(self.folders))

    def share(self):
        groups = [Grant("group", f"{name}@example.org") for name in GROUPS]
        others = [Grant("anyone"), Grant("anyone", is_by_link=True)]
        others += [Grant("group", "gone@example.org", is_deleted=True)]
        grants = self.random.choice([[self.random.choice(others)], self.random.sample(groups, 2)])
        self.fake.grant(self.item(), *grants)

    def revoke(self):
        self.fake.grant(self.item())

    def hide(self):
        self.fake.hide_permissions(self.random.choice(self.files), self.random.random() < 0.3)

    def trash(self):
        self.fake.trash(self.random.choice(self.files))

    def readable_at_source(self, person):
        listed = self.fake.visible(*self.folders[:2])
        return {id_ for id_, item in listed.items() if self.may_read(person, item)}

    def may_read(self, person, item):
        if item.hides_permissions:
            return False
        above, grants = [item], []
        while above:
            one = above.pop()
            grants += one.grants
            above += one.parents
        active = [one for one in grants if not one.is_deleted and not one.is_by_link]
        readers = {group_reader(one.address) for one in active if one.type == "group"}
        return any(one.type == "anyone" for one in active) or bool(readers & person.readers)

    def readable(self, person):
        stored = self.library.documents.versions(self._source.id)
        denied = self.library.access.denied(person).documents
        return {key for key, one in stored.items() if one.document_id not in denied}


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", [1, 2])
def test_people_find_the_files_that_they_may_find_in_drive(tmp_path, seed):
    groups = [f"{name}@example.org" for name in (*GROUPS, "gone")]
    people = [Principal(name, frozenset([name])) for name in groups]
    with FakeDrive(seed) as fake:
        drive = MirroredDrive(fake, tmp_path / "data", seed)
        decisions = 0
        for _ in range(IMPORTS):
            drive.change()
            drive.load()
            decisions += compare(drive, people, drive._source)
        assert fake.refused == []
        assert decisions > 10_000
