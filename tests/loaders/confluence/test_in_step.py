"""Whatever people do to a site, a library that is kept in step equals one imported afresh."""

import random

import pytest

from errors import SourceUnavailableError
from loaders.confluence.pages import Deletions
from loaders.confluence.wanted import Scope, Wanted
from tests.fakes.faults import Faults, no_faults
from tests.loaders.confluence.reading import Library, pages_of

STEPS = 40
CHOICES = {
    "everything": Wanted(attachments=True, comments=True),
    "a space": Wanted(Scope.SPACES, spaces=("A",), skip_labels=("draft",), attachments=True),
    "labels": Wanted(Scope.LABELS, page_labels=("guide", "draft"), comments=True),
    "a query": Wanted(Scope.CQL, cql="label = guide or space = B", attachments=True),
}


class People:
    """Edits a site at random, as its people would."""

    def __init__(self, site, seed):
        self.site, self.random, self.count = site, random.Random(seed), 0
        site.add_space("A")
        site.add_space("B")
        for _ in range(8):
            self.add()

    def step(self):
        edits = [self.add, self.edit, self.rename, self.move, self.label, self.unlabel, self.trash]
        edits += [self.restore, self.purge, self.restrict, self.free, self.comment, self.attach]
        self.random.choice(edits)()

    def new(self):
        self.count += 1
        return f"Number {self.count}"

    def some(self, status="current"):
        pages = [c for c in self.site.contents.values() if c.type == "page" and c.status == status]
        return self.random.choice(pages) if pages else None

    def add(self):
        parent = self.some() if self.random.random() < 0.6 else None
        space = parent.space.key if parent else self.random.choice("AB")
        labels = self.random.sample(["guide", "draft", "other"], self.random.randint(0, 2))
        above = parent.id if parent else None
        self.site.add(space, self.new(), f"<p>{self.new()}</p>", above, labels=tuple(labels))

    def on(self, act, status="current"):
        page = self.some(status)
        if page is not None:
            act(page.id)

    def edit(self):
        self.on(lambda page: self.site.edit(page, f"<p>{self.new()}</p>"))

    def rename(self):
        self.on(lambda page: self.site.rename(page, self.new()))

    def move(self):
        self.on(lambda page: self.site.move(page, space=self.random.choice("AB")))

    def label(self):
        self.on(lambda page: self.site.label(page, self.random.choice(["guide", "draft"])))

    def unlabel(self):
        page = self.some()
        if page is not None and page.labels:
            self.site.unlabel(page.id, page.labels[0])

    def trash(self):
        self.on(self.site.trash)

    def restore(self):
        self.on(self.site.restore, "trashed")

    def purge(self):
        self.on(self.site.purge, "trashed")

    def restrict(self):
        self.on(self.site.restrict)

    def free(self):
        self.on(lambda page: self.site.restrict(page, False))

    def comment(self):
        self.on(lambda page: self.site.comment(page, f"<p>{self.new()}</p>"))

    def attach(self):
        name = self.random.choice(["a.txt", "b.md", "c.mp4"])
        self.on(lambda page: self.site.attach(page, name, self.new().encode()))


def afresh(fake, wanted):
    library = Library()
    library.update(pages_of(fake, wanted))
    return library


def same(library, other):
    assert library.refs == other.refs
    assert library.documents == other.documents


@pytest.mark.parametrize("wanted", CHOICES.values(), ids=CHOICES)
def test_after_every_import_the_library_equals_the_site(fake, wanted):
    people, library = People(fake, seed=7), Library()
    for _ in range(STEPS):
        people.step()
        library.update(pages_of(fake, wanted))
        same(library, afresh(fake, wanted))


def test_faults_and_a_network_that_goes_away_lose_nothing(fake):
    wanted, library = CHOICES["everything"], Library()
    people, outages = People(fake, seed=3), 0
    for step in range(STEPS):
        people.step()
        fake.faults = Faults(seed=step, share=0.2, slow_seconds=0)
        fake.unplug_after = 5 if step % 5 == 4 else None
        try:
            library.update(pages_of(fake, wanted))
        except SourceUnavailableError:
            outages += 1
            fake.plug()
        fake.unplug_after = None
        fake.faults = no_faults()
    assert outages > 3
    library.update(pages_of(fake, wanted))
    same(library, afresh(fake, wanted))


def test_a_daily_listing_puts_right_what_edits_alone_do_not_show(fake):
    wanted, library = CHOICES["everything"], Library()
    people = People(fake, seed=5)
    for _ in range(4):
        for _ in range(10):
            people.step()
            library.update(pages_of(fake, wanted, deletions=Deletions.DAILY))
        library.mark = {}  # a day later
        library.update(pages_of(fake, wanted, deletions=Deletions.DAILY))
        same(library, afresh(fake, wanted))
