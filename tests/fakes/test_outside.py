"""Every kind of outgoing call is recorded."""

import socket
import sys
from contextlib import suppress

import pytest

from tests.fakes.outside import recorded

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs Linux network namespaces"),
    pytest.mark.enable_socket,  # nothing listens there
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


def test_a_failed_name_lookup_is_recorded(outside):
    with pytest.raises(OSError):
        socket.getaddrinfo("telemetry.example", 443)
    assert outside.calls() == ["telemetry.example"]


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM], ids=["tcp", "udp"])
@pytest.mark.parametrize("address", ["203.0.113.7", "2001:db8:1::7"])
def test_a_connection_to_an_unused_address_is_recorded(outside, address, kind):
    send((address, 443), kind)
    assert outside.calls() == [f"{address} port 443"]


def test_loopback_traffic_is_not_recorded(outside):
    with socket.create_server(("127.0.0.1", 0)) as server:
        send(server.getsockname(), socket.SOCK_STREAM)
    assert outside.calls() == []


def test_the_network_is_restored_afterwards():
    before = socket.if_nameindex()
    with recorded():
        assert socket.if_nameindex() == [(1, "lo")]
    assert socket.if_nameindex() == before
