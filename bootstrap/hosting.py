"""Which hosts the servers answer to, by the settings."""

import logging
from collections.abc import Iterable

from settings import ALLOWED_HOSTS, Settings
from web.hosts import Host
from web.policy import ANY, HostPolicy, bound_hosts, parse_hosts


def make_host_policy(
    settings: Settings, bound: str, hosts: Iterable[Host] = (), origins: Iterable[str] = ()
) -> HostPolicy:
    """The policy of a server that listens on the address `bound`.

    Args:
        settings: Name the hosts that it answers to beside loopback.
        bound: The address; one of a single interface is allowed.
        hosts: Further hosts.
        origins: Further origins whose web pages may use the server.
    """
    allowed = parse_hosts(settings.allowed_hosts.split(","), ALLOWED_HOSTS)
    if Host(ANY) in allowed:
        logging.getLogger("footnote.web").warning(
            "%s=* lets any web site read and change what this server holds, by a name of its own:"
            " write the names that it is known by instead.",
            ALLOWED_HOSTS,
        )
    return HostPolicy([*allowed, *bound_hosts(bound), *hosts], origins)
