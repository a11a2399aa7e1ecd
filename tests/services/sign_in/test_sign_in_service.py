import logging
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from domain import LOCAL_USER, Role
from domain.errors import ConflictError, ForbiddenError, SignInError, StorageError
from services.long_work import ignore
from services.sign_in.account_service import AccountService
from services.sign_in.sign_in_service import SignInService
from storage.ledger.account_erasure import AccountErasure
from storage.ledger.account_store import Accounts
from storage.ledger.database import open_database
from storage.ledger.ledger_move import LedgerMove
from tests.fakes.audit import audit_of
from tests.fakes.sign_in import sign_in_options

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
OPTIONS = sign_in_options("https://login.example.com/")
ADA = {
    "iss": "https://login.example.com",
    "sub": "ada-1",
    "aud": "footnote",
    "iat": NOW.timestamp(),
    "nonce": "n-1",
    "name": "Ada  Lovelace",
    "email": "ada@example.com",
    "groups": ["hr", "staff"],
}
BEN = ADA | {"sub": "ben-1", "nonce": "n-2", "name": "Ben"}


@pytest.fixture
def sign_in(tmp_path):
    database = open_database(tmp_path)
    return SignInService(Accounts(database), audit_of(database), OPTIONS)


@pytest.fixture
def accounts(sign_in):
    return AccountService(sign_in.accounts, sign_in.audit)


def later(**duration):
    return NOW + timedelta(**duration)


def refusal(sign_in, claims, now=NOW):
    with pytest.raises(SignInError) as raised:
        sign_in.principal_of(claims, now)
    return str(raised.value)


def test_the_first_sign_in_creates_an_account(sign_in):
    principal = sign_in.principal_of(ADA, NOW)
    assert (principal.role, principal.groups) == (Role.READER, {"hr", "staff"})
    assert not principal.is_operator
    assert sign_in.account_of(ADA, NOW).name == "Ada Lovelace"
    assert sign_in.principal_of(ADA, later(hours=11)) == principal


def test_a_session_from_before_the_deletion_stays_ended_when_the_person_signs_in_again(
    tmp_path, sign_in
):
    account, moment = sign_in.account_of(ADA, NOW), later(hours=1)
    AccountErasure(open_database(tmp_path)).erase(LOCAL_USER, account.id, moment)
    assert "was deleted" in refusal(sign_in, ADA, later(hours=2))
    again = ADA | {"iat": later(hours=2).timestamp(), "nonce": "n-3"}
    assert sign_in.account_of(again, later(hours=2)).id == account.id
    assert "sign in again" in refusal(sign_in, ADA, later(hours=2))


def test_the_default_role_is_that_of_the_settings(sign_in):
    sign_in = replace(sign_in, options=replace(OPTIONS, default_role=Role.EDITOR))
    assert sign_in.principal_of(ADA, NOW).role is Role.EDITOR


def test_an_email_address_is_stored_as_a_whole_or_refused(sign_in):
    longest = "a" * 242 + "@example.com"
    assert sign_in.account_of(ADA | {"email": longest}, NOW).email == longest
    later_on = {"email": f"a{longest}", "sub": "other"}
    with pytest.raises(SignInError, match="more than 254 characters"):
        sign_in.account_of(ADA | later_on, NOW)


def test_an_account_is_that_of_issuer_and_subject_not_of_the_email_address(sign_in):
    ada, ben = sign_in.principal_of(ADA, NOW), sign_in.principal_of(BEN, NOW)
    assert ada.user_id != ben.user_id
    renamed = ADA | {"email": "lovelace@example.com", "iat": later(hours=1).timestamp()}
    assert sign_in.principal_of(renamed, later(hours=1)).user_id == ada.user_id


def test_the_groups_are_those_of_the_latest_sign_in_in_every_session(sign_in):
    first = sign_in.principal_of(ADA, NOW)
    again = ADA | {"groups": ["staff"], "iat": later(hours=1).timestamp(), "nonce": "n-3"}
    assert sign_in.principal_of(again, later(hours=1)).groups == {"staff"}
    assert sign_in.principal_of(ADA, later(hours=2)) == replace(first, groups=frozenset({"staff"}))


@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        (None, set()),
        ("hr", {"hr"}),
        ([], set()),
        (["hr", "", 7, None, ["x"]], {"hr"}),
        ({"hr": True}, set()),
    ],
)
def test_only_names_are_groups(sign_in, claim, groups):
    assert sign_in.principal_of(ADA | {"groups": claim}, NOW).groups == groups


