"""Only public addresses may be connected to, however they are written or found."""

import errno
import socket
from ipaddress import ip_address

import pytest

from domain.errors import ConfigError, ForbiddenAddressError
from domain.web.address_guard import AddressGuard, AllowedHosts, is_private, is_public

PUBLIC, OTHER = "93.184.216.34", "2606:4700::1111"
UNKNOWN = socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize(
    ("address", "is_near"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.1.2.3", True),
        ("192.168.1.20", True),
        ("100.64.0.1", True),
        ("fd12:3456::1", True),
        ("169.254.169.254", False),
        ("::ffff:169.254.169.254", False),
        ("fe80::1", False),
        ("fd00:ec2::254", False),
        ("100.100.100.200", False),
        ("0.0.0.0", False),
        ("::", False),
        ("224.0.0.1", False),
        ("ff02::1", False),
        ("255.255.255.255", False),
        (PUBLIC, False),
    ],
)
def test_private_addresses_exclude_those_with_credentials_of_clouds(address, is_near):
    assert is_private(ip_address(address)) is is_near


@pytest.fixture
def names(monkeypatch):
    """The addresses of names, in place of those that DNS knows; addresses are parsed as usual."""
    known = {}
    really = socket.getaddrinfo

    def getaddrinfo(host, port, *arguments, **options):
        if host not in known:
            return really(host, port, flags=socket.AI_NUMERICHOST, type=socket.SOCK_STREAM)
        if isinstance(known[host], OSError):
            raise known[host]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in known[host]]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return known


def guard(allowed="", **options):
    return AddressGuard(AllowedHosts.parse(allowed), **options)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.8.9.10", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1",
        "169.254.169.254", "100.64.0.1", "100.100.100.200", "224.0.0.1", "239.1.2.3",
        "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "192.88.99.1",
        "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1",
        "fec0::1", "feff::1", "3fff::1", "3fff:fff::1",
        "64:ff9b::7f00:1", "64:ff9b::169.254.169.254", "2002:7f00:1::", "2002:a00:1::",
    ],
)  # fmt: skip
def test_addresses_that_are_not_public_are_recognized(address):
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", [PUBLIC, OTHER, f"::ffff:{PUBLIC}", f"64:ff9b::{PUBLIC}"])
def test_public_addresses_are_recognized(address):
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "0", "::1",
     "::ffff:127.0.0.1", "fe80::1%lo", "169.254.169.254", "2852039166"],
)  # fmt: skip
def test_every_notation_of_a_forbidden_address_is_rejected(names, host):
    with pytest.raises(ForbiddenAddressError, match="FOOTNOTE_ALLOWED_PRIVATE_HOSTS"):
        guard().addresses(host, 80)
    with pytest.raises(ForbiddenAddressError):
        guard().check_literal(host, 80)


def test_a_name_is_rejected_in_the_same_words_whether_it_is_private_or_unknown(names):
    names["wiki.internal"], names["nowhere.internal"] = ["10.0.0.7"], UNKNOWN
    messages = []
    for name in names:
        with pytest.raises(ForbiddenAddressError) as raised:
            guard().addresses(name, 443)
        messages.append(str(raised.value).replace(name, "NAME"))
    assert messages[0] == messages[1]


@pytest.mark.parametrize(
    "error",
    [
        socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
        socket.gaierror(socket.EAI_FAIL, "Non-recoverable failure in name resolution"),
        OSError(errno.EMFILE, "Too many open files"),
    ],
)
def test_a_lookup_that_may_succeed_later_is_an_error_of_the_network(names, error):
    names["wiki.example.com"] = error
    with pytest.raises(OSError, match=error.strerror):
        guard().addresses("wiki.example.com", 443)


@pytest.mark.parametrize("options", [{"allowed": "wiki.internal"}, {"permits_private": True}])
def test_an_unknown_name_is_an_error_of_the_network_if_it_may_be_private(names, options):
    """The network with its DNS server may be back later, such as after a VPN connects."""
    names["wiki.internal"] = UNKNOWN
    with pytest.raises(socket.gaierror):
        guard(**options).addresses("wiki.internal", 443)


def test_only_the_public_addresses_of_a_name_are_used(names):
    names["wiki.example.com"] = ["127.0.0.1", PUBLIC, "10.0.0.7", OTHER]
    assert guard().addresses("wiki.example.com", 443) == [PUBLIC, OTHER]


def test_a_name_is_looked_up_once(names, monkeypatch):
    names["wiki.example.com"] = [PUBLIC]
    lookups = []
    once = socket.getaddrinfo

    def getaddrinfo(*arguments, **options):
        lookups.append(arguments)
        return once(*arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    assert guard().addresses("wiki.example.com", 443) == [PUBLIC]
    assert len(lookups) == 1


@pytest.mark.parametrize(
    ("allowed", "host", "is_allowed"),
    [
        ("wiki.internal", "wiki.internal", True),
        ("wiki.internal", "WIKI.internal", True),
        ("wiki.internal:8090", "wiki.internal", True),
        ("wiki.internal:8091", "wiki.internal", False),
        ("internal", "wiki.internal", False),
        ("10.0.0.7", "wiki.internal", True),
        ("10.0.0.7:8090", "wiki.internal", True),
        ("10.0.0.7:8091", "wiki.internal", False),
        ("10.0.0.0/8", "wiki.internal", True),
        ("10.0.0.0/8", "10.9.9.9", True),
        ("10.0.0.0/8", "::ffff:10.9.9.9", True),
        ("192.168.0.0/16, 10.0.0.0/24", "10.0.1.1", False),
        ("[::1]", "::1", True),
        ("::1", "127.0.0.1", False),
        ("*", "127.0.0.1", True),
    ],
)
def test_the_setting_allows_names_addresses_and_networks(names, allowed, host, is_allowed):
    names["wiki.internal"] = names["WIKI.internal"] = ["10.0.0.7"]
    if is_allowed:
        assert guard(allowed).addresses(host, 8090)
        return
    with pytest.raises(ForbiddenAddressError):
        guard(allowed).addresses(host, 8090)


@pytest.mark.parametrize("text", ["http://10.0.0.1", "10.0.0.0/33", "a b"])
def test_an_invalid_entry_names_the_setting(text):
    with pytest.raises(ConfigError, match="FOOTNOTE_ALLOWED_PRIVATE_HOSTS"):
        AllowedHosts.parse(text)
