import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.web.host_policy import Host, Origin

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,20}(\.[a-z][a-z0-9-]{0,20}){0,3}", fullmatch=True)
PORTS = st.none() | st.integers(0, 65535)


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("localhost", Host("localhost")),
        ("LocalHost:8501", Host("localhost", 8501)),
        ("docs.example.com.", Host("docs.example.com")),
        ("docs.example.com.:80", Host("docs.example.com", 80)),
        ("my_container:8600", Host("my_container", 8600)),
        ("[::1]:8501", Host("[::1]", 8501)),
        ("[0:0:0:0:0:0:0:1]", Host("[::1]")),
        ("[FE80::1]", Host("[fe80::1]")),
    ],
)
def test_a_host_is_normalized(text, host):
    assert Host.parse(text) == host


@pytest.mark.parametrize(
    "text",
    [
        "",
        " localhost",
        "localhost ",
        "localhost\n",
        "localhost:",
        "localhost:x",
        "localhost:-1",
        "localhost:65536",
        "localhost:8501:8501",
        "localhost:٣",
        "localhost/",
        "localhost#x",
        "localhost?x",
        "localhost\\x",
        "user@localhost",
        "localhost,evil.example",
        "localhost evil.example",
        "http://localhost",
        "::1",
        "[::1",
        "[localhost]",
        "[::1%eth0]",
        "[1:2]",
        ".",
        "..",
        ".localhost",
        "local..host",
        "*",
        "ⓛocalhost",
        "localhost\x00.evil.example",
    ],
)
def test_an_invalid_host_is_none(text):
    assert Host.parse(text) is None


@given(NAMES, PORTS)
def test_any_host_is_parsed_in_any_case(name, port):
    text = name if port is None else f"{name}:{port}"
    assert Host.parse(text) == Host(name, port) == Host.parse(text.upper())


@given(st.text())
def test_arbitrary_text_is_never_a_host_with_special_characters(text):
    host = Host.parse(text)
    assert host is None or not set(host.name) & set(" /\\@?#,\t\r\n")


@pytest.mark.parametrize(
    "name", ["localhost", "app.localhost", "127.0.0.1", "127.8.9.10", "[::1]", "LOCALHOST."]
)
def test_loopback_names_and_addresses_are_recognized(name):
    assert Host.parse(name).is_loopback


@pytest.mark.parametrize(
    "name",
    [
        "evil.example",
        "localhost.evil.example",
        "evillocalhost",
        "127.0.0.1.evil.example",
        "127.1",
        "2130706433",
        "0.0.0.0",
        "[::]",
        "128.0.0.1",
        "192.168.1.20",
        "[fe80::1]",
    ],
)
def test_other_names_and_addresses_are_not_loopback(name):
    assert not Host.parse(name).is_loopback


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8501", "localhost:8501"),
        ("http://LOCALHOST:8501", "localhost:8501"),
        ("http://[::1]:8501", "[0:0:0:0:0:0:0:1]:8501"),
        ("https://docs.example.com", "docs.example.com"),
        ("https://docs.example.com", "docs.example.com:443"),
        ("http://docs.example.com:80", "docs.example.com"),
        ("https://docs.example.com:8443", "docs.example.com:8443"),
    ],
)
def test_a_page_may_call_the_host_that_served_it(origin, host):
    assert Origin.parse(origin).serves(Host.parse(host))


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:9999", "localhost:8501"),
        ("http://localhost", "localhost:8501"),
        ("http://localhost:8501", "127.0.0.1:8501"),
        ("http://docs.example.com", "docs.example.com:443"),
        ("https://evil.example", "docs.example.com"),
        ("https://docs.example.com.evil.example", "docs.example.com"),
    ],
)
def test_a_page_of_another_name_or_port_has_another_origin(origin, host):
    assert not Origin.parse(origin).serves(Host.parse(host))


@pytest.mark.parametrize(
    "text",
    [
        "null",
        "",
        "localhost:8501",
        "//localhost:8501",
        "file://",
        "chrome-extension://localhost",
        "http://localhost:8501/",
        "http://localhost:8501/path",
        "http://user@localhost:8501",
        "http://localhost:8501 http://evil.example",
        "http://",
    ],
)
def test_an_invalid_origin_is_none(text):
    assert Origin.parse(text) is None
