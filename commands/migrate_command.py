"""`cli.py migrate`: the ledger to another database, and the index to another engine."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from commands.console import DataDir, open_services, progress_bar, resumable, settings_from_options
from domain import LOCAL_USER
from domain.errors import ConfigError

if TYPE_CHECKING:
    from services.migration.ledger_migration import LedgerMigration, MovedLedger
    from settings import Settings

_FOLDER = "sqlite"
"""The name of the SQLite file in the data folder, which is the default."""


def migrate(
    to_database: Annotated[
        str | None,
        typer.Option(
            help="Move the ledger to this URL, as in FOOTNOTE_DATABASE_URL; `sqlite` is the data"
            " folder",
            metavar="URL",
        ),
    ] = None,
    to_index: Annotated[
        Literal["embedded", "opensearch"] | None,
        typer.Option(help="Move the index to the data folder, or to FOOTNOTE_SEARCH_URL"),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Move the library to another database or index engine, while it is in use.

    Run it with the settings that Footnote runs with. If it is interrupted, the library stays as it
    is, and the same command resumes. It does not copy uploaded files.
    """
    if to_database is None and to_index is None:
        raise typer.BadParameter("name a target with --to-database or --to-index")
    settings = settings_from_options(data_dir)
    if to_index == "opensearch" and not settings.search_url:
        raise ConfigError(
            "--to-index opensearch needs the address of the cluster: set FOOTNOTE_SEARCH_URL, for"
            " the running processes as well, and restart them first."
        )
    ledger = None if to_database is None else _ledger_migration(settings, to_database)
    with resumable():
        if to_index is not None and not (ledger and ledger.is_complete(LOCAL_USER)):
            _move_index(to_index, data_dir)
        if ledger is not None:
            with progress_bar() as progress:
                moved = ledger.run(LOCAL_USER, progress)
            _report(moved, settings, is_in_folder=to_database == _FOLDER)


def _ledger_migration(settings: "Settings", to_database: str) -> "LedgerMigration":
    from bootstrap import ledger_migration  # slow, and `--help` does not need it

    return ledger_migration(settings, None if to_database == _FOLDER else to_database)


def _move_index(engine: str, data_dir: Path | None) -> None:
    with open_services(data_dir, warn=False) as services, progress_bar() as progress:
        move = services.index_migration.run(LOCAL_USER, engine, on_progress=progress)
    if move is None:
        typer.echo(f"There is no index, or it is already in this place ({engine}).")
        return
    typer.echo(
        f"{move.copied} passages copied without embedding; the index ({engine},"
        f" {move.passages} passages) equals the original and is active."
    )
    if engine == "embedded":
        typer.echo("Now remove FOOTNOTE_SEARCH_URL, and restart all processes of Footnote.")
    if move.problem:
        warning = f"Other programs may still search the replaced index: {move.problem}"
        typer.secho(warning, fg="yellow", err=True)


def _report(moved: "MovedLedger", settings: "Settings", *, is_in_folder: bool) -> None:
    if moved.rows:
        rows = f"{sum(moved.rows.values()):,} rows of {len(moved.rows)} tables"
        typer.echo(f"{rows} are now in {moved.place}, and equal the original.")
    else:
        typer.echo(f"The ledger was moved to {moved.place}.")
    is_set = "set FOOTNOTE_DATABASE_URL to the URL that you passed with --to-database"
    change = "remove FOOTNOTE_DATABASE_URL" if is_in_folder else is_set
    typer.echo(
        f"Now {change}, and restart all processes of Footnote. Until then, people can read, but not"
        f" ask: {moved.earlier_place} refuses changes. Nothing was deleted there."
    )
    typer.echo(
        f"The stored settings were moved, too. Keep the data folder {settings.data_dir}: it still"
        " contains the encryption key, uploaded files, and the index, unless these are elsewhere."
    )
