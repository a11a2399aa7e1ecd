import logging
import time
from datetime import UTC, datetime

import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from domain import Role
from domain.errors import SignInError, SignInUnavailableError
from services.sign_in.provider_keys import ProviderKeys
from services.sign_in.token_service import MAX_TOKEN_CHARS, TokenService
from storage.ledger.account_store import Accounts
from storage.ledger.database import open_database
from tests.fakes.audit import audit_of
from tests.fakes.sign_in import sign_in_options
from tests.fakes.token_provider import AUDIENCE, ec_key, rsa_key, serving_provider, unsigned

FORGED = "not signed by the sign-in service"
ANOTHER = "issued by another sign-in service or for another program"
NOW = datetime.now(UTC)


@pytest.fixture
def provider():
    with serving_provider() as provider:
        yield provider


@pytest.fixture
def tokens(provider, tmp_path):
    keys, database = ProviderKeys(provider.url), open_database(tmp_path)
    accounts, audit = Accounts(database), audit_of(database)
    return TokenService(keys, AUDIENCE, accounts, audit, sign_in_options(provider.url))


def principal_of(tokens, token):
    return tokens.verify(token, NOW)[1]


def refusal(tokens, token):
    with pytest.raises(SignInError) as raised:
        tokens.verify(token, NOW)
    assert not isinstance(raised.value, SignInUnavailableError)
    assert tokens.accounts.list() == []
    return str(raised.value)


def test_a_token_stands_for_a_person_and_the_groups_in_it(provider, tokens):
    token = provider.token(groups=["hr", "staff"], name="Ada")
    account, principal = tokens.verify(token, NOW)
    assert (account.subject, account.name, account.issuer) == ("ada-1", "Ada", provider.url)
    assert principal.user_id == account.id
    assert (principal.groups, principal.role) == ({"hr", "staff"}, Role.READER)
    assert not principal.is_operator
    assert tokens.accounts.list() == [account]


def test_the_groups_are_those_of_each_token(provider, tokens):
    assert principal_of(tokens, provider.token(groups=["hr"])).groups == {"hr"}
    assert principal_of(tokens, provider.token(groups=["it"])).groups == {"it"}
    assert principal_of(tokens, provider.token()).groups == set()
    assert principal_of(tokens, provider.token(groups="hr")).groups == {"hr"}
    assert principal_of(tokens, provider.token(groups=[1, None, {"a": 1}])).groups == set()


def test_only_a_verified_email_address_counts(provider, tokens):
    address = "ada@example.com"
    verified = provider.token(email=address, email_verified=True)
    assert principal_of(tokens, verified).email == address
    for is_verified in (None, False, "true", 1):
        token = provider.token(email=address, email_verified=is_verified)
        assert principal_of(tokens, token).email == ""


def test_the_role_is_that_of_the_account(provider, tokens):
    account, _principal = tokens.verify(provider.token(role="admin", roles=["admin"]), NOW)
    assert account.role is Role.READER
    tokens.accounts.set_role(account.id, Role.EDITOR)
    assert principal_of(tokens, provider.token()).role is Role.EDITOR


def test_tokens_of_different_people_stand_for_different_accounts(provider, tokens):
    ada, ben = (principal_of(tokens, provider.token(sub=one)) for one in ("ada-1", "ben-1"))
    assert ada.user_id != ben.user_id


def test_the_token_of_a_disabled_account_is_refused(provider, tokens):
    account, _principal = tokens.verify(provider.token(), NOW)
    tokens.accounts.disable(account.id, NOW)
    with pytest.raises(SignInError, match="account is disabled"):
        tokens.verify(provider.token(), NOW)


def test_es256_and_several_audiences_are_accepted(provider, tokens):
    provider.keys["ec"] = ec_key("ec")
    token = provider.token("ec", algorithm="ES256", aud=["other", AUDIENCE])
    assert principal_of(tokens, token)


def test_an_expired_token_is_refused(provider, tokens):
    past = int(time.time()) - 3600
    assert "has expired" in refusal(tokens, provider.token(iat=past, exp=past + 60))


def test_clocks_may_differ_by_a_minute(provider, tokens):
    now = int(time.time())
    assert principal_of(tokens, provider.token(iat=now + 30, exp=now + 300))
    assert principal_of(tokens, provider.token(iat=now - 300, exp=now - 30))


@pytest.mark.parametrize("claim", ["iat", "nbf"])
def test_a_token_of_the_future_is_refused(provider, tokens, claim):
    future = int(time.time()) + 600
    assert "correct the clock" in refusal(tokens, provider.token(**{claim: future}))


