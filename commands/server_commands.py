"""`cli.py serve`, `worker`, `api`, and `mcp`: the long-running processes."""

import os
import signal
import socket
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from commands.console import (
    INTERRUPTED,
    NEW_KEY,
    DataDir,
    announce_model,
    command_line,
    open_services,
    settings_from_options,
)
from commands.long_running import allow_open_files, bound_memory
from commands.supervisor import ABANDONED_IMPORT, WORKER, supervise, termination_request
from domain import LOCAL_USER
from domain.errors import InputError
from domain.web.host_policy import bound_hosts, parse_hosts

if TYPE_CHECKING:
    from bootstrap import Services


_GRACE_S = 3
"""Seconds that requests may take after a termination request, before they are aborted."""
KEEP_ALIVE_S = 75
"""Seconds that a connection stays open between requests; nginx and AWS load balancers keep it 60.

If the server closed it first, it could do so just when the next request arrives, which then fails.
"""


def listen(host: str, port: int, *, shared: bool = False) -> socket.socket:
    """A socket that listens on the port; 0 chooses a free one.

    Args:
        host: The address.
        port: The port.
        shared: Whether other processes of this user may listen on the same port; the system then
            distributes the connections.

    Raises:
        InputError: The address is not available.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048, reuse_port=shared)
    except OSError as error:
        raise InputError(
            f"Can't listen on {host}, port {port} ({error.strerror or error}): choose others with"
            " --host and --port."
        ) from error


def banner(
    services: "Services",
    name: str,
    host: str,
    listening: socket.socket,
    path: str,
    *,
    data_dir: Path | None,
) -> str:
    """The server's address, and how to create a key if there is none."""
    hosts = bound_hosts(host)
    place = hosts[0].name if hosts else "localhost"
    port = listening.getsockname()[1]
    serves = f"Footnote's {name} is at http://{place}:{port}{path} (press Ctrl+C to stop)"
    if any(key.is_valid(datetime.now(UTC)) for key in services.api_keys.list(LOCAL_USER)):
        return serves
    command = command_line(*NEW_KEY, data_dir=data_dir)
    return f"{serves}\nThere is no API key yet. Create one with: {command}"


def serve_app(
    services: "Services",
    app: Callable[..., Awaitable[None]],
    listening: socket.socket,
    role: str,
) -> NoReturn:
    """Serve the ASGI application until this process is asked to end, then end it.

    `role` is what the process is in its metrics: `api` or `mcp`.
    """
    import uvicorn  # slow, and `--help` does not need it

    from bootstrap.server_metrics import collect_metrics
    from commands.connection_limits import MAX_HEAD_BYTES, limited_protocol

    settings = services.parts.settings
    collect_metrics(role)
    config = uvicorn.Config(
        app,
        http=limited_protocol(settings.max_connections, settings.max_connections_per_address),
        log_config=None,  # use our log handlers
        log_level="warning",
        access_log=False,  # `RequestLog` logs requests, without what people search for
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=MAX_HEAD_BYTES,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=KEEP_ALIVE_S,
    )
    allow_open_files()
    bound_memory()
    threading.Thread(target=services.warm_up, daemon=True).start()
    with suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listening])
    end(INTERRUPTED)


def end(code: int) -> NoReturn:
    """End this process with that code after its threads, within at most a few seconds.

    This skips Python's own shutdown, which aborts if a thread is inside a library being unloaded.
    """
    from bootstrap.tracing import end_traces

    end_soon(code)
    end_traces()
    for thread in threading.enumerate():
        if not thread.daemon and thread is not threading.current_thread():
            thread.join()
    os._exit(code)


def end_soon(code: int) -> None:
    """Kill this process with that code in a few seconds, unless it has ended before."""
    # A thread that is waiting for a model can't be interrupted, and Python would wait for it.
    last = threading.Timer(_GRACE_S, os._exit, [code])
    last.daemon = True
    last.start()


