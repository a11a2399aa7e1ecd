"""What every command needs: the services, a progress bar, JSON for programs, exit codes."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domain import LOCAL_USER

if TYPE_CHECKING:
    from bootstrap import Services
    from services.progress import OnProgress
    from services.progress import Progress as Report
    from settings import Settings

_SHELL_UMASK = os.umask(0o077)
os.umask(_SHELL_UMASK)  # it can be read by changing it alone

LOOK = 3
INTERRUPTED = 130

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Folder of all data (default: FOOTNOTE_DATA_DIR or ./data)"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for programs")]


def chosen_settings(data_dir: Path | None) -> "Settings":
    """The settings, with the data folder of the command line where it names one."""
    from settings import load_settings

    return load_settings(**({} if data_dir is None else {"data_dir": data_dir}))


@contextmanager
def open_services(data_dir: Path | None, *, tell: bool = True) -> Iterator["Services"]:
    """The services; what a person should know of the library is printed to stderr."""
    from bootstrap import build_services  # `--help` and mistyped commands need none of it

    try:
        services = build_services(chosen_settings(data_dir))
        known = services.library.status(LOCAL_USER).notices if tell else ()
        _warn(known)
        yield services
        # A damaged file can come to light when it is first read.
        found = services.library.damage() if tell else ()
        _warn(notice for notice in found if notice not in known)
    except KeyboardInterrupt:
        typer.echo("Stopped. What was finished is kept; the same command goes on from there.")
        raise typer.Exit(INTERRUPTED) from None


def spare_threads() -> None:
    """Keep NumPy to one thread; call it before the services are opened.

    Its further threads wait for work by spinning, and one question has none for them.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def announce_model(services: "Services", *, tell: bool = True) -> None:
    """Settle which chat model answers; a notice about the choice is printed to stderr.

    A server of one's own may have to be asked for its models, which takes some seconds at most.

    Raises:
        ConfigError: The key or the address of the server can be none.
    """
    notice = services.chat.answerers.settled().notice
    if notice and tell:
        typer.secho(f"Footnote: {notice}", fg="yellow", err=True)


@contextmanager
def permissions_of_shell() -> Iterator[None]:
    """What is written within is as open as the person's shell makes files: for exports.

    Whatever else is written once there are services is for this user alone.
    """
    private = os.umask(_SHELL_UMASK)
    try:
        yield
    finally:
        os.umask(private)


def _warn(notices: Iterable[str]) -> None:
    for notice in notices:
        typer.secho(f"Footnote: {notice}", fg="yellow", err=True)


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
