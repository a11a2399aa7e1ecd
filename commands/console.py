"""Shared code of the commands: services, progress bar, output as text and JSON, exit codes."""

import json
import os
import shlex
import sys
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from domain import LOCAL_USER, ImportReport, ImportState, Outcome
from domain.errors import InputError
from domain.messages import COMMAND

if TYPE_CHECKING:
    from bootstrap import Services
    from domain import Progress as Report
    from services.long_work import OnProgress
    from settings import Settings


_SHELL_UMASK = os.umask(0o077)
os.umask(_SHELL_UMASK)  # the umask can only be read by setting it

LOOK = 3
INTERRUPTED = 130

NEW_KEY = ("api-key", "create", "NAME", "--scope", "read", "--scope", "ask")
"""The arguments that create an API key for searching and asking."""

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="Data folder (default: FOOTNOTE_DATA_DIR or ./data)"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON")]


def settings_from_options(data_dir: Path | None) -> "Settings":
    """The settings, with the data folder from the command line if it is specified there."""
    from bootstrap import settings_at_start  # slow, and `--help` does not need it

    return settings_at_start(**({} if data_dir is None else {"data_dir": data_dir}))


@contextmanager
def open_services(
    data_dir: Path | None, *, warn: bool = True, must_exist: bool = True
) -> Iterator["Services"]:
    """The services; notices about the library are printed to stderr.

    Args:
        data_dir: The data folder, instead of that of the settings.
        warn: Whether to print notices.
        must_exist: Whether a missing data folder is an error; otherwise, it is created.

    Raises:
        ConfigError: A setting is invalid.
        StorageError: The data folder can't be used.
    """
    from bootstrap import build_services  # slow, and `--help` does not need it
    from bootstrap.tracing import end_traces

    try:
        with resumable():
            services = build_services(data_dir=data_dir, must_exist=must_exist)
            notices = services.library.status(LOCAL_USER).notices if warn else ()
            print_warnings(notices)
            yield services
            # Damage may be found only when a file is first read, so compare afterwards.
            damages = services.library.damage() if warn else ()
            print_warnings(notice for notice in damages if notice not in notices)
    finally:
        end_traces()


@contextmanager
def resumable() -> Iterator[None]:
    """Work that the same command resumes if a person stops it with Ctrl+C."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Stopped. Finished work is kept; run the same command to resume.")
        raise typer.Exit(INTERRUPTED) from None


def command_line(*arguments: object, data_dir: Path | None = None) -> str:
    """A command as a person has to type it, with the same data folder as the current command."""
    folder = () if data_dir is None else ("--data-dir", data_dir)
    return f"{COMMAND} {shlex.join(map(str, (*arguments, *folder)))}"


def warn_if_empty(services: "Services", data_dir: Path | None) -> None:
    """Print to stderr how to import documents if the library has none."""
    if not services.library.status(LOCAL_USER).documents:
        command = command_line("import", "PATH", data_dir=data_dir)
        print_warnings([f"The library is empty: import a folder or a file with `{command}`."])


def spare_threads() -> None:
    """Limit NumPy to one thread; call this before the services are opened.

    Idle NumPy threads spin while they wait, and a single question has no work for them.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def announce_model(services: "Services", *, warn: bool = True) -> None:
    """Determine the chat model, and print a notice about the choice to stderr.

    This may query a self-hosted server for its list of models, which takes at most a few seconds.

    Raises:
        ConfigError: The key or the address of the server is malformed.
    """
    notice = services.chat.answerers.resolve().notice
    if warn:
        print_warnings([notice])


@contextmanager
def permissions_of_shell() -> Iterator[None]:
    """Write exported files with the permissions of the user's shell.

    All other files that this process writes are readable only by the current user.
    """
    private = os.umask(_SHELL_UMASK)
    try:
        yield
    finally:
        os.umask(private)