def test_a_verified_address_is_a_reader_of_documents(sign_in):
    principal = sign_in.principal_of(ADA | {"email_verified": True}, NOW)
    assert {"email:ada@example.com", "domain:example.com"} <= principal.readers
    assert sign_in.account_of(ADA | {"email_verified": True}, NOW).email_verified


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_that_the_provider_has_not_verified_admits_to_nothing(sign_in, verified):
    principal = sign_in.principal_of(ADA | {"email_verified": verified}, NOW)
    assert principal.email == ""
    assert not sign_in.account_of(ADA | {"email_verified": verified}, NOW).email_verified
    assert not any(one.startswith(("email:", "domain:")) for one in principal.readers)


def test_an_address_that_the_person_no_longer_has_admits_to_nothing_in_an_older_session(sign_in):
    first = ADA | {"email_verified": True}
    sign_in.principal_of(first, NOW)
    changed = first | {"email": "new@example.com", "nonce": "n-3"}
    changed["iat"] = later(hours=1).timestamp()
    assert sign_in.principal_of(changed, later(hours=1)).email == "new@example.com"
    assert sign_in.principal_of(first, later(hours=2)).email == ""


def test_a_missing_groups_claim_means_no_groups(sign_in):
    without = {name: value for name, value in ADA.items() if name != "groups"}
    assert sign_in.principal_of(without, NOW).groups == set()


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"name": None, "preferred_username": "ada"}, "ada"),
        ({"name": " "}, "ada@example.com"),
        ({"name": "a\u0000b", "email": ""}, "ada-1"),
        ({"name": "x" * 1000}, "x" * 200),
        ({"name": ["Ada"]}, "ada@example.com"),
    ],
)
def test_a_name_is_one_printable_line(sign_in, claims, name):
    assert sign_in.account_of(ADA | claims, NOW).name == name


def test_a_session_expires_whatever_its_cookie_says(sign_in):
    assert sign_in.principal_of(ADA, later(hours=11, minutes=59))
    assert "expired" in refusal(sign_in, ADA, later(hours=12))


def test_a_clock_may_be_a_minute_fast(sign_in):
    assert sign_in.principal_of(ADA, later(seconds=-60))
    assert "clock" in refusal(sign_in, ADA, later(seconds=-61))


@pytest.mark.parametrize("claim", ["iss", "sub", "aud", "iat"])
@pytest.mark.parametrize("value", [None, ""])
def test_a_sign_in_without_a_necessary_claim_is_refused(sign_in, claim, value):
    assert f"({claim} is missing)" in refusal(sign_in, ADA | {claim: value})


@pytest.mark.parametrize("time", [True, "2026", [1], 1e20, float("nan"), float("inf")])
def test_a_time_that_is_none_is_refused(sign_in, time):
    assert "(iat is missing)" in refusal(sign_in, ADA | {"iat": time})


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://evil.example.com"},
        {"iss": ["https://login.example.com"]},
        {"aud": "another"},
        {"aud": ["another"]},
        {"aud": ["footnote", "another"]},
        {"aud": ["footnote", "another"], "azp": "another"},
        {"azp": "another"},
        {"aud": {"footnote": 1}},
    ],
)
def test_a_token_of_another_provider_or_for_another_program_is_refused(sign_in, claims):
    assert "another provider or program" in refusal(sign_in, ADA | claims)


@pytest.mark.parametrize(
    "claims", [{"aud": ["footnote"]}, {"aud": ["x", "footnote"], "azp": "footnote"}]
)
def test_a_token_for_several_programs_must_name_this_one(sign_in, claims):
    assert sign_in.principal_of(ADA | claims, NOW)


def test_an_ended_session_is_refused_and_a_new_sign_in_is_not(sign_in):
    sign_in.principal_of(ADA, NOW)
    sign_in.end_session(ADA, later(hours=1))
    assert "signed out" in refusal(sign_in, ADA, later(hours=1))
    assert sign_in.principal_of(BEN, later(hours=1))
    assert sign_in.principal_of(ADA | {"nonce": "n-3"}, later(hours=1))


def test_a_session_without_a_nonce_ends_by_its_time(sign_in):
    without = {name: value for name, value in ADA.items() if name != "nonce"}
    sign_in.end_session(without, NOW)
    assert "signed out" in refusal(sign_in, without)
    assert sign_in.principal_of(without | {"iat": NOW.timestamp() + 1}, later(seconds=1))


def test_an_ended_session_of_a_deleted_account_does_not_create_it_again(sign_in):
    sign_in.end_session(ADA, NOW)
    assert "signed out" in refusal(sign_in, ADA)
    assert sign_in.accounts.list() == []


