from datetime import UTC, datetime, timedelta

import pytest

from domain import LOCAL_USER, Account, ApiScope, Principal, Role
from domain.errors import SignInError
from services.api_key_service import ApiKeyService
from services.caller_service import CallerService
from storage.ledger.account_store import Accounts
from storage.ledger.api_key_store import ApiKeys
from storage.ledger.database import open_database
from tests.fakes.audit import audit_of

NOW = datetime.now(UTC)


class FakeTokens:
    """Accepts tokens that are the ids of accounts followed by a dot."""

    def __init__(self, accounts):
        self.accounts = accounts

    def verify(self, token, now):
        account = self.accounts.find(token.removesuffix("."))
        return account, account.principal


@pytest.fixture
def callers(tmp_path):
    database = open_database(tmp_path)
    accounts, keys = Accounts(database), ApiKeyService(ApiKeys(database), audit_of(database))
    return CallerService(keys, accounts, FakeTokens(accounts))


def add_account(callers, role=Role.READER, seen_at=NOW):
    times = {"created_at": NOW, "signed_in_at": NOW, "seen_at": seen_at}
    account = Account(
        "a1", "https://login.example.com", "ada", "Ada", "", role, frozenset(), **times
    )
    return callers.accounts.put(account)


def key_of(callers, *scopes, user="a1"):
    return callers.api_keys.create(LOCAL_USER, Principal(user), "Bot", scopes or tuple(ApiScope))


def test_a_key_makes_calls_with_its_scopes(callers):
    created = key_of(callers, ApiScope.READ, user="ada")
    caller = callers.caller(created.secret)
    assert (caller.id, caller.principal.user_id) == (created.key.id, "ada")
    assert caller.scopes == {ApiScope.READ}


@pytest.mark.parametrize(
    ("role", "scopes"),
    [
        (Role.READER, {ApiScope.READ, ApiScope.ASK}),
        (Role.EDITOR, {ApiScope.READ, ApiScope.ASK, ApiScope.MANAGE}),
        (Role.ADMIN, set(ApiScope)),
    ],
)
def test_the_scopes_of_a_token_follow_from_the_role_of_the_account(callers, role, scopes):
    account = add_account(callers, role)
    caller = callers.caller("a1.")
    assert (caller.origin, caller.principal.role, caller.scopes) == (account, role, scopes)


def test_a_key_of_an_account_has_at_most_its_role(callers):
    secret = key_of(callers).secret
    assert callers.caller(secret).principal.role is Role.EDITOR
    add_account(callers, Role.READER)
    assert callers.caller(secret).principal.role is Role.READER
    callers.accounts.set_role("a1", Role.EDITOR)
    assert callers.caller(secret).principal.role is Role.EDITOR


def test_a_key_of_a_disabled_account_is_refused(callers):
    secret = key_of(callers).secret
    add_account(callers)
    callers.accounts.disable("a1", NOW)
    with pytest.raises(SignInError, match="account of this key's user is disabled"):
        callers.caller(secret)
    callers.accounts.disable("a1", None)
    assert callers.caller(secret)


def test_without_a_provider_a_token_is_an_unknown_key(callers):
    add_account(callers)
    without = CallerService(callers.api_keys, callers.accounts)
    assert not without.is_token("a1.")
    with pytest.raises(SignInError, match="API key is unknown"):
        without.caller("a1.")


def test_only_what_could_be_a_token_is_checked_as_one(callers):
    assert callers.is_token("a.b.c")
    assert not callers.is_token(key_of(callers).secret)
    assert not callers.is_token("fn-a.b.c")
    assert not callers.is_token("")


def test_the_last_use_of_a_key_is_recorded(callers):
    caller = callers.caller(key_of(callers).secret)
    callers.note_use(caller)
    assert callers.api_keys.list(LOCAL_USER)[0].used_at is not None


@pytest.mark.parametrize(("minutes", "is_recorded"), [(61, True), (50, False)])
def test_the_last_use_of_an_account_is_recorded_at_most_once_an_hour(callers, minutes, is_recorded):
    before = datetime.now(UTC) - timedelta(minutes=minutes)
    add_account(callers, seen_at=before)
    callers.note_use(callers.caller("a1."))
    seen_at = callers.accounts.find("a1").seen_at
    assert (seen_at > before) == is_recorded
