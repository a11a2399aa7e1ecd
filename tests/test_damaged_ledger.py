"""Whatever is flipped in a ledger, what people do ends well or with one message."""

import random
import shutil
from functools import partial

import pytest

from domain import LOCAL_USER, DocumentFilter
from errors import AppError, DamagedLedgerError
from storage import ledger_check
from tests.storage.damage import contents, flipped, settled

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture(params=["looked at whole", "as a large one"])
def extent(request, monkeypatch):
    """How much of a ledger is looked at before it is opened."""
    if request.param == "as a large one":
        monkeypatch.setattr(ledger_check, "MAX_CHECKED_BYTES", 0)
    return request.param


def messages_of(steps):
    for step in steps:
        try:
            step()
        except AppError as error:
            yield str(error)


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_starting_listing_asking_and_checking_never_break(
    extent, imported, build_services, tmp_path, seed
):
    before = imported(embed=True)
    before.chat.ask(LOCAL_USER, QUESTION)
    before._parts.database.close()
    ledger = tmp_path / "data" / "footnote.db"
    whole, copy = settled(ledger), tmp_path / "copy"
    for number in range(seed, seed + 8):
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(tmp_path / "data", copy, symlinks=True)
        (copy / "footnote.db").write_bytes(flipped(whole, random.Random(number)))
        was = contents(copy)
        services = []
        open_them = partial(build_services, embed=True, data_dir=copy)
        messages = [*messages_of([partial(keep, services, open_them)])]
        if extent == "looked at whole" and any("is damaged" in message for message in messages):
            assert contents(copy) == was
        messages += [message for one in services for message in use(one)]
        assert not any("\n" in message for message in messages)


def keep(opened, open_them):
    opened.append(open_them())


def use(services):
    yield from messages_of(
        [
            partial(services.documents.page, LOCAL_USER, DocumentFilter()),
            partial(services.conversations.page, LOCAL_USER, limit=9),
            partial(services.chat.ask, LOCAL_USER, QUESTION),
            partial(services.maintenance.check, LOCAL_USER),
        ]
    )
    services._parts.database.close()


def test_a_worker_ends_with_the_message_and_tries_no_more(imported):
    services = imported(embed=True)
    with services._parts.database.write() as session:
        session.connection().exec_driver_sql("UPDATE imports SET state = x'ff61'")
        session.connection().exec_driver_sql("UPDATE sources SET options = '{', refresh_s = 1")
    with pytest.raises(DamagedLedgerError, match=r"put back footnote\.db"):
        services.worker.run(Stop())


class Stop:
    """Ends a worker that goes on after its first turn."""

    def __init__(self):
        self.asked = 0

    def is_set(self):
        self.asked += 1
        return self.asked > 3

    def set(self):
        self.asked = 9

    def wait(self, _seconds):
        return True
