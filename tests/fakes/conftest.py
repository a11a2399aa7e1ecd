"""A fake Confluence of each kind, and a fake Google Drive."""

from zoneinfo import ZoneInfo

import pytest

from tests.fakes.confluence import FakeConfluence
from tests.fakes.confluence_requests import Clock
from tests.fakes.google_drive import FakeDrive
from tests.fakes.google_drive_client import client


@pytest.fixture(params=["cloud", "server"])
def fake(request):
    cloud, zone = request.param == "cloud", ZoneInfo("Asia/Seoul")
    with FakeConfluence(cloud=cloud, context="/confluence", now=Clock(), zone=zone) as running:
        running.add_space("DOC", "Documents")
        yield running


@pytest.fixture
def drive():
    with FakeDrive() as running:
        yield running


@pytest.fixture
def strict(drive):
    """The fake Drive; fails if it refused a request."""
    yield drive
    assert drive.refused == []


@pytest.fixture
def api(drive):
    return client(drive)


@pytest.fixture
def team(drive):
    folder = drive.folder("Team")
    drive.share(folder)
    return folder
