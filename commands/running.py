"""What every command needs: the services, a progress bar, JSON for programs, exit codes."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domain import LOCAL_USER

if TYPE_CHECKING:
    from bootstrap import Services
    from services.progress import OnProgress
    from services.progress import Progress as Report

LOOK = 3
INTERRUPTED = 130

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder of all data (default: FOOTNOTE_DATA_DIR or ./data)"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs")]


@contextmanager
def open_services(data_dir: Path | None, *, tell: bool = True) -> Iterator["Services"]:
    """The services; what a person should know of the library is told on stderr first."""
    from bootstrap import build_services  # `--help` and mistyped commands need none of it
    from settings import load_settings

    try:
        chosen = {} if data_dir is None else {"data_dir": data_dir}
        services = build_services(load_settings(**chosen))
        for notice in services.library.status(LOCAL_USER).notices if tell else ():
            typer.secho(f"Footnote: {notice}", fg="yellow", err=True)
        yield services
    except KeyboardInterrupt:
        typer.echo("Stopped. What was finished is kept; the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator["OnProgress"]:
    """A progress bar on stderr; none where nobody watches."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:9}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[key]}", style="dim", markup=False),  # names of files
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, key="")

        def show(at: "Report") -> None:
            bar.update(
                task,
                description=at.stage.value,
                completed=at.done,
                total=at.total or None,
                key=at.key[-40:],
            )

        yield show


def print_json(data: Any) -> None:
    """Print it indented; where the console can't show every letter, with escapes."""
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(data, ensure_ascii=not is_utf8, indent=2))
