"""What commands that serve programs over HTTP share."""

import os
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from commands.running import INTERRUPTED
from errors import InputError
from web.policy import bound_hosts

if TYPE_CHECKING:
    from bootstrap import Services

_GRACE_S = 3
"""How long requests may still take once the process is told to end; then they are broken off."""


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """The socket at that port; at a free one where it is 0.

    Args:
        host: The address.
        port: The port.
        shared: Whether other processes of this user may listen there too; the system then deals
            out the connections.

    Raises:
        InputError: The address can't be listened on.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048, reuse_port=shared)
    except OSError as error:
        raise InputError(
            f"Can't listen on {host}, port {port} ({error.strerror or error}): choose others with"
            " --host and --port."
        ) from error


def banner(services: "Services", name: str, host: str, listening: socket.socket, path: str) -> str:
    """Where it serves, and how to make a key where there is none."""
    named = bound_hosts(host)
    place = named[0].name if named else "localhost"
    port = listening.getsockname()[1]
    serves = f"Footnote's {name} is at http://{place}:{port}{path} (Ctrl-C ends it)"
    if any(key.revoked_at is None for key in services.api_keys.list()):
        return serves
    makes = "python cli.py api-key create NAME --scope read --scope ask"
    return f"{serves}\nThere is no key for it yet: {makes}"


def serve_app(
    services: "Services", app: Callable[..., Awaitable[None]], listening: socket.socket
) -> NoReturn:
    """Serve the ASGI application over these services until this process is told to end; end it."""
    import uvicorn  # slow, and `--help` needs none of it

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # addresses of requests hold what people search for
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    threading.Thread(target=services.warm_up, daemon=True).start()
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    end(INTERRUPTED)


def end(code: int) -> NoReturn:
    """End this process with that code once its threads have ended, in a few seconds at the latest.

    Not as Python ends: it aborts where a thread is at work in a library that it takes down.
    """
    end_soon(code)
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    os._exit(code)


def end_soon(code: int) -> None:
    """End this process with that code in a few seconds, if it has not ended by itself."""
    # A thread that waits for a model can't be interrupted, and Python would wait for it.
    last = threading.Timer(_GRACE_S, os._exit, [code])
    last.daemon = True
    last.start()
