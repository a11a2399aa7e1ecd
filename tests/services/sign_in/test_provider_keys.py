import threading

import pytest

from domain.errors import SignInUnavailableError
from services.sign_in import provider_keys
from services.sign_in.provider_keys import MAX_AGE_S, REFRESH_S, ProviderKeys
from tests.fakes.token_provider import ec_key, public_jwk, rsa_key, serving_provider

UNAVAILABLE = "keys of the sign-in service can't be fetched now"


class Clock:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def provider():
    with serving_provider() as provider:
        yield provider


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def keys(provider, clock):
    return ProviderKeys(provider.url, clock)


def test_keys_are_fetched_once_and_only_when_they_are_needed(provider, keys):
    assert provider.requests == []
    for _ in range(3):
        assert keys.find("k1").algorithm_name == "RS256"
    assert provider.fetches == 1


def test_the_issuer_may_end_with_a_slash(provider, clock):
    assert ProviderKeys(f"{provider.url}/", clock).find("k1")


def test_a_new_key_is_found_after_a_minute_at_the_latest(provider, keys, clock):
    assert keys.find("k1")
    provider.keys["k2"] = ec_key("k2")
    assert keys.find("k2") is None
    clock.seconds += REFRESH_S
    assert keys.find("k2").algorithm_name == "ES256"
    assert provider.fetches == 2


def test_unknown_keys_cause_at_most_one_request_a_minute(provider, keys, clock):
    for n in range(20):
        assert keys.find(f"unknown {n}") is None
    assert provider.fetches == 1
    clock.seconds += REFRESH_S - 1
    keys.find("unknown")
    assert provider.fetches == 1
    clock.seconds += 1
    for n in range(20):
        assert keys.find(f"unknown {n}") is None
    assert provider.fetches == 2


def test_a_key_that_the_provider_withdraws_is_forgotten_after_an_hour(provider, keys, clock):
    assert keys.find("k1")
    provider.keys = {"k2": rsa_key("k2")}
    clock.seconds += MAX_AGE_S - 1
    assert keys.find("k1")
    clock.seconds += 1
    assert keys.find("k1") is None
    assert keys.find("k2")


def test_known_keys_remain_valid_while_the_provider_is_down(provider, keys, clock):
    assert keys.find("k1")
    provider.status = 503
    clock.seconds += MAX_AGE_S
    assert keys.find("k1")
    with pytest.raises(SignInUnavailableError, match=UNAVAILABLE):
        keys.find("k2")
    provider.status, provider.keys["k2"] = 200, rsa_key("k2")
    clock.seconds += REFRESH_S
    assert keys.find("k2")


def test_a_provider_that_is_down_at_first_is_asked_again_after_some_seconds(
    provider, keys, clock, caplog
):
    provider.status = 503
    for _ in range(3):
        with pytest.raises(SignInUnavailableError, match=UNAVAILABLE):
            keys.find("k1")
    assert len(provider.requests) == 2  # an attempt and its retry
    assert [record.message for record in caplog.records].count("keys not fetched") == 1
    provider.status = 200
    clock.seconds += 5
    assert keys.find("k1")


def test_a_provider_that_does_not_run_is_unavailable(clock):
    with pytest.raises(SignInUnavailableError, match=UNAVAILABLE):
        ProviderKeys("http://127.0.0.1:9", clock).find("k1")


def test_a_provider_that_does_not_answer_in_time_is_unavailable(provider, keys, monkeypatch):
    monkeypatch.setattr(provider_keys, "_TIMEOUT_S", 1)
    provider.is_slow = True
    with pytest.raises(SignInUnavailableError, match=UNAVAILABLE):
        keys.find("k1")
    assert len(provider.requests) == 1


def test_a_known_key_is_found_while_the_provider_does_not_answer(provider, keys, clock):
    assert keys.find("k1")
    provider.is_slow = True
    clock.seconds += MAX_AGE_S
    waiting = threading.Thread(target=keys.find, args=["k1"])
    waiting.start()
    while len(provider.requests) == 2:  # until the thread has sent its request
        waiting.join(0.01)
    assert keys.find("k1")
    provider.end.set()
    waiting.join(60)
    assert not waiting.is_alive()


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://other.example.com"},
        {"issuer": None},
        {"jwks_uri": None},
        {"jwks_uri": "file:///etc/passwd"},
        {"jwks_uri": "ftp://127.0.0.1/keys"},
        {"jwks_uri": 7},
    ],
)
def test_unusable_metadata_yield_no_keys(provider, keys, metadata):
    provider.metadata |= metadata
    with pytest.raises(SignInUnavailableError):
        keys.find("k1")
    assert provider.fetches == 0


@pytest.mark.parametrize("key_set", [{"keys": []}, {"keys": {}}, {"keys": [7]}, [1], "x", {"a": 1}])
def test_an_unusable_set_of_keys_yields_no_keys(provider, keys, key_set):
    provider.key_set = key_set
    with pytest.raises(SignInUnavailableError):
        keys.find("k1")


def test_a_set_of_keys_that_is_too_large_is_refused(provider, keys):
    provider.key_set = {"keys": [public_jwk("k1", rsa_key("k1"))], "other": "x" * 2**20}
    with pytest.raises(SignInUnavailableError):
        keys.find("k1")


def test_only_keys_for_signatures_with_known_algorithms_are_used(provider, keys):
    secret = {"kty": "oct", "k": "c2VjcmV0", "kid": "secret"}
    provider.key_set = {
        "keys": [
            public_jwk("signs", rsa_key("k1"), use="sig", alg="RS256"),
            public_jwk("encrypts", rsa_key("k1"), use="enc"),
            public_jwk("other", rsa_key("k1"), alg="PS256"),
            secret,
        ]
    }
    assert keys.find("signs")
    assert [keys.find(one) for one in ("encrypts", "other", "secret")] == [None] * 3
