"""A fake Confluence of each kind."""

from zoneinfo import ZoneInfo

import pytest

from tests.fakes.asking_confluence import Clock
from tests.fakes.confluence import FakeConfluence


@pytest.fixture(params=["cloud", "server"])
def fake(request):
    cloud, zone = request.param == "cloud", ZoneInfo("Asia/Seoul")
    with FakeConfluence(cloud=cloud, context="/confluence", now=Clock(), zone=zone) as running:
        running.add_space("DOC", "Documents")
        yield running
