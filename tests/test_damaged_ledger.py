"""Random damage to a ledger leads to success or to one error message."""

import random
import shutil
from functools import partial

import pytest

from domain import LOCAL_USER, DocumentFilter
from domain.errors import AppError, DamagedLedgerError
from storage.ledger import ledger_check
from tests.storage.damage import checkpoint, contents, corrupt

pytestmark = pytest.mark.slow

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture(params=["checked in full", "too large to check"])
def extent(request, monkeypatch):
    """Number of bytes of a ledger that are checked before it is opened."""
    if request.param == "too large to check":
        monkeypatch.setattr(ledger_check, "MAX_CHECKED_BYTES", 0)
    return request.param


def messages_of(steps):
    for step in steps:
        try:
            step()
        except AppError as error:
            yield str(error)


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_starting_listing_asking_and_checking_never_crash(
    extent, imported, build_services, tmp_path, seed
):
    before = imported(embed=True)
    before.chat.ask(LOCAL_USER, QUESTION)
    before.parts.database.close()
    ledger = tmp_path / "data" / "footnote.db"
    whole, copy = checkpoint(ledger), tmp_path / "copy"
    for number in range(seed, seed + 8):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(tmp_path / "data", copy, symlinks=True)
        (copy / "footnote.db").write_bytes(corrupt(whole, random.Random(number)))
        contents_before = contents(copy)
        services = []
        open_services = partial(build_services, embed=True, data_dir=copy)
        messages = [*messages_of([partial(append, services, open_services)])]
        if extent == "checked in full" and any("is damaged" in message for message in messages):
            assert contents(copy) == contents_before
        messages += [message for one in services for message in use(one)]
        assert not any("\n" in message for message in messages)


def append(results, open_services):
    results.append(open_services())


def use(services):
    yield from messages_of(
        [
            partial(services.documents.page, LOCAL_USER, DocumentFilter()),
            partial(services.conversations.page, LOCAL_USER, limit=9),
            partial(services.chat.ask, LOCAL_USER, QUESTION),
            partial(services.maintenance.check, LOCAL_USER),
        ]
    )
    services.parts.database.close()


def test_a_worker_reports_the_damage_and_does_not_retry(imported):
    services = imported(embed=True)
    with services.parts.database.write() as session:
        session.connection().exec_driver_sql("UPDATE imports SET state = x'ff61'")
        session.connection().exec_driver_sql("UPDATE sources SET options = '{', refresh_s = 1")
    with pytest.raises(DamagedLedgerError, match=r"restore footnote\.db"):
        services.worker.run(Stop())


class Stop:
    """Stops a worker that continues after its first run."""

    def __init__(self):
        self.calls = 0

    def is_set(self):
        self.calls += 1
        return self.calls > 3

    def set(self):
        self.calls = 9

    def wait(self, _seconds):
        return True