def test_changes_of_an_account_count_at_the_next_call(sign_in, accounts):
    ada, ben = sign_in.principal_of(ADA, NOW), sign_in.principal_of(BEN, NOW)
    link = sign_in.make_administrator_link(NOW)
    sign_in.use_administrator_link(ada, link.rpartition("=")[2], NOW)
    ada = sign_in.principal_of(ADA, NOW)
    assert ada.role is Role.ADMIN

    accounts.set_role(ada, ben.user_id, Role.EDITOR)
    assert sign_in.principal_of(BEN, NOW).role is Role.EDITOR
    accounts.disable(ada, ben.user_id)
    assert "disabled" in refusal(sign_in, BEN)
    again = BEN | {"iat": later(hours=1).timestamp(), "nonce": "n-4"}
    assert "disabled" in refusal(sign_in, again, later(hours=1))
    accounts.enable(ada, ben.user_id)
    assert sign_in.principal_of(BEN, NOW).role is Role.EDITOR


def test_only_administrators_manage_accounts(sign_in, accounts):
    ada = replace(sign_in.principal_of(ADA, NOW), role=Role.EDITOR)
    with pytest.raises(ForbiddenError):
        accounts.list(ada)
    with pytest.raises(ForbiddenError):
        accounts.set_role(ada, ada.user_id, Role.ADMIN)
    with pytest.raises(ForbiddenError):
        accounts.disable(ada, ada.user_id)
    with pytest.raises(ForbiddenError):
        accounts.enable(ada, ada.user_id)


def test_the_last_administrator_can_not_leave(sign_in, accounts):
    ada = replace(sign_in.principal_of(ADA, NOW), role=Role.ADMIN)
    accounts.set_role(ada, ada.user_id, Role.ADMIN)
    with pytest.raises(ConflictError):
        accounts.disable(ada, ada.user_id)
    assert [one.name for one in accounts.list(ada)] == ["Ada Lovelace"]


def test_the_administrator_link_is_for_the_public_address_and_works_once(sign_in, caplog):
    caplog.set_level(logging.DEBUG, "footnote")
    ada, ben = sign_in.principal_of(ADA, NOW), sign_in.principal_of(BEN, NOW)
    old, new = (sign_in.make_administrator_link(NOW).rpartition("=")[2] for _ in range(2))
    assert sign_in.make_administrator_link(NOW).startswith(
        "https://docs.example.com/?administrator="
    )
    token = sign_in.make_administrator_link(NOW).rpartition("=")[2]
    assert len({old, new, token}) == 3
    for invalid in (old, new, "", "x"):
        with pytest.raises(SignInError, match="not valid"):
            sign_in.use_administrator_link(ada, invalid, NOW)
    with pytest.raises(SignInError, match="not valid"):
        sign_in.use_administrator_link(ada, token, later(hours=25))
    sign_in.use_administrator_link(ada, token, later(hours=23))
    with pytest.raises(SignInError, match="not valid"):
        sign_in.use_administrator_link(ben, token, later(hours=23))
    assert sign_in.principal_of(BEN, NOW).role is Role.READER
    assert token not in caplog.text


def test_there_is_no_link_while_there_is_an_administrator(sign_in):
    ada, ben = sign_in.principal_of(ADA, NOW), sign_in.principal_of(BEN, NOW)
    token = sign_in.make_administrator_link(NOW).rpartition("=")[2]
    sign_in.accounts.set_role(ada.user_id, Role.ADMIN)
    assert sign_in.make_administrator_link(NOW) == ""
    with pytest.raises(SignInError):
        sign_in.use_administrator_link(ben, token, NOW)


def test_the_time_of_use_is_recorded_to_the_hour(sign_in):
    sign_in.principal_of(ADA, NOW)
    sign_in.principal_of(ADA, later(minutes=59))
    assert sign_in.accounts.list()[0].seen_at == NOW
    sign_in.principal_of(ADA, later(hours=2))
    assert sign_in.accounts.list()[0].seen_at == later(hours=2)


def test_whoever_is_signed_in_can_read_a_library_that_was_moved(tmp_path, sign_in):
    principal = sign_in.principal_of(ADA, NOW)
    with closing(LedgerMove(tmp_path, "a", None, f"sqlite:///{tmp_path / 'new.db'}")) as move:
        move.prepare()
        move.finish(ignore)
    assert sign_in.principal_of(ADA, later(hours=3)) == principal
    assert sign_in.accounts.list()[0].seen_at == NOW
    with pytest.raises(StorageError, match="The library was moved from"):
        sign_in.principal_of(BEN, later(hours=3))
