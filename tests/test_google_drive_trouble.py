"""Imports from a failing or unreachable Drive lose and duplicate nothing."""

import pytest

from domain import ImportState, Outcome
from domain.errors import SourceUnavailableError
from tests.fakes.faults import Faults
from tests.fakes.google_drive import DRIVE_FAULTS, FakeDrive
from tests.fakes.google_drive_library import DriveLibrary

pytestmark = pytest.mark.slow

DOCUMENTS = 200
FAULTS = 1000


@pytest.fixture
def fake():
    with FakeDrive() as drive:
        yield drive
    assert drive.refused == []


@pytest.fixture
def team(fake):
    folder = fake.folder("Team")
    fake.share(folder)
    for number in range(DOCUMENTS):
        if number % 4:
            fake.upload(f"{number}.txt", f"the text w{number}", folder)
        else:
            fake.doc(f"{number}", f"the text w{number}", folder)
    return folder


def test_a_thousand_faults_lose_or_duplicate_no_document(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    fake.faults = Faults(5, 0.5, DRIVE_FAULTS, slow_seconds=0)
    rounds = 0
    while fake.faults.counts.total() < FAULTS:
        report, _ = library.load()
        assert report.state is ImportState.COMPLETED
        assert len(report.items) == DOCUMENTS
        assert library.differences(fake.visible(team)) == []
        for number, item in enumerate(fake.visible(team).values()):
            fake.rename(item, f"{rounds} {number}.txt")
        rounds += 1
    assert set(fake.faults.counts) == set(DRIVE_FAULTS)
    assert library.waits, "the loader waited"
    assert library.library.check().agrees


def test_after_a_network_failure_the_next_import_finishes_the_rest(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    fake.unplug_after = DOCUMENTS + 100
    with pytest.raises(SourceUnavailableError):
        library.load()
    documents = len(library.versions())
    assert 0 < documents < DOCUMENTS

    fake.plug()
    report, _ = library.load()
    assert report.state is ImportState.COMPLETED
    assert sum(item.outcome is Outcome.NEW for item in report.items) == DOCUMENTS - documents
    assert library.differences(fake.visible(team)) == []


def test_an_import_without_changes_makes_one_request_and_embeds_nothing(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    _, first = library.load()
    report, requests = library.load()
    assert [one.path for one in requests] == ["/drive/v3/changes"]
    assert len(requests) < len(first) / 100
    assert report.passages_embedded == 0


def test_one_edit_costs_at_most_three_requests(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    library.load()
    edited = next(iter(fake.visible(team).values()))
    fake.edit(edited, "another w1")
    report, requests = library.load()
    assert [item.outcome for item in report.items].count(Outcome.CHANGED) == 1
    assert len(requests) <= 3
    assert library.differences(fake.visible(team)) == []


def test_removing_most_of_a_drive_at_once_needs_confirmation(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    library.load()
    place = fake.folder("Elsewhere")
    for item in fake.visible(team).values():
        fake.move(item, place)
    confirmations = []
    library.confirm = lambda: confirmations.append(library.versions()) or True
    library.load()
    assert [len(versions) for versions in confirmations] == [DOCUMENTS]
    assert library.versions() == {}