def test_a_token_for_another_audience_is_refused(provider, tokens):
    for audience in ("footnote", "https://docs.example.com", [], ["a", "b"], f"{AUDIENCE}/", 7):
        message = refusal(tokens, provider.token(aud=audience))
        assert ANOTHER in message or "lacks the claim aud" in message


def test_a_token_of_another_issuer_is_refused(provider, tokens):
    for issuer in ("https://evil.example.com", f"{provider.url}/realm", ""):
        assert ANOTHER in refusal(tokens, provider.token(iss=issuer))


@pytest.mark.parametrize("claim", ["exp", "iat", "iss", "aud", "sub"])
def test_a_token_without_a_required_claim_is_refused(provider, tokens, claim):
    assert f"lacks the claim {claim}" in refusal(tokens, provider.token(**{claim: None}))


@pytest.mark.parametrize(
    "claims", [{"sub": ""}, {"exp": "soon"}, {"iat": []}, {"iat": "1700000000"}]
)
def test_a_token_with_malformed_claims_is_refused(provider, tokens, claims):
    assert refusal(tokens, provider.token(**claims))


def test_a_token_with_a_forged_signature_is_refused(provider, tokens):
    forged = provider.token(key=rsa_key("evil"))
    head, body, signature = provider.token().split(".")
    other = provider.token(sub="root").split(".")[1]
    swapped = ".".join([head, other, signature])
    truncated = ".".join([head, body, signature[:-8]])
    for token in (forged, swapped, truncated, f"{head}.{body}."):
        assert FORGED in refusal(tokens, token)


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", "HS256", "RS512", "PS256", None])
def test_an_unsigned_token_is_refused(provider, tokens, algorithm):
    header = {"alg": algorithm, "kid": "k1", "typ": "JWT"}
    assert FORGED in refusal(tokens, unsigned(header, provider.claims()))


def test_a_token_signed_with_the_public_key_as_a_secret_is_refused(provider, tokens):
    public = provider.keys["k1"].public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head, body, _ = unsigned({"alg": "HS256", "kid": "k1"}, provider.claims()).split(".")
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(
        f"{head}.{body}".encode(), pem
    )
    encoded = jwt.utils.base64url_encode(signature).decode()
    assert FORGED in refusal(tokens, f"{head}.{body}.{encoded}")
    assert provider.requests == []


def test_the_algorithm_of_a_token_must_be_that_of_its_key(provider, tokens):
    provider.keys["ec"] = ec_key("ec")
    token = jwt.encode(provider.claims(), ec_key("ec"), "ES256", {"kid": "k1"})
    assert FORGED in refusal(tokens, token)


def test_a_token_with_an_unknown_or_no_key_id_is_refused(provider, tokens):
    assert FORGED in refusal(tokens, provider.token("k9", key=rsa_key("k1")))
    without = jwt.encode(provider.claims(), rsa_key("k1"), "RS256")
    assert FORGED in refusal(tokens, without)


def test_keys_named_by_a_token_are_never_fetched(provider, tokens):
    headers = {"kid": "k9", "jku": f"{provider.url}/evil", "x5u": f"{provider.url}/evil"}
    token = jwt.encode(provider.claims(), rsa_key("evil"), "RS256", headers)
    assert FORGED in refusal(tokens, token)
    assert not any("evil" in path for path in provider.requests)


def test_a_huge_token_is_refused_before_it_is_parsed(provider, tokens, monkeypatch):
    monkeypatch.setattr(jwt, "get_unverified_header", None)
    assert "too long: at most 16384 characters" in refusal(tokens, "x." * MAX_TOKEN_CHARS)
    assert provider.requests == []


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "a.b.c",
        "a.b.c.d.e",
        "é.é.é",
        "e30.e30.e30",
        "W10.W10.W10",
        "bnVsbA.bnVsbA.x",
        unsigned({"alg": "RS256", "kid": 7}, {}),
        unsigned({"alg": ["RS256"], "kid": "k1"}, {}),
        unsigned({"alg": "RS256", "kid": "k1", "crit": ["x"], "x": 1}, {}),
        f"{'W1tbW1tb' * 1500}.e30.x",
    ],
)
def test_what_is_no_token_is_refused(tokens, token):
    assert FORGED in refusal(tokens, token)


def test_a_token_can_not_be_checked_while_the_provider_is_down(provider, tokens, caplog):
    provider.status = 500
    with pytest.raises(SignInUnavailableError, match="API keys still work"):
        tokens.verify(provider.token(), NOW)
    assert tokens.accounts.list() == []


def test_refusals_are_logged_without_the_token(provider, tokens, caplog):
    caplog.set_level(logging.INFO, "footnote")
    token = provider.token(aud="other")
    refusal(tokens, token)
    assert "token refused" in [record.message for record in caplog.records]
    assert token not in caplog.text
