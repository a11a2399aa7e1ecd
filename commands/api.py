"""`cli.py api`: serves the REST API."""

from typing import Annotated

import typer

from commands.keeper import keep, told_to_end
from commands.running import INTERRUPTED, DataDir, announce_model, open_services
from commands.web import banner, listen, serve_app


def api(
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 is all of this machine")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 takes a free one", min=0, max=65535)] = 8600,
    processes: Annotated[
        int,
        typer.Option(help="Processes that share the port, each with its own limits", min=1, max=64),
    ] = 1,
    shared: Annotated[bool, typer.Option(hidden=True)] = False,
    data_dir: DataDir = None,
) -> None:
    """Serve the API; more of them on other ports may share the data folder.

    It has no worker: the imports that it is asked for are done by that of `serve`, or by `worker`.
    """
    told = told_to_end()
    with open_services(data_dir, tell=not shared) as services:
        announce_model(services, tell=not shared)
        from api.app import PREFIX, make_app  # slow, and `--help` needs none of it

        listening = listen(host, port, shared=shared)
        if not shared:
            typer.echo(banner(services, "API", host, listening, PREFIX))
        if processes == 1:
            serve_app(services, make_app(services, bound=host), listening)
        # The socket is only to find the port free: nobody may be sent to a process that keeps.
        port = listening.getsockname()[1]
        listening.close()
        one = ["cli", "api", "--shared", "--host", host, "--port", str(port)]
        keep(told, services.imports.data_dir, kept=[one] * processes)
    raise typer.Exit(INTERRUPTED)
