"""The hosts and origins that the servers accept, from the settings."""

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


def make_host_policy(
    settings: Settings, bound: str, hosts: Iterable[Host] = (), origins: Iterable[str] = ()
) -> HostPolicy:
    """The policy of a server that listens on the address `bound`.

    Args:
        settings: Contain the hosts that are accepted in addition to loopback.
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
    return HostPolicy([*allowed, *bound_hosts(bound), *hosts], origins)
