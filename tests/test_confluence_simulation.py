"""A Confluence in which people are at work, and imports of it in between, with faults and without.

After each import that succeeds the library holds what the site does: ids, versions and text.
"""

import random
from math import ceil

import pytest

from domain import LOCAL_USER, ImportState, Outcome
from errors import SourceUnavailableError
from loaders.confluence.wanted import Scope, Wanted
from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_library import ConfluenceLibrary
from tests.fakes.confluence_people_at_work import WANTED, PeopleAtWork
from tests.fakes.faults import PASSING, Faults, no_faults

STEPS = 300
RESULTS = 200


class Simulation:
    """Steps of people, imports, and what has to hold after them."""

    def __init__(self, fake, data_dir, seed):
        self.fake, self.random = fake, random.Random(seed)
        self.people = PeopleAtWork(fake, seed)
        wanted = Wanted(Scope.SPACES, spaces=WANTED, attachments=True)
        self.held = ConfluenceLibrary(fake, data_dir, wanted)
        self.history = []
        self.broken_off = 0

    def load_with_trouble(self):
        """An import in which answers are faulty, or the network goes away in the middle."""
        self.fake.faults = Faults(self.random.random(), 0.2, PASSING, slow_seconds=0)
        if self.random.random() < 0.4:
            self.fake.unplug_after = self.random.randrange(8)
        try:
            report, _ = self.held.load()
        except SourceUnavailableError:
            report = self.held.library.imports.latest(LOCAL_USER, self.held.source)
            assert "importing again goes on from there" in report.message
            self.broken_off += 1
        self.fake.faults, self.fake.unplug_after = no_faults(), None
        self.fake.plug()
        if report.state is ImportState.COMPLETED:
            self.check()

    def check(self):
        """The library equals the site."""
        for held, expected in (
            (self.held.pages(), self.people.expected()),
            (self.held.files(), self.people.expected_files()),
        ):
            wrong = {key for key in held | expected if held.get(key) != expected.get(key)}
            assert not wrong, [(held.get(key), self.told(key)) for key in wrong]

    def told(self, key):
        return self.fake.contents.get(key), self.history[-12:]

    def failed(self, report):
        items = [item for item in report.items if item.outcome is Outcome.FAILED]
        return report.message, [(item.reason, self.told(item.key)) for item in items]

    def bound(self, report):
        """The most requests that an import may need which settled this.

        One asks who asks. Pages and attachments are listed by 200. A page is read by one request,
        an attachment by three (Cloud sends to where its media are), a missing one by two.
        """
        listed = len(self.people.expected()) + len(self.people.expected_files())
        worked = sum(
            item.outcome in (Outcome.NEW, Outcome.CHANGED, Outcome.GONE, Outcome.FAILED)
            for item in report.items
        )
        return 1 + 2 * ceil((listed + 1) / RESULTS) + 3 * worked


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
            report, asked = simulation.held.load()
            assert report.state is ImportState.COMPLETED, simulation.failed(report)
            simulation.check()
            assert len(asked) <= simulation.bound(report), simulation.history[-8:]
        assert simulation.broken_off > 0
        report, asked = simulation.held.load()
        assert len(asked) == 3, "who asks, the pages and the attachments"
        assert report.passages_embedded == 0
        assert fake.refused == []
        assert simulation.held.library.check().agrees
