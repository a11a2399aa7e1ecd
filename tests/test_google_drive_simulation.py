"""Random changes of a Drive with imports in between, with and without faults.

After each successful import the library matches the Drive: ids, versions, and text.
"""

import random

import pytest

from domain import ImportState, Outcome
from domain.errors import SourceUnavailableError
from tests.fakes.faults import Faults, no_faults
from tests.fakes.google_drive import DRIVE_FAULTS, FakeDrive
from tests.fakes.google_drive_library import DriveLibrary
from tests.fakes.google_drive_people_at_work import PeopleAtWork

_WORKED_ON = (Outcome.NEW, Outcome.CHANGED, Outcome.REMOVED, Outcome.FAILED)


class Simulation:
    """Drive changes, imports, and the invariants after them."""

    def __init__(self, fake, data_dir, seed):
        self.fake, self.random = fake, random.Random(seed)
        self.people = PeopleAtWork(fake, seed)
        self.library = DriveLibrary(fake, data_dir, self.people.team, self.people.wiki)
        self.history = []

    def make_changes(self):
        """Make a few changes, which Drive reports in varying detail on pages of random length."""
        self.fake.logs_descendants = self.random.random() < 0.5
        self.fake.page_limit = self.random.choice([7, 1000, 1000])
        for _ in range(self.random.randint(1, 4)):
            self.history.append(self.people.step())
        if self.random.random() < 0.05:
            self.fake.log.expire()
            self.history.append("tokens expired")

    def load_with_faults(self):
        """Import with faulty responses or a network failure in the middle."""
        self.fake.faults = Faults(self.random.random(), 0.2, DRIVE_FAULTS, slow_seconds=0)
        if self.random.random() < 0.3:
            self.fake.unplug_after = self.random.randrange(12)
        try:
            report, _ = self.library.load()
            self.check(report)
        except SourceUnavailableError:
            self.history.append("unplugged")
        finally:
            self.fake.faults, self.fake.unplug_after = no_faults(), None
            self.fake.plug()

    def load(self):
        report, requests = self.library.load()
        assert report.state is ImportState.COMPLETED, self.failed(report)
        self.check(report)
        assert len(requests) <= self.max_requests(report), (
            report.items,
            requests,
            self.history[-6:],
        )

    def check(self, report):
        if report.state is ImportState.COMPLETED:
            assert self.library.differences(self.people.expected()) == [], self.history[-12:]

    def failed(self, report):
        reasons = [item.reason for item in report.items if item.outcome is Outcome.FAILED]
        return report.message, reasons, self.history[-12:]

    def max_requests(self, report):
        """The maximum number of requests for an import with these outcomes: the change logs, a few
        for each document, and a listing of each folder if folders or shortcuts have changed."""
        worked = sum(item.outcome in _WORKED_ON for item in report.items)
        shortcuts = sum(item.target is not None for item in self.fake.items.values())
        pages = 1 + len(self.fake.items) // self.fake.page_limit
        moved = {*self.history[-8:]} - {"edit", "new_file", "look", "rename", "forbid"}
        whole = 3 * (len(self.people.places) + shortcuts) + 4 * pages
        return self.library.logs() * pages + 3 * worked + bool(moved) * whole


@pytest.mark.slow
@pytest.mark.parametrize(("seed", "others_see_trash", "steps"), [(1, True, 300), (2, False, 100)])
def test_the_library_follows_random_changes_of_the_drive(tmp_path, seed, others_see_trash, steps):
    with FakeDrive(seed) as fake:
        fake.others_see_trash = others_see_trash
        simulation = Simulation(fake, tmp_path / "data", seed)
        while len(simulation.history) < steps:
            simulation.make_changes()
            if simulation.random.random() < 0.4:
                simulation.load_with_faults()
            simulation.load()
            if len(simulation.history) % 4 == 0:
                assert simulation.library.versions() == simulation.library.full_listing()

        report, requests = simulation.library.load()
        assert [one.path for one in requests] == ["/drive/v3/changes"] * simulation.library.logs()
        assert report.passages_embedded == 0
        assert fake.refused == []
        assert simulation.library.library.check().agrees


class BusyDrive(FakeDrive):
    """Calls `meanwhile` before each response."""

    def __init__(self, seed):
        super().__init__(seed)
        self.meanwhile = lambda: None

    def answer(self, request):
        self.meanwhile()
        return super().answer(request)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4])
def test_changes_made_during_an_import_are_caught_by_the_next(tmp_path, seed):
    with BusyDrive(seed) as fake:
        simulation = Simulation(fake, tmp_path / "data", seed)

        def meanwhile():
            if simulation.random.random() < 0.5:
                simulation.history.append(simulation.people.step())

        for _ in range(40):
            fake.meanwhile = meanwhile
            simulation.library.load()
            fake.meanwhile = lambda: None
            report, _ = simulation.library.load()
            assert report.state is ImportState.COMPLETED, simulation.failed(report)
            simulation.check(report)
        assert len(simulation.history) > 80
        assert fake.refused == []
