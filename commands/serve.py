"""`cli.py serve`: the pages and a worker, each in a process of its own."""

import typer

from commands.keeper import keep, told_to_end
from commands.running import INTERRUPTED, DataDir, announce_model, open_services, progress_bar
from domain import LOCAL_USER


def serve(port: int = 8501, data_dir: DataDir = None) -> None:
    """Serve the pages and do their imports; the very first start imports the sample documents."""
    told = told_to_end()
    with open_services(data_dir) as services:
        announce_model(services)
        with progress_bar() as progress:
            report = services.directories.import_samples_once(LOCAL_USER, on_progress=progress)
        if report is not None:
            typer.echo("The sample documents are imported.")
        pages = ["commands.pages", f"--server.port={port}"]
        code = keep(told, services.imports.data_dir, pages)
    raise typer.Exit(INTERRUPTED if code is None else code)
