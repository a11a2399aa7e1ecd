"""`cli.py mcp`: the library for models of other programs, over the Model Context Protocol."""

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from commands.keeper import told_to_end
from commands.running import INTERRUPTED, DataDir, announce_model, open_services
from commands.web import banner, end, end_soon, listen, serve_app
from domain import LOCAL_USER
from web.policy import parse_hosts

if TYPE_CHECKING:
    from bootstrap import Services


def mcp(
    http: Annotated[
        bool, typer.Option("--http", help="Serve over streamable HTTP, behind API keys")
    ] = False,
    host: Annotated[str, typer.Option(help="Address to listen on, with --http")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port, with --http; 0 takes a free one", min=0, max=65535)
    ] = 8700,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="Name by which others call this machine, with --http; repeatable"),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Serve search, answers and documents to models of other programs (MCP).

    Over standard input and output it is for the program that starts it, as the local user. Over
    HTTP each request needs a key of `cli.py api-key create` as a bearer token, and is its user's.
    """
    told_to_end()
    with open_services(data_dir) as services:
        announce_model(services)
        if http:
            _serve_http(services, host, port, allow_host or [])
        else:
            _serve_stdio(services)


def _serve_stdio(services: "Services") -> NoReturn:
    from agent.mcp_stdio import serve_stdio  # slow, and `--help` needs none of it

    client_has_left = False
    with suppress(KeyboardInterrupt):
        client_has_left = serve_stdio(
            services,
            LOCAL_USER,
            meanwhile=services.warm_up,
            when_told=partial(end_soon, INTERRUPTED),
        )
    end(0 if client_has_left else INTERRUPTED)


def _serve_http(services: "Services", host: str, port: int, names: list[str]) -> NoReturn:
    from agent.mcp_http import PATH, make_mcp_app  # slow, as above

    policy = services.host_policy(host, hosts=parse_hosts(names, "--allow-host"))
    listening = listen(host, port)
    typer.echo(banner(services, "MCP server", host, listening, PATH))
    serve_app(services, make_mcp_app(services, policy), listening)
