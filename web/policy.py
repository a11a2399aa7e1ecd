"""Which hosts a server answers to, and the web pages of which origins may use it."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from errors import ConfigError
from web.hosts import Host, Origin

ANY = "*"
_DEFAULT_PORTS = (80, 443)  # browsers leave these out of `Host`
_OPAQUE = "null"  # what a browser sends for sandboxed frames and local files

_NO_HOST = "Send exactly one Host header that names a host, as HTTP/1.1 requires."
_OTHER_HOST = (
    "This server does not answer to the name in the Host header."
    " If it is meant to, add that name to FOOTNOTE_ALLOWED_HOSTS and restart the server."
)
_OTHER_ORIGIN = (
    "Web pages of another origin may not use this server."
    " A proxy before it must pass on the Host header of the browser, and FOOTNOTE_ALLOWED_HOSTS"
    " must name that host. FOOTNOTE_API_CORS_ORIGINS lets web pages of other origins call the API."
)


class Refusal(NamedTuple):
    """Why a request is not answered: an HTTP status, and a sentence that names the setting."""

    status: int
    reason: str


class HostPolicy:
    """Loopback names, and what an operator has added to them.

    A web page can point a name of its own at this machine (DNS rebinding), so an unknown name in
    `Host` is refused. It can also send requests to a name that is known, with its own origin in
    `Origin`: where there is one, it has to be that of the host, or one of `origins`.
    """

    def __init__(self, hosts: Iterable[Host] = (), origins: Iterable[str] = ()) -> None:
        """Args: more hosts than loopback, without a port for any port; origins as sent, or `*`."""
        self._hosts = frozenset(hosts)
        self._any_host = Host(ANY) in self._hosts
        self._origins = frozenset(origins)

    def refusal(
        self, hosts: Sequence[str], origins: Sequence[str], *, from_probe: bool = False
    ) -> Refusal | None:
        """Why a request with these headers is refused; None where it is answered.

        Args:
            hosts: The values of its `Host` headers.
            origins: The values of its `Origin` headers.
            from_probe: Whether it asks for the health of the server. Orchestrators ask by IP
                address, which no name of a web page can stand for.
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
        ports = _DEFAULT_PORTS if host.port is None else (host.port,)
        return any(Host(host.name, port) in self._hosts for port in (None, *ports))

    def _may_use(self, origin: str, host: Host) -> bool:
        if origin == _OPAQUE:
            return False
        if ANY in self._origins or origin in self._origins:
            return True
        parsed = Origin.parse(origin)
        return parsed is not None and parsed.serves(host)


def parse_hosts(entries: Iterable[str], setting: str) -> list[Host]:
    """The hosts that a person has written, each with or without a port; `*` for any.

    Args:
        entries: Names or addresses; IPv6 addresses may come without brackets. Empty ones do not
            count, nor do spaces around them.
        setting: Where they are written, for the error's message.

    Raises:
        ConfigError: An entry is not a host.
    """
    return [_parse_host(entry.strip(), setting) for entry in entries if entry.strip()]


def bound_hosts(address: str) -> list[Host]:
    """The host that a server is bound to, if that is an address that clients can connect to.

    There is none where it listens on every interface.
    """
    host = _parse(address.partition("%")[0])  # browsers write no zone after an address
    if host is None or (host.address and host.address.is_unspecified):
        return []
    return [host]


def _parse_host(entry: str, setting: str) -> Host:
    host = Host(ANY) if entry == ANY else _parse(entry)
    if host is None:
        raise ConfigError(
            f"{setting}: {entry!r} is not a host. Write names or addresses, each with or without a"
            " port, such as docs.example.com or 192.168.1.20:8501; * allows any."
        )
    return host


def _parse(text: str) -> Host | None:
    return Host.parse(text) or Host.parse(f"[{text}]")
