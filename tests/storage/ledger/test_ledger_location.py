"""What readers learn if the ledger on a server can't be used."""

import pytest

from domain.public_messages import message_for_everyone
from storage.ledger.ledger_location import LedgerLocation
from storage.ledger.postgresql import connection_lost

URL = "postgresql://footnote@db.example.com/footnote"
FINAL = {
    "damage": lambda location: location.damage_error("bad page"),
    "unreadable row": lambda location: location.unreadable("bad date"),
    "full disk": LedgerLocation.full,
    "unfinished move": LedgerLocation.unfinished_move,
    "missing tables": LedgerLocation.missing_tables,
}
TRANSIENT = {
    "lost connection": lambda location: connection_lost(location, "reset"),
    "busy": LedgerLocation.busy,
}


@pytest.fixture
def location(tmp_path):
    return LedgerLocation(tmp_path, URL, None, is_on_server=True)


@pytest.mark.parametrize("error_at", FINAL.values(), ids=FINAL)
def test_an_error_that_an_administrator_must_end_is_not_worth_another_attempt(location, error_at):
    error = error_at(location)
    assert message_for_everyone(error) == (
        "The database of this library can't be used: an administrator finds the details in the log."
    )
    assert not error.retryable


@pytest.mark.parametrize("error_at", TRANSIENT.values(), ids=TRANSIENT)
def test_an_error_that_passes_is_worth_another_attempt(location, error_at):
    error = error_at(location)
    assert "try again" in message_for_everyone(error)
    assert "db.example.com" not in message_for_everyone(error)
    assert error.retryable
