"""Decides which `Host` headers a server accepts, and which origins' web pages may use it."""

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple, Self

from domain.errors import ConfigError
from domain.messages import _

_HOST = r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)\.?(?::(?P<port>[0-9]{1,5}))?"
_HOST_ONLY = re.compile(_HOST, re.IGNORECASE | re.ASCII)
_ORIGIN = re.compile(rf"(?P<scheme>https?)://{_HOST}", re.IGNORECASE | re.ASCII)
_DEFAULT_PORTS = {"http": 80, "https": 443}
_HIGHEST_PORT = 65535


class Host(NamedTuple):
    """A host in lower case, without a trailing dot; `port` is None if it is missing.

    IPv6 addresses are in brackets and in their shortest form.
    """

    name: str
    port: int | None = None

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse a `Host` header; None if it is not valid."""
        match = _HOST_ONLY.fullmatch(text)
        return cls._of(match) if match else None

    @classmethod
    def _of(cls, match: re.Match[str]) -> Self | None:
        port = None if match["port"] is None else int(match["port"])
        name = _canonical(match["name"].lower())
        return None if name is None or (port or 0) > _HIGHEST_PORT else cls(name, port)

    @property
    def address(self) -> IPv4Address | IPv6Address | None:
        """The IP address; None if the host is a name."""
        return _address(self.name)

    @property
    def is_loopback(self) -> bool:
        """Whether it can only refer to the client's own machine."""
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
        """Parse an `Origin` header; None for `null` and schemes other than HTTP and HTTPS."""
        match = _ORIGIN.fullmatch(text)
        host = Host._of(match) if match else None
        return cls(match["scheme"].lower(), host) if match and host else None

    def serves(self, host: Host) -> bool:
        """Whether a page of this origin was loaded from that host.

        A proxy that terminates TLS hides the scheme from the server, so a missing port is taken to
        be the default port of the origin's scheme on both sides.
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


ANY = "*"
_PORTS_LEFT_OUT = (80, 443)  # browsers omit these from `Host`
_OPAQUE = "null"  # sent by browsers for sandboxed frames and local files

_NO_HOST = _("Send exactly one Host header that names a host, as HTTP/1.1 requires.")
_OTHER_HOST = _(
    "This server does not accept the host in the Host header. To allow it, add it to"
    " FOOTNOTE_ALLOWED_HOSTS and restart the server."
)
_OTHER_ORIGIN = _(
    "Requests from web pages of another origin are not allowed. If the server is behind a"
    " proxy, make the proxy forward the browser's Host header, and add that host to"
    " FOOTNOTE_ALLOWED_HOSTS. To let web pages of other origins call the API, set"
    " FOOTNOTE_API_CORS_ORIGINS."
)


class Refusal(NamedTuple):
    """Why a request is rejected: an HTTP status, and a sentence that names the setting."""

    status: int
    reason: str


class HostPolicy:
    """Allows loopback names, and the hosts and origins that an operator has added.

    A web page can point its own domain name at this machine (DNS rebinding), so unknown names in
    `Host` are rejected. It can also send requests to a known name, but then with its own origin in
    `Origin`. Therefore, `Origin`, if present, must match the host or be one of `origins`.
    """

    def __init__(self, hosts: Iterable[Host] = (), origins: Iterable[str] = ()) -> None:
        """Allow hosts and origins in addition to loopback.

        Args:
            hosts: Additional hosts; without a port, any port is allowed.
            origins: Allowed origins, exactly as browsers send them, or `*`.
        """
        self._hosts = frozenset(hosts)
        self._any_host = Host(ANY) in self._hosts
        self._origins = frozenset(origins)

    def refusal(
        self, hosts: Sequence[str], origins: Sequence[str], *, from_probe: bool = False
    ) -> Refusal | None:
        """Why a request with these headers is rejected; None if it is allowed.

        Args:
            hosts: The values of its `Host` headers.
            origins: The values of its `Origin` headers.
            from_probe: Whether it is a health check. Orchestrators use an IP address as host, which
                DNS rebinding can't imitate.
        """
        host = Host.parse(hosts[0]) if len(hosts) == 1 else None
        if host is None:
            return Refusal(400, _NO_HOST)
        if not (self._allows(host) or (from_probe and host.address is not None)):
            return Refusal(403, _OTHER_HOST)
        if origins and not (len(origins) == 1 and self._may_use(origins[0], host)):
            return Refusal(403, _OTHER_ORIGIN)
        return None

    def _allows(self, host: Host) -> bool:
        if self._any_host or host.is_loopback:
            return True
        ports = _PORTS_LEFT_OUT if host.port is None else (host.port,)
        return any(Host(host.name, port) in self._hosts for port in (None, *ports))

    def _may_use(self, origin: str, host: Host) -> bool:
        if origin == _OPAQUE:
            return False
        if ANY in self._origins or origin in self._origins:
            return True
        parsed = Origin.parse(origin)
        return parsed is not None and parsed.serves(host)


def parse_hosts(entries: Iterable[str], setting: str) -> list[Host]:
    """Parse hosts that a person entered, each with or without a port; `*` means any host.

    Args:
        entries: Names or addresses; IPv6 addresses may lack brackets. Empty entries and surrounding
            spaces are ignored.
        setting: The name of their setting, for the error message.

    Raises:
        ConfigError: An entry is not a host.
    """
    return [_parse_host(entry.strip(), setting) for entry in entries if entry.strip()]


ALLOWED_HOSTS = "FOOTNOTE_ALLOWED_HOSTS"
"""The variable with the hosts that the servers accept, for messages that name it."""


def check_hosts(text: str) -> str:
    """The value of `ALLOWED_HOSTS`, if it is valid; raises like `parse_hosts`."""
    parse_hosts(text.split(","), ALLOWED_HOSTS)
    return text


def bound_hosts(address: str) -> list[Host]:
    """The host to which a server is bound, if clients can connect to that address.

    Empty if the server listens on all interfaces.
    """
    host = _parse(address.partition("%")[0])  # browsers omit the zone of an address
    if host is None or (host.address and host.address.is_unspecified):
        return []
    return [host]


def _parse_host(entry: str, setting: str) -> Host:
    host = Host(ANY) if entry == ANY else _parse(entry)
    if host is None:
        raise ConfigError(
            _(
                "{setting}: {entry} is not a valid host. Use host names or IP addresses, with"
                " or without a port, such as docs.example.com or 192.168.1.20:8501; * allows"
                " any host."
            ).format(setting=setting, entry=repr(entry))
        )
    return host


def _parse(text: str) -> Host | None:
    return Host.parse(text) or Host.parse(f"[{text}]")
