"""The recording itself: whoever is called, and however, is seen."""

import socket
import sys
from contextlib import suppress

import pytest

from tests.fakes.outside import recorded

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux network namespaces"),
    pytest.mark.enable_socket,  # nobody is there to be reached
]


@pytest.fixture
def outside():
    with recorded() as calls:
        yield calls


def send(address, kind=socket.SOCK_DGRAM):
    family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
    with socket.socket(family, kind) as sender, suppress(OSError):
        sender.connect(address)
        sender.send(b"x")


def test_a_look_up_is_seen_though_it_fails(outside):
    with pytest.raises(OSError):
        socket.getaddrinfo("telemetry.example", 443)
    assert outside.calls() == ["telemetry.example"]


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM], ids=["tcp", "udp"])
@pytest.mark.parametrize("address", ["203.0.113.7", "2001:db8:1::7"])
def test_a_call_to_an_address_is_seen_though_nobody_is_there(outside, address, kind):
    send((address, 443), kind)
    assert outside.calls() == [f"{address} port 443"]


def test_what_stays_on_loopback_is_no_call(outside):
    with socket.create_server(("127.0.0.1", 0)) as server:
        send(server.getsockname(), socket.SOCK_STREAM)
    assert outside.calls() == []


def test_afterwards_the_network_is_as_before():
    before = socket.if_nameindex()
    with recorded():
        assert socket.if_nameindex() == [(1, "lo")]
    assert socket.if_nameindex() == before
