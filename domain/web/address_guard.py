"""Decides which servers Footnote connects to for a source that a user added.

Otherwise, whoever may add sources could read, through this machine, what only it can reach: its
own services, the local network, and the credentials that a cloud gives to its machines.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple

from domain.errors import ForbiddenAddressError
from domain.messages import _
from domain.web.host_policy import ANY, Host, parse_hosts

Address = IPv4Address | IPv6Address

ALLOWED_PRIVATE_HOSTS = "FOOTNOTE_ALLOWED_PRIVATE_HOSTS"
_UNKNOWN_NAME = (socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME))
_NOT_PUBLIC = (
    ip_network("192.88.99.0/24"),
    ip_network("fec0::/10"),
    ip_network("3fff::/20"),
)
"""Relays for 6to4, site-local addresses, and addresses for documentation."""
_SHARED = IPv4Network("100.64.0.0/10")
_OF_CLOUDS = (ip_network("100.100.100.200"), ip_network("fd00:ec2::/32"))
"""Where clouds give credentials to their machines, besides link-local addresses."""
_IPV4_IN_IPV6 = (IPv6Network("64:ff9b::/96"), IPv6Network("::/96"))
"""IPv6 addresses whose last 32 bits are an IPv4 address: NAT64 (RFC 6052), and compatible ones."""


class AllowedHosts(NamedTuple):
    """The hosts and networks that may be used although they are not public."""

    hosts: tuple[Host, ...] = ()
    networks: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, text: str) -> "AllowedHosts":
        """Parse comma-separated names, addresses, and networks such as 10.0.0.0/8; `*` means any.

        Raises:
            ConfigError: An entry is none of these.
        """
        networks, others = [], []
        for entry in text.split(","):
            try:
                networks.append(ip_network(entry.strip().strip("[]"), strict=False))
            except ValueError:
                others.append(entry)
        return cls(tuple(parse_hosts(others, ALLOWED_PRIVATE_HOSTS)), tuple(networks))

    def has_name(self, name: str, port: int) -> bool:
        """Whether all addresses of the host are allowed."""
        names = (ANY, name.lower().rstrip("."))
        return any(one.name in names and one.port in (None, port) for one in self.hosts)

    def has_address(self, address: Address, port: int) -> bool:
        """Whether the address is allowed."""
        return any(address in network for network in self.networks) or any(
            one.address == address and one.port in (None, port) for one in self.hosts
        )


def check_private_hosts(text: str) -> str:
    """The value of `ALLOWED_PRIVATE_HOSTS`, if it is valid; raises like `AllowedHosts.parse`."""
    AllowedHosts.parse(text)
    return text


@dataclass(frozen=True)
class AddressGuard:
    """Finds the addresses of a host, and rejects those that are not on the public internet.

    With `permits_private`, it permits this machine and private networks, too, but not link-local
    addresses and others at which clouds give credentials to their machines.
    """

    allowed: AllowedHosts
    permits_private: bool = False

    def addresses(self, host: str, port: int) -> Sequence[str]:
        """The addresses of the host that may be connected to; there is at least one.

        Connect to these and do not look up the name again: it may have other addresses by then.

        Raises:
            ForbiddenAddressError: There are none. The message is the same whether the name is
                unknown or its addresses are forbidden, and nothing was sent to them.
            OSError: The name can't be looked up now, or is unknown although it may be private:
                the network may be down.
        """
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except UnicodeError:
            found = []
        except socket.gaierror as error:
            may_be_private = self.permits_private or self.allowed.has_name(host, port)
            if may_be_private or error.errno not in _UNKNOWN_NAME:
                raise
            found = []
        addresses = dict.fromkeys(str(info[4][0]) for info in found)
        if allowed := [one for one in addresses if self._is_allowed(host, one, port)]:
            return allowed
        raise _forbidden(host)

    def check_literal(self, host: str, port: int) -> None:
        """Check a host that is an address in any notation; a proxy looks up names.

        Raises:
            ForbiddenAddressError: It is a forbidden address.
        """
        try:
            found = socket.getaddrinfo(host, port, flags=socket.AI_NUMERICHOST)
        except (OSError, UnicodeError):
            found = []
        if any(not self._is_allowed(host, str(info[4][0]), port) for info in found):
            raise _forbidden(host)

    def _is_allowed(self, host: str, text: str, port: int) -> bool:
        address = _plain(ip_address(text.partition("%")[0]))
        return (
            is_public(address)
            or (self.permits_private and is_private(address))
            or self.allowed.has_name(host, port)
            or self.allowed.has_address(address, port)
        )


def is_public(address: Address) -> bool:
    """Whether the address is on the public internet, and belongs to one machine."""
    plain = _plain(address)
    is_special = plain.is_multicast or plain.is_reserved or plain.is_unspecified
    return plain.is_global and not (is_special or _is_in(plain, _NOT_PUBLIC))


def is_private(address: Address) -> bool:
    """Whether it is an address of one machine: this one, or one in a private network."""
    plain = _plain(address)
    is_special = plain.is_multicast or plain.is_unspecified or plain.is_link_local
    is_shared = plain.version == 4 and plain in _SHARED
    if is_special or _is_in(plain, _OF_CLOUDS):
        return False
    return plain.is_loopback or is_shared or (plain.is_private and not plain.is_reserved)


def _is_in(address: Address, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    return any(address in network for network in networks if network.version == address.version)


def _plain(address: Address) -> Address:
    """The IPv4 address that an IPv6 address contains, or else the address itself."""
    if isinstance(address, IPv4Address):
        return address
    if contained := address.ipv4_mapped or address.sixtofour:
        return contained
    if int(address) > 1 and any(address in network for network in _IPV4_IN_IPV6):
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _forbidden(host: str) -> ForbiddenAddressError:
    return ForbiddenAddressError(
        _(
            "{host} can't be used: its name is unknown, or it is on this machine or in a private"
            " network. The person who runs Footnote can allow it in {setting}."
        ).format(host=host, setting=ALLOWED_PRIVATE_HOSTS)
    )
