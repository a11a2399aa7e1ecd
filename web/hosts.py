"""Host names and origins as requests write them, in one spelling each."""

import re
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple, Self

_HOST = r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(?P<port>[0-9]{1,5}))?"
_HOST_ONLY = re.compile(_HOST, re.IGNORECASE | re.ASCII)
_ORIGIN = re.compile(rf"(?P<scheme>https?)://{_HOST}", re.IGNORECASE | re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HIGHEST_PORT = 65535


class Host(NamedTuple):
    """A host in lower case, without a trailing dot; `port` is None where none was written.

    IPv6 addresses are in brackets and in their shortest spelling.
    """

    name: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The host that a `Host` header names; None where it is not a valid one."""
        found = _HOST_ONLY.fullmatch(text)
        return cls._of(found) if found else None

    @classmethod
    def _of(cls, found: re.Match[str]) -> Self | None:
        port = None if found["port"] is None else int(found["port"])
        name = _canonical(found["name"].lower())
        return None if name is None or (port or 0) > _HIGHEST_PORT else cls(name, port)

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The IP address that is written here; None for a name."""
        return _address(self.name)

    @property
    def is_loopback(self) -> bool:
        """Whether it can mean nothing but the machine that the client runs on."""
        if self.name == "localhost" or self.name.endswith(".localhost"):
            return True
        address = self.address
        return address is not None and address.is_loopback


class Origin(NamedTuple):
    """The origin of a web page that was loaded over HTTP or HTTPS."""

    scheme: str
    host: Host

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """The origin that an `Origin` header names; None for `null` and other schemes."""
        found = _ORIGIN.fullmatch(text)
        host = Host._of(found) if found else None
        return cls(found["scheme"].lower(), host) if found and host else None

    def serves(self, host: Host) -> bool:
        """Whether a page of this origin was loaded from that host.

        A proxy that ends TLS hides the scheme from the server, so a port that is not written is
        the default port of the origin's scheme on both sides.
        """
        default = _DEFAULT_PORTS[self.scheme]
        own, other = self.host.port or default, host.port or default
        return self.host.name == host.name and own == other


def _canonical(name: str) -> str | None:
    if not name.startswith("["):
        return name
    address = _address(name)
    return f"[{address}]" if address else None


def _address(name: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(name.strip("[]"))
    except ValueError:
        return None
