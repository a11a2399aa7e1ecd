"""Random edits of the fake Confluence, from a seed; each step is one action of a person."""

import random
from itertools import count

from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_content import Visible

IMPORTED_SPACES = ("DOC", "HR")


class PeopleAtWork:
    """A site with two imported spaces and one that is not imported.

    Every text has unique words, so that its origin can be recognized.
    """

    def __init__(self, fake: FakeConfluence, seed: int) -> None:
        self.fake, self.random, self._number = fake, random.Random(seed), count(1)
        for key in (*IMPORTED_SPACES, "AWAY"):
            fake.add_space(key)
        fake.add("DOC", "Home", self._storage())
        for _ in range(40):
            self.new_page()
        self._acts = [
            *[self.new_page, self.edit] * 5,
            *[self.move, self.rename, self.label, self.attach] * 3,
            *[self.trash, self.restore, self.unlabel, self.new_post, self.comment] * 2,
            *[self.move_away, self.purge, self.restrict, self.release, self.archive],
            *[self.drop_attachment, self.rename_to_old_title, self.edit_back],
        ]

    def step(self) -> str:
        """Perform one action; returns its name."""
        act = self.random.choice(self._acts)
        act()
        return act.__name__

    def expected(self) -> dict[str, Visible]:
        """Pages and posts that the library should have; see `Site.visible`."""
        return {
            id: page for id, page in self.fake.visible().items() if page.space in IMPORTED_SPACES
        }

    def expected_files(self) -> dict[str, tuple[int, str]]:
        """Attachments that the library should have: version and text."""
        return {
            attachment.id: (attachment.version, attachment.data.decode())
            for attachment in self.fake.contents.values()
            if attachment.type == "attachment"
            and self.fake.is_listed(attachment)
            and attachment.space.key in IMPORTED_SPACES
        }

    def new_page(self) -> None:
        parent = self._one() if self.random.random() < 0.6 else None
        space = self.fake.contents[parent].space.key if parent else self._space()
        labels = tuple(self.random.sample(("red", "green", "blue"), self.random.randint(0, 2)))
        title = f"Page {next(self._number)}"
        self.fake.add(space, title, self._storage(), parent, labels=labels)

    def new_post(self) -> None:
        title = f"Post {next(self._number)}"
        self.fake.add(self._space(), title, self._storage(), type="blogpost")

    def edit(self) -> None:
        self.fake.edit(self._any(), self._storage(), by=self.random.choice([*self.fake.users]))

    def edit_back(self) -> None:
        """An edit and its reversal: a new version of the same text."""
        id = self._any()
        text = self.fake.contents[id].storage
        self.fake.edit(id, self._storage())
        self.fake.edit(id, text)

    def rename(self) -> None:
        self.fake.rename(self._any(), f"Page {next(self._number)}")

    def rename_to_old_title(self) -> None:
        """Give a page the title, and so the URL, that another page used to have."""
        first, second = self._one(), self._one()
        title = self.fake.contents[first].title
        self.fake.rename(first, f"Page {next(self._number)}")
        if self.fake.contents[second].space is self.fake.contents[first].space:
            self.fake.rename(second, title)

    def move(self) -> None:
        id, parent = self._one(), self._one()
        ancestor_ids = [parent, *(above.id for above in self.fake.contents[parent].ancestors())]
        if id in ancestor_ids:
            self.fake.move(id, space=self._space())
        else:
            self.fake.move(id, parent)

    def move_away(self) -> None:
        self.fake.move(self._one(), space="AWAY")

    def trash(self) -> None:
        self.fake.trash(self._any())

    def archive(self) -> None:
        self.fake.archive(self._one())

    def restore(self) -> None:
        inactive = [c.id for c in self._pages() if c.status != "current"]
        if inactive:
            self.fake.restore(self.random.choice(inactive))

    def purge(self) -> None:
        self.fake.purge(self._any())

    def restrict(self) -> None:
        self.fake.restrict(self._any())

    def release(self) -> None:
        restricted = [c.id for c in self._pages() if c.is_restricted]
        if restricted:
            self.fake.restrict(self.random.choice(restricted), False)

    def label(self) -> None:
        self.fake.label(self._any(), self.random.choice(("red", "green", "blue", "black")))

    def unlabel(self) -> None:
        id = self._any()
        if self.fake.contents[id].labels:
            self.fake.unlabel(id, self.random.choice(self.fake.contents[id].labels))

    def comment(self) -> None:
        self.fake.comment(self._any(), self._storage())

    def attach(self) -> None:
        name = f"file {self.random.randint(1, 2)}.txt"
        self.fake.attach(self._any(), name, self._text().encode())

    def drop_attachment(self) -> None:
        files = [c.id for c in self.fake.contents.values() if c.type == "attachment"]
        if files:
            self.fake.purge(self.random.choice(files))

    def _pages(self):
        return [c for c in self.fake.contents.values() if c.type in ("page", "blogpost")]

    def _any(self) -> str:
        """A random page or post."""
        return self.random.choice([c.id for c in self._pages() if c.status == "current"])

    def _one(self) -> str:
        """A random page."""
        pages = [c.id for c in self._pages() if c.type == "page" and c.status == "current"]
        return self.random.choice(pages)

    def _space(self) -> str:
        return self.random.choice([*IMPORTED_SPACES, *IMPORTED_SPACES, "AWAY"])

    def _storage(self) -> str:
        return f"<p>{self._text()}</p>"

    def _text(self) -> str:
        return " ".join(f"w{next(self._number)}" for _ in range(self.random.randint(1, 60)))
