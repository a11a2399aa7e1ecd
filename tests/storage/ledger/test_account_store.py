from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain import Account, Role
from domain.errors import ConflictError, NotFoundError
from storage.ledger.account_store import Accounts
from tests.postgresql.ledgers import open_ledger

pytestmark = pytest.mark.usefixtures("ledger_kind")

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
HOUR = timedelta(hours=1)
ADA = Account(
    "a1", "https://login", "ada", "Ada", "ada@x.org", Role.READER, frozenset({"hr"}), NOW, NOW, NOW
)
BEN = replace(ADA, id="b1", subject="ben", name="Ben")


@pytest.fixture
def accounts(tmp_path):
    return Accounts(open_ledger(tmp_path))


def test_an_account_is_stored_at_the_first_sign_in(accounts):
    assert accounts.session("a1", "s1", NOW) == (None, False)
    assert accounts.put(ADA) == ADA
    assert accounts.session("a1", "s1", NOW) == (ADA, False)


def test_a_later_sign_in_replaces_what_the_provider_says_but_not_the_role(accounts):
    accounts.put(ADA)
    accounts.set_role("a1", Role.EDITOR)
    later = replace(ADA, name="Ada L", email="", groups=frozenset(), signed_in_at=NOW + HOUR)
    stored = accounts.put(replace(later, created_at=NOW + HOUR))
    assert stored == replace(later, role=Role.EDITOR)


def test_an_earlier_sign_in_changes_nothing(accounts):
    accounts.put(ADA)
    earlier = replace(ADA, groups=frozenset({"board"}), signed_in_at=NOW - HOUR)
    assert accounts.put(earlier) == ADA


def test_two_people_with_one_email_address_have_two_accounts(accounts):
    accounts.put(ADA)
    accounts.put(BEN)
    accounts.set_role("b1", Role.ADMIN)
    assert [(one.id, one.email, one.role) for one in accounts.list()] == [
        ("a1", "ada@x.org", Role.READER),
        ("b1", "ada@x.org", Role.ADMIN),
    ]


def test_an_ended_session_is_known_with_and_without_its_account(accounts):
    accounts.put(ADA)
    accounts.end_session("s1", NOW + HOUR, NOW)
    accounts.end_session("s1", NOW + HOUR, NOW)
    assert accounts.session("a1", "s1", NOW) == (ADA, True)
    assert accounts.session("a1", "s2", NOW) == (ADA, False)
    assert accounts.session("b1", "s1", NOW) == (None, True)


def test_ended_sessions_are_deleted_when_their_time_has_passed(accounts):
    accounts.end_session("s1", NOW + HOUR, NOW)
    accounts.end_session("s2", NOW + 3 * HOUR, NOW + 2 * HOUR)
    assert not accounts.session("a1", "s1", NOW).has_ended
    assert accounts.session("a1", "s2", NOW).has_ended


def test_the_last_administrator_keeps_the_role(accounts):
    accounts.put(replace(ADA, role=Role.ADMIN))
    accounts.put(replace(BEN, role=Role.ADMIN))
    accounts.disable("b1", NOW)
    with pytest.raises(ConflictError, match="last administrator"):
        accounts.set_role("a1", Role.EDITOR)
    with pytest.raises(ConflictError, match="last administrator"):
        accounts.disable("a1", NOW)
    assert accounts.session("a1", "", NOW).account == replace(ADA, role=Role.ADMIN)
    accounts.disable("b1", None)
    accounts.set_role("a1", Role.EDITOR)
    assert accounts.session("a1", "", NOW).account.role is Role.EDITOR


def test_other_accounts_change_even_if_there_is_no_administrator(accounts):
    accounts.put(ADA)
    accounts.set_role("a1", Role.EDITOR)
    accounts.disable("a1", NOW)
    assert accounts.session("a1", "", NOW).account == replace(
        ADA, role=Role.EDITOR, disabled_at=NOW
    )


def test_an_unknown_account_can_not_be_changed(accounts):
    with pytest.raises(NotFoundError, match="'x'"):
        accounts.set_role("x", Role.ADMIN)
    with pytest.raises(NotFoundError, match="'x'"):
        accounts.disable("x", NOW)


def test_a_disabled_administrator_does_not_count(accounts):
    assert not accounts.has_administrator()
    accounts.put(replace(ADA, role=Role.ADMIN, disabled_at=NOW))
    assert not accounts.has_administrator()
    accounts.disable("a1", None)
    assert accounts.has_administrator()


def test_a_link_makes_one_account_an_administrator_once(accounts):
    accounts.put(ADA)
    accounts.put(BEN)
    accounts.replace_link("l1", NOW + HOUR)
    assert not accounts.use_link("l2", "a1", NOW)
    assert accounts.use_link("l1", "a1", NOW)
    assert not accounts.use_link("l1", "b1", NOW)
    assert [one.role for one in accounts.list()] == [Role.ADMIN, Role.READER]


def test_a_link_is_invalid_once_there_is_an_administrator(accounts):
    accounts.put(replace(ADA, role=Role.ADMIN))
    accounts.put(BEN)
    accounts.replace_link("l1", NOW + HOUR)
    assert not accounts.use_link("l1", "b1", NOW)
    accounts.set_role("b1", Role.EDITOR)
    assert [one.role for one in accounts.list()] == [Role.ADMIN, Role.EDITOR]


def test_a_link_is_invalid_when_it_is_old_replaced_or_removed(accounts):
    accounts.put(ADA)
    accounts.replace_link("l1", NOW + HOUR)
    assert not accounts.use_link("l1", "a1", NOW + 2 * HOUR)
    accounts.replace_link("l2", NOW + HOUR)
    assert not accounts.use_link("l1", "a1", NOW)
    accounts.remove_link()
    assert not accounts.use_link("l2", "a1", NOW)
