"""Random changes of a Confluence site with imports in between, with and without faults.

After each successful import the library matches the site: ids, versions, and text.
"""

import random
from math import ceil

import pytest

from domain import LOCAL_USER, ImportState, Outcome
from domain.errors import SourceUnavailableError
from loaders.confluence.confluence_selection import ConfluenceSelection, Scope
from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_library import ConfluenceLibrary
from tests.fakes.confluence_people_at_work import IMPORTED_SPACES, PeopleAtWork
from tests.fakes.faults import TRANSIENT_FAULTS, Faults, no_faults

pytestmark = pytest.mark.slow

STEPS = 300
RESULTS = 200


class Simulation:
    """Site changes, imports, and the invariants after them."""

    def __init__(self, fake, data_dir, seed):
        self.fake, self.random = fake, random.Random(seed)
        self.people = PeopleAtWork(fake, seed)
        selection = ConfluenceSelection(Scope.SPACES, spaces=IMPORTED_SPACES, attachments=True)
        self.library = ConfluenceLibrary(fake, data_dir, selection)
        self.history = []
        self.interruptions = 0

    def load_with_faults(self):
        """Import with faulty responses or a network failure in the middle."""
        self.fake.faults = Faults(self.random.random(), 0.2, TRANSIENT_FAULTS, slow_seconds=0)
        if self.random.random() < 0.4:
            self.fake.unplug_after = self.random.randrange(8)
        try:
            report, _ = self.library.load()
        except SourceUnavailableError:
            report = self.library.library.imports.latest(LOCAL_USER, self.library.source)
            assert "the next import continues from there" in report.message
            self.interruptions += 1
        self.fake.faults, self.fake.unplug_after = no_faults(), None
        self.fake.plug()
        if report.state is ImportState.COMPLETED:
            self.check()

    def check(self):
        """Check that the library matches the site."""
        for stored, expected in (
            (self.library.pages(), self.people.expected()),
            (self.library.files(), self.people.expected_files()),
        ):
            wrong = {key for key in stored | expected if stored.get(key) != expected.get(key)}
            assert not wrong, [(stored.get(key), self.trace(key)) for key in wrong]

    def trace(self, key):
        return self.fake.contents.get(key), self.history[-12:]

    def failed(self, report):
        items = [item for item in report.items if item.outcome is Outcome.FAILED]
        return report.message, [(item.reason, self.trace(item.key)) for item in items]

    def max_requests(self, report):
        """The maximum number of requests for an import with these outcomes.

        One request identifies the account. Pages and attachments are listed 200 at a time.
        Reading a page takes one request, an attachment three (Cloud redirects to its media
        server), a missing one two.
        """
        listed = len(self.people.expected()) + len(self.people.expected_files())
        worked = sum(
            item.outcome in (Outcome.NEW, Outcome.CHANGED, Outcome.REMOVED, Outcome.FAILED)
            for item in report.items
        )
        return 1 + 2 * ceil((listed + 1) / RESULTS) + 3 * worked


@pytest.mark.parametrize(("cloud", "seed"), [(True, 1), (False, 2)])
def test_the_library_follows_random_changes_of_the_site(tmp_path, cloud, seed):
    with FakeConfluence(cloud=cloud, context="/confluence") as fake:
        simulation = Simulation(fake, tmp_path / "data", seed)
        steps = 0
        while steps < STEPS:
            for _ in range(simulation.random.randint(1, 8)):
                simulation.history.append(simulation.people.step())
                steps += 1
            if simulation.random.random() < 0.5:
                simulation.load_with_faults()
            report, requests = simulation.library.load()
            assert report.state is ImportState.COMPLETED, simulation.failed(report)
            simulation.check()
            assert len(requests) <= simulation.max_requests(report), simulation.history[-8:]
        assert simulation.interruptions > 0
        report, requests = simulation.library.load()
        assert len(requests) == 3, "the account, the pages, and the attachments"
        assert report.passages_embedded == 0
        assert fake.refused == []
        assert simulation.library.library.check().agrees
