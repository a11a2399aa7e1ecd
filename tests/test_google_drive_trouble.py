"""Imports from a Drive that answers badly, or not at all: nothing is lost, nothing comes twice."""

import pytest

from domain import ImportState, Outcome
from errors import SourceUnavailableError
from tests.fakes.faults import Faults
from tests.fakes.google_drive import DRIVE_FAULTS, FakeDrive
from tests.fakes.google_drive_library import DriveLibrary

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


def test_of_a_thousand_faults_none_loses_or_duplicates_a_document(fake, team, tmp_path):
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
    assert library.waits, "the loader asked for patience"
    assert library.library.check().agrees


def test_with_the_network_gone_in_the_middle_the_next_import_does_the_rest(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    fake.unplug_after = DOCUMENTS + 100
    with pytest.raises(SourceUnavailableError):
        library.load()
    kept = len(library.versions())
    assert 0 < kept < DOCUMENTS

    fake.plug()
    report, _ = library.load()
    assert report.state is ImportState.COMPLETED
    assert sum(item.outcome is Outcome.NEW for item in report.items) == DOCUMENTS - kept
    assert library.differences(fake.visible(team)) == []


def test_an_import_without_news_asks_once_and_embeds_nothing(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    _, first = library.load()
    report, asked = library.load()
    assert [one.path for one in asked] == ["/drive/v3/changes"]
    assert len(asked) < len(first) / 100
    assert report.passages_embedded == 0


def test_one_edit_costs_no_more_than_reading_one_document(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    library.load()
    edited = next(iter(fake.visible(team).values()))
    fake.edit(edited, "another w1")
    report, asked = library.load()
    assert [item.outcome for item in report.items].count(Outcome.CHANGED) == 1
    assert len(asked) <= 3
    assert library.differences(fake.visible(team)) == []


def test_most_of_a_drive_gone_at_once_waits_for_a_confirmation(fake, team, tmp_path):
    library = DriveLibrary(fake, tmp_path / "data", team)
    library.load()
    place = fake.folder("Elsewhere")
    for item in fake.visible(team).values():
        fake.move(item, place)
    asked_for = []
    library.confirm = lambda: asked_for.append(library.versions()) or True
    library.load()
    assert [len(versions) for versions in asked_for] == [DOCUMENTS]
    assert library.versions() == {}