def api(
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 means all interfaces")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 chooses a free one", min=0, max=65535)] = 8600,
    processes: Annotated[
        int,
        typer.Option(
            help="Number of processes that share the port, each with its own limits", min=1, max=64
        ),
    ] = 1,
    shared: Annotated[bool, typer.Option(hidden=True)] = False,
    data_dir: DataDir = None,
) -> None:
    """Serve the REST API; several servers on other ports may share the data folder.

    Imports that it queues are performed by `serve` or `worker`.
    """
    termination = termination_request()
    with open_services(data_dir, warn=not shared, must_exist=False) as services:
        announce_model(services, warn=not shared)
        from api.application import PREFIX, make_app  # slow, and `--help` does not need it

        listening = listen(host, port, shared=shared)
        if not shared:
            typer.echo(banner(services, "API", host, listening, PREFIX, data_dir=data_dir))
        if processes == 1:
            serve_app(services, make_app(services, bound=host), listening, "api")
        # This socket only reserves the port; the supervising process must not accept connections.
        port = listening.getsockname()[1]
        listening.close()
        one = ["cli", "api", "--shared", "--host", host, "--port", str(port)]
        supervise(termination, services.parts.settings.data_dir, workers=[one] * processes)
    raise typer.Exit(INTERRUPTED)


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve over streamable HTTP, protected by API keys")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to listen on, with --http")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port, with --http; 0 chooses a free one", min=0, max=65535)
    ] = 8700,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Host name under which clients reach this machine, with --http; repeatable"
        ),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Serve search, answers, and documents to models of other programs (MCP).

    Over standard input and output, it serves the program that starts it as the local user. Over
    HTTP, each request needs an API key as a bearer token and acts for that key's user.
    """
    termination_request()
    with open_services(data_dir, must_exist=False) as services:
        announce_model(services)
        if http:
            _serve_http(services, host, port, allow_host or [], data_dir)
        else:
            _serve_stdio(services)


def _serve_stdio(services: "Services") -> NoReturn:
    from api.mcp.mcp_server import serve_stdio  # slow, and `--help` does not need it

    client_disconnected = False
    bound_memory()
    with suppress(KeyboardInterrupt):
        client_disconnected = serve_stdio(
            services,
            LOCAL_USER,
            on_serving=services.warm_up,
            on_signal=partial(end_soon, INTERRUPTED),
        )
    end(0 if client_disconnected else INTERRUPTED)


def _serve_http(
    services: "Services", host: str, port: int, names: list[str], data_dir: Path | None
) -> NoReturn:
    from api.mcp.mcp_server import PATH, make_mcp_app  # slow, as above
    from bootstrap.hosting import make_host_policy

    hosts = parse_hosts(names, "--allow-host")
    policy = make_host_policy(services.parts.settings, host, hosts)
    listening = listen(host, port)
    typer.echo(banner(services, "MCP server", host, listening, PATH, data_dir=data_dir))
    serve_app(services, make_mcp_app(services, policy), listening, "mcp")


def serve(
    port: Annotated[int, typer.Option(help="Port of the pages")] = 8501, data_dir: DataDir = None
) -> None:
    """Serve the pages and perform imports; the first start also imports the sample documents."""
    termination = termination_request()
    with open_services(data_dir, must_exist=False) as services:
        announce_model(services)
        samples = services.directories.add_samples_once(LOCAL_USER)
        if samples is not None:
            services.sources.refresh(LOCAL_USER, samples.id)  # the worker imports them
            typer.echo("The sample documents are being imported; you can ask in the meantime.")
        _print_administrator_link(services)
        pages = ["commands.pages_process", f"--server.port={port}"]
        code = supervise(termination, services.parts.settings.data_dir, pages)
    raise typer.Exit(INTERRUPTED if code is None else code)


def _print_administrator_link(services: "Services") -> None:
    """Print how the first administrator gets this role, if people sign in and there is none."""
    link = services.sign_in and services.sign_in.make_administrator_link(datetime.now(UTC))
    if link:
        typer.echo(
            "There is no administrator yet. Sign in on the pages, and then open this link, which"
            f" works once, within 24 hours: {link}"
        )


def worker(
    processes: Annotated[
        int,
        typer.Option(
            help="Number of processes, each of which imports another source", min=1, max=64
        ),
    ] = 1,
    supervised: Annotated[bool, typer.Option(hidden=True)] = False,
    number: Annotated[int, typer.Option(hidden=True)] = 0,
    data_dir: DataDir = None,
) -> None:
    """Perform queued and scheduled imports until the process is ended.

    `serve` runs a worker, too. Workers import different sources at the same time.
    """
    if supervised:
        _work(data_dir, number)
        return
    termination = termination_request()
    workers = [(*WORKER, "--number", str(number)) for number in range(processes)]
    with open_services(data_dir, must_exist=False) as services:
        supervise(termination, services.parts.settings.data_dir, workers=workers)


def _work(data_dir: DataDir, number: int) -> None:
    bound_memory()
    stop = threading.Event()

    def end(signal_number: int, frame: FrameType | None) -> None:
        if stop.is_set():  # a second request ends the process immediately
            signal.default_int_handler(signal_number, frame)
        stop.set()

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, end)
    _serve_metrics(data_dir, number)
    while not stop.is_set():
        with open_services(data_dir, warn=False, must_exist=False) as services:
            services.worker.run(stop, _leave, services.is_outdated)


def _serve_metrics(data_dir: DataDir, number: int) -> None:
    """Serve metrics on the port in the settings or, of further processes, on the following ones."""
    port = settings_from_options(data_dir).worker_metrics_port
    if port is not None:
        from bootstrap.metrics_server import serve_metrics  # slow, and rarely needed

        serve_metrics("worker", port + number, "FOOTNOTE_WORKER_METRICS_PORT")


def _leave() -> NoReturn:
    os._exit(ABANDONED_IMPORT)
