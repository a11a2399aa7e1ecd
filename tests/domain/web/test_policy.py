import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import ConfigError
from domain.web.host_policy import Host, HostPolicy, Origin, bound_hosts, parse_hosts

SETTING = "FOOTNOTE_ALLOWED_HOSTS"


def status(policy, host, origin=None, **more):
    refusal = policy.refusal([host], [] if origin is None else [origin], **more)
    return refusal and refusal.status


def allowing(*entries, origins=()):
    return HostPolicy(parse_hosts(entries, SETTING), origins)


def test_only_loopback_names_are_answered_by_default():
    assert status(HostPolicy(), "localhost:8501") is None
    assert status(HostPolicy(), "[::1]:8501") is None
    assert status(HostPolicy(), "evil.example") == 403
    assert status(HostPolicy(), "192.168.1.20:8501") == 403


@pytest.mark.parametrize(
    ("entry", "host"),
    [
        ("docs.example.com", "docs.example.com"),
        ("docs.example.com", "Docs.Example.com:8501"),
        ("docs.example.com:8501", "docs.example.com:8501"),
        ("docs.example.com:443", "docs.example.com"),
        (" footnote ", "footnote:8501"),
        ("192.168.1.20", "192.168.1.20:8501"),
        ("fe80::1", "[fe80::1]:8501"),
        ("[fe80::1]:8501", "[fe80::1]:8501"),
        ("*", "whatever.example"),
    ],
)
def test_an_allowed_host_is_answered(entry, host):
    assert status(allowing(entry), host) is None


@pytest.mark.parametrize(
    ("entry", "host"),
    [
        ("docs.example.com", "example.com"),
        ("docs.example.com", "evil.docs.example.com"),
        ("docs.example.com", "docs.example.com.evil.example"),
        ("docs.example.com:8501", "docs.example.com:8502"),
        ("docs.example.com:8501", "docs.example.com"),
        ("", "docs.example.com"),
    ],
)
def test_a_similar_host_is_refused(entry, host):
    assert status(allowing(entry), host) == 403


@pytest.mark.parametrize(
    "hosts", [[], ["localhost", "localhost"], ["localhost", "evil.example"], ["a b"], [""]]
)
def test_a_request_without_exactly_one_valid_host_is_always_refused(hosts):
    assert HostPolicy().refusal(hosts, []).status == 400
    assert allowing("*").refusal(hosts, []).status == 400


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost:9999",
        "http://127.0.0.1:8501",
        "null",
        "",
        "chrome-extension://abcdef",
    ],
)
@pytest.mark.parametrize("policy", [HostPolicy(), allowing("*"), allowing("evil.example")])
def test_a_web_page_of_another_origin_is_refused(policy, origin):
    assert status(policy, "localhost:8501", origin) == 403


def test_a_request_with_several_origins_is_refused():
    own = "http://localhost:8501"
    assert HostPolicy().refusal(["localhost:8501"], [own, own]).status == 403


def test_an_allowed_origin_may_use_every_host_of_the_server():
    policy = allowing(origins=["https://wiki.example.com", "chrome-extension://abcdef"])
    for origin in ("https://wiki.example.com", "chrome-extension://abcdef"):
        assert status(policy, "localhost:8600", origin) is None
    assert status(policy, "localhost:8600", "https://wiki.example.com:444") == 403
    assert status(policy, "evil.example", "https://wiki.example.com") == 403


def test_a_null_origin_is_refused_even_if_all_origins_are_allowed():
    assert status(allowing(origins=["*"]), "localhost", "https://any.example") is None
    assert status(allowing(origins=["*", "null"]), "localhost", "null") == 403


def test_a_health_check_may_use_an_address_but_not_a_name():
    assert status(HostPolicy(), "10.1.2.3:8501", from_probe=True) is None
    assert status(HostPolicy(), "[fd00::1]:8501", from_probe=True) is None
    assert status(HostPolicy(), "evil.example", from_probe=True) == 403
    assert status(HostPolicy(), "10.1.2.3", "http://evil.example", from_probe=True) == 403


@pytest.mark.parametrize(
    ("address", "hosts"),
    [
        ("192.168.1.20", [Host("192.168.1.20")]),
        ("docs.internal", [Host("docs.internal")]),
        ("::1", [Host("[::1]")]),
        ("fe80::1%eth0", [Host("[fe80::1]")]),
        ("0.0.0.0", []),
        ("::", []),
        ("", []),
    ],
)
def test_the_listen_address_is_allowed_unless_it_is_a_wildcard(address, hosts):
    assert bound_hosts(address) == hosts


@pytest.mark.parametrize("entry", ["http://docs.example.com", "a b", "docs.example.com/", "*.com"])
def test_an_invalid_entry_is_reported_with_its_setting(entry):
    with pytest.raises(
        ConfigError, match="FOOTNOTE_ALLOWED_HOSTS: .* is not a valid host"
    ) as raised:
        parse_hosts(["localhost", entry], SETTING)
    assert repr(entry) in str(raised.value)


@pytest.mark.parametrize(
    ("hosts", "origins", "setting"),
    [
        (["evil.example"], [], "FOOTNOTE_ALLOWED_HOSTS"),
        (["localhost"], ["http://evil.example"], "FOOTNOTE_API_CORS_ORIGINS"),
    ],
)
def test_a_refusal_names_the_setting_and_does_not_echo_the_request(hosts, origins, setting):
    reason = HostPolicy().refusal(hosts, origins).reason
    assert setting in reason
    assert "evil" not in reason


TEXTS = st.text(max_size=30) | st.sampled_from(["null", "http://localhost:8501", "localhost:8501"])


@given(st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
def test_a_request_that_passes_has_one_loopback_host_and_only_its_own_origin(hosts, origins):
    if HostPolicy().refusal(hosts, origins) is None:
        [host] = map(Host.parse, hosts)
        assert host.is_loopback
        assert all(Origin.parse(origin).serves(host) for origin in origins)
        assert len(origins) <= 1
