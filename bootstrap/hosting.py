"""The hosts and origins that the servers accept, from the settings."""

import os
from collections.abc import Iterable

from domain.logs import get_logger
from domain.web.host_policy import (
    ALLOWED_HOSTS,
    ANY,
    Host,
    HostPolicy,
    bound_hosts,
    parse_hosts,
)
from settings import Settings

_PAGES_ADDRESS = "STREAMLIT_SERVER_ADDRESS"
"""The variable with the address of the pages, which Streamlit reads, too."""
_ALL_INTERFACES = "0.0.0.0"  # noqa: S104  # not bound here


def note_pages_address(bound: str) -> None:
    """Note for this process that the pages listen on an address; "" means all interfaces."""
    os.environ[_PAGES_ADDRESS] = bound or _ALL_INTERFACES


def is_only_for_this_machine(settings: Settings) -> bool:
    """Whether no other machine can open the pages, as far as this process knows.

    Processes without pages know their address only from the environment.
    """
    bound = os.environ.get(_PAGES_ADDRESS)
    is_local = bound is None or any(host.is_loopback for host in bound_hosts(bound))
    public = settings.public_host
    return is_local and not settings.allowed_hosts and (public is None or public.is_loopback)


def make_host_policy(
    settings: Settings, bound: str, hosts: Iterable[Host] = (), origins: Iterable[str] = ()
) -> HostPolicy:
    """The policy of a server that listens on the address `bound`.

    Args:
        settings: Contain the hosts that are accepted in addition to loopback; that of the public
            address of the pages is one of them.
        bound: The address; if it belongs to a single interface, it is accepted as a host.
        hosts: Additional hosts.
        origins: Additional origins whose web pages may use the server.
    """
    allowed = parse_hosts(settings.allowed_hosts.split(","), ALLOWED_HOSTS)
    if Host(ANY) in allowed:
        get_logger("web").warning(
            "%s=* lets any website read and change this server's data through a host name of its"
            " own: list the host names of this server instead.",
            ALLOWED_HOSTS,
        )
    public = [settings.public_host] if settings.public_host else []
    return HostPolicy([*allowed, *bound_hosts(bound), *public, *hosts], origins)