@contextmanager
def new_file(path: Path, *, replace: bool) -> Iterator[IO[bytes]]:
    """A file that gets its name when the block ends, if it is complete; nobody else may read it.

    Raises:
        InputError: The file exists and is not to be replaced, or it can't be written.
    """
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        _require_new(path, replace=replace)
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _require_new(path, replace=replace)  # another process may have written it meanwhile
        part.replace(path)
    except OSError as error:
        raise InputError(
            f"{path} can't be written ({error.strerror or error}): choose another name or folder."
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _require_new(path: Path, *, replace: bool) -> None:
    if path.exists() and not replace:
        raise InputError(f"{path} exists already: choose another name, or replace it with --force.")


def print_warnings(warnings: Iterable[str]) -> None:
    """Print the warnings that are not empty to stderr."""
    for notice in filter(None, warnings):
        typer.secho(f"Footnote: {notice}", fg="yellow", err=True)


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator["OnProgress"]:
    """A progress bar on stderr; none if stderr is not a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:9}"),
        BarColumn(),
        TextColumn("{task.fields[figures]}", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[key]}", style="dim", markup=False),  # file names
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, key="", figures="")

        def show(at: "Report") -> None:
            bar.update(
                task,
                description=at.stage.value,
                completed=at.share,
                total=1.0 if at.total else None,
                figures=progress_figures(at),
                key=at.key[-40:],
            )

        yield show


def progress_figures(progress: "Report") -> str:
    """The finished and expected work, and the time left; empty parts are omitted."""
    counts = f"{progress.done}/{progress.total or '?'}"
    if progress.expected:
        about = "" if progress.read == progress.expected else "about "
        counts += f", {progress.passages:,} of {about}{progress.expected:,} passages"
    return ", ".join(filter(None, (counts, _time_left(progress.rounded_seconds_left))))


def _time_left(seconds: int | None) -> str:
    if seconds is None:
        return ""
    if not seconds:
        return "almost done"
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    time = f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    return f"about {time} left"


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows with aligned columns; the first row is the head."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(cells).rstrip())


def print_json(data: Any) -> None:
    """Print indented JSON, with escapes if the console is not UTF-8.

    Dataclasses and named tuples become objects, sets sorted lists, and times ISO 8601.
    """
    is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    typer.echo(json.dumps(_as_json(data), ensure_ascii=not is_utf8, indent=2))


def _as_json(value: Any) -> Any:
    if is_dataclass(value):
        value = {one.name: getattr(value, one.name) for one in fields(value)}
    elif hasattr(value, "_asdict"):
        value = value._asdict()
    elif isinstance(value, frozenset):
        value = sorted(value)
    if isinstance(value, Mapping):
        return {name: _as_json(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [_as_json(part) for part in value]
    return value.isoformat() if isinstance(value, datetime) else value


def minute_text(moment: datetime | None) -> str:
    """The local time to the minute; a dash without one."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else "-"


_EXIT_CODES = {
    ImportState.COMPLETED_WITH_ERRORS: LOOK,
    ImportState.NEEDS_CONFIRMATION: LOOK,
    ImportState.CANCELLED: INTERRUPTED,
}

_OUTCOMES = {Outcome.PERMISSIONS: "with other permissions"}


def print_report(report: ImportReport, confirmation: str) -> None:
    """Print unreadable documents, the number of documents by outcome, and what to do next.

    `confirmation` is the command that confirms withheld removals.
    """
    for item in report.items:
        if item.reason:
            typer.echo(f"{item.outcome.value:9} {item.location}: {item.reason}")
    counts = ", ".join(
        f"{report.count(outcome)} {_OUTCOMES.get(outcome, outcome.value)}"
        for outcome in Outcome
        if report.count(outcome)
    )
    typer.echo(
        f"Import {report.state.value}: {counts or 'no documents'}; "
        f"{report.passages_embedded} passages embedded in {report.seconds:.1f} s."
    )
    if report.message:
        typer.echo(report.message)
    if report.state is ImportState.NEEDS_CONFIRMATION:
        typer.echo(f"To remove them, run: {confirmation}")


def check_figures_file(file: Path | None) -> None:
    """Reject an impossible file now rather than after minutes of measuring.

    Raises:
        InputError: It can't be written to.
    """
    if file is not None and not file.parent.is_dir():
        raise InputError(f"There is no folder {file.parent} to write the figures to.")
    if file is not None and file.is_dir():
        raise InputError(f"{file} is a folder: name a file in it for the figures.")


def write_figures(file: Path | None, figures: Any) -> None:
    """Write the figures to the file as indented JSON, if there is one."""
    if file is not None:
        with permissions_of_shell():
            file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def exit_code(report: ImportReport) -> int:
    """The exit code for the report's state; 0 if everything is done."""
    return _EXIT_CODES.get(report.state, 0)
