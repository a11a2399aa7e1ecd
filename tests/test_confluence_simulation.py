"""A Confluence in which people are at work, and imports of it in between, with faults and without.

After each import that succeeds the library holds what the site does: ids, versions and text.
"""

import random
from math import ceil

import pytest

from domain import LOCAL_USER, ImportState, Outcome
from errors import SourceUnavailableError
from loaders.confluence.pages import ConfluencePages
from loaders.confluence.versions import ContentVersion
from loaders.confluence.wanted import Scope, Wanted
from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_content import Visible
from tests.fakes.confluence_people_at_work import WANTED, PeopleAtWork
from tests.fakes.faults import PASSING, Faults, no_faults
from tests.fakes.library import Library
from tests.loaders.confluence.reading import client_of

STEPS = 300
RESULTS = 200


class Simulation:
    """Steps of people, imports, and what has to hold after them."""

    def __init__(self, fake, data_dir, seed):
        self.fake, self.random = fake, random.Random(seed)
        self.people = PeopleAtWork(fake, seed)
        self.library = Library(data_dir)
        self.source = self.library.sources.ensure("confluence", fake.url, name="Wiki")
        self.history = []
        self.broken_off = 0

    def load(self):
        """Import, confirming removals where that is asked for; the report, and its requests."""
        before = len(self.fake.requests)
        report = self._run(confirm_removals=False)
        if report.state is ImportState.NEEDS_CONFIRMATION:
            before = len(self.fake.requests)
            report = self._run(confirm_removals=True)
        return report, self.fake.requests[before:]

    def _run(self, *, confirm_removals):
        wanted = Wanted(Scope.SPACES, spaces=WANTED, attachments=True)
        loader = ConfluencePages(client_of(self.fake), wanted)
        source = self.library.sources.get(self.source.id)
        return self.library.load(loader, source=source, confirm_removals=confirm_removals)

    def load_with_trouble(self):
        """An import in which answers are faulty, or the network goes away in the middle."""
        self.fake.faults = Faults(self.random.random(), 0.2, PASSING, slow_seconds=0)
        if self.random.random() < 0.4:
            self.fake.unplug_after = self.random.randrange(8)
        try:
            report, _ = self.load()
        except SourceUnavailableError:
            report = self.library.imports.latest(LOCAL_USER, self.source)
            assert "importing again goes on from there" in report.message
            self.broken_off += 1
        self.fake.faults, self.fake.unplug_after = no_faults(), None
        self.fake.plug()
        if report.state is ImportState.COMPLETED:
            self.check()

    def check(self):
        """The library equals the site."""
        pages, files = self.people.expected(), self.people.expected_files()
        known = self.library.documents.known(self.source.id)
        assert known.keys() == pages.keys() | files.keys(), self.told(
            known.keys() ^ (pages.keys() | files.keys())
        )
        for key, page in pages.items():
            assert self.held_page(known[key]) == page, self.told([key])
        for key, file in files.items():
            assert self.held_file(known[key]) == file, self.told([key])

    def held_page(self, known):
        """As `Site.visible` tells a page, but from the library."""
        stored = self.library.documents.get(known.document_id)
        text, details = self.library.documents.text(stored.id), stored.details
        version = ContentVersion.parse(known.version)
        assert details["page_version"] == version.number
        return Visible(
            version.number,
            stored.title,
            tuple(details["ancestors"]),
            details["space"],
            f"<p>{text}</p>",
            tuple(details["labels"]),
        )

    def held_file(self, known):
        text = self.library.documents.text(known.document_id)
        return ContentVersion.parse(known.version).number, text

    def told(self, keys):
        return [(key, self.fake.contents.get(key)) for key in keys], self.history[-12:]

    def failed(self, report):
        items = [item for item in report.items if item.outcome is Outcome.FAILED]
        return report.message, [(item.reason, self.told([item.key])) for item in items]

    def bound(self, report):
        """The most requests that an import may need which settled this.

        One asks who asks. Pages and attachments are listed by 200. A page is read by one request,
        an attachment by three (Cloud sends to where its media are), a missing one by two.
        """
        listed = [*self.people.expected(), *self.people.expected_files()]
        worked = [
            item
            for item in report.items
            if item.outcome in (Outcome.NEW, Outcome.CHANGED, Outcome.GONE, Outcome.FAILED)
        ]
        return 1 + 2 * ceil((len(listed) + 1) / RESULTS) + 3 * len(worked)


@pytest.mark.parametrize(("cloud", "seed"), [(True, 1), (False, 2)])
def test_the_library_follows_the_site_through_whatever_people_do(tmp_path, cloud, seed):
    with FakeConfluence(cloud=cloud, context="/confluence") as fake:
        simulation = Simulation(fake, tmp_path / "data", seed)
        done = 0
        while done < STEPS:
            for _ in range(simulation.random.randint(1, 8)):
                simulation.history.append(simulation.people.step())
                done += 1
            if simulation.random.random() < 0.5:
                simulation.load_with_trouble()
            report, asked = simulation.load()
            assert report.state is ImportState.COMPLETED, simulation.failed(report)
            simulation.check()
            assert len(asked) <= simulation.bound(report), simulation.history[-8:]
        assert simulation.broken_off > 0
        report, asked = simulation.load()
        assert len(asked) == 3, "who asks, the pages and the attachments"
        assert report.passages_embedded == 0
        assert fake.refused == []
        assert simulation.library.check().agrees
