"""A network namespace where nothing answers and every outgoing call is recorded.

All addresses of all networks are routed back to the namespace itself: a call is refused
immediately, and its packet is recorded whichever library sent it, even if errors are swallowed.
"""

import ctypes
import os
import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

import pytest

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET, for this thread and its children
_ALL_PROTOCOLS = 3  # ETH_P_ALL
_OUTGOING = 4  # PACKET_OUTGOING; on loopback each packet also arrives as incoming
_STATISTICS = (263, 6)  # SOL_PACKET, PACKET_STATISTICS
_BUFFER = 1 << 25
_SNAPSHOT = 512  # bytes of a packet: its headers, or a whole DNS question
_POLL_S = 0.1
_TCP, _UDP, _DNS = 6, 17, 53
_SYN, _ACK = 0x02, 0x10
# A non-loopback address; without one the C library does not look names up.
_ROUTES = (
    "ip link set lo up",
    "ip address add 192.0.2.1/32 dev lo",
    "ip route add local 0.0.0.0/0 dev lo",
)
_ROUTES_IPV6 = (
    "ip -6 address add 2001:db8::1/128 dev lo",
    "ip -6 route add local ::/0 dev lo",
)
_AS_ORDINARY_USER = "unshare --map-root-user .venv/bin/python -m pytest"


class Outside:
    """Records every call to a host beyond loopback, starting at construction."""

    def __init__(self) -> None:
        self._calls: set[str] = set()
        self._socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ALL_PROTOCOLS)
        )
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
        self._socket.settimeout(_POLL_S)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._record)
        self._thread.start()

    def calls(self) -> list[str]:
        """Stop recording.

        Returns:
            Each name that was looked up, and `ADDRESS port N` of each connection or datagram,
            sorted.
        """
        self.close()
        return sorted(self._calls)

    def close(self) -> None:
        """Stop recording."""
        if self._is_over.is_set():
            return
        self._is_over.set()
        self._thread.join()
        _, missed = struct.unpack("II", self._socket.getsockopt(*_STATISTICS, 8))
        self._socket.close()
        assert missed == 0, f"{missed} packets were missed: raise net.core.rmem_max"

    def _record(self) -> None:
        while True:
            try:
                packet, (_, _, direction, *_) = self._socket.recvfrom(_SNAPSHOT)
            except TimeoutError:
                if self._is_over.is_set():
                    return
                continue
            if direction == _OUTGOING and (call := _call(packet)):
                self._calls.add(call)


@contextmanager
def recorded() -> Iterator[Outside]:
    """Move this thread, and the processes and servers it starts, into such a namespace.

    Skips the test if none can be created, or if a daemon outside the namespace looks up names.
    """
    if shutil.which("ip") is None:
        pytest.skip("ip is missing; get it with: apt-get install iproute2")
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    try:
        if libc.unshare(_NEW_NETWORK):
            reason = os.strerror(ctypes.get_errno())
            pytest.skip(f"no network namespace ({reason}); unless root, run {_AS_ORDINARY_USER}")
        _route_all_addresses_back()
        _check_that_lookups_are_recorded()
        outside = Outside()
        try:
            yield outside
        finally:
            outside.close()
    finally:
        libc.setns(before, _NEW_NETWORK)
        os.close(before)


def _route_all_addresses_back() -> None:
    has_ipv6 = Path("/proc/thread-self/net/if_inet6").exists()
    for command in (*_ROUTES, *(_ROUTES_IPV6 if has_ipv6 else ())):
        subprocess.run(command.split(), check=True, timeout=10)


def _check_that_lookups_are_recorded() -> None:
    outside = Outside()
    with suppress(OSError):
        socket.getaddrinfo("look-up.example", 80)
    if "look-up.example" not in outside.calls():
        pytest.skip("names are looked up by a daemon (see hosts in /etc/nsswitch.conf)")


def _call(packet: bytes) -> str | None:
    """The call that an outgoing packet starts; None for replies and loopback traffic."""
    if packet[0] >> 4 == 4:
        protocol, address, content = packet[9], packet[16:20], packet[(packet[0] & 15) * 4 :]
    else:
        protocol, address, content = packet[6], packet[24:40], packet[40:]
    if protocol not in (_TCP, _UDP):
        return None
    if protocol == _TCP and content[13] & (_SYN | _ACK) != _SYN:
        return None
    (port,) = struct.unpack_from("!H", content, 2)
    if (protocol, port) == (_UDP, _DNS):
        return _name(content[20:])
    host = ip_address(address)
    return None if host.is_loopback else f"{host} port {port}"


def _name(question: bytes) -> str:
    """The name of a DNS question: length-prefixed labels."""
    labels = []
    while length := question[0]:
        labels.append(question[1 : length + 1].decode("ascii", "replace"))
        question = question[length + 1 :]
    return ".".join(labels)
