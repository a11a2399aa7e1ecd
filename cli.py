"""Footnote on the command line: import, ask, search, check, reindex, evaluate, labels, ratings.

`serve` runs the pages and a worker, which does what they have queued; `worker` is another one.
`catalogue` adds catalogues of places, and asks them.
`api` serves programs, with keys that `api-key` makes.
`mcp` serves the library to models of other programs.
`google-login` lets a person give leave to read their Google Drive.

Exit codes: 0 done; 1 it failed, and the message says why; 2 the command was mistyped;
3 done, but look: an import with unreadable files or waiting for a confirmation, or a check
that found a disagreement; 130 stopped with Ctrl-C (a worker then ends with 0).
"""

import gc
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from commands.api import api
from commands.api_key import api_key
from commands.ask import ask
from commands.catalogue import catalogue
from commands.catalogue_evaluate import evaluate_catalogue
from commands.encryption_key import encryption_key
from commands.evaluate import evaluate
from commands.google_login import google_login
from commands.import_report import exit_code, print_report, report_as_data
from commands.labels import labels
from commands.mcp import mcp
from commands.ratings import ratings
from commands.running import (
    LOOK,
    AsJson,
    DataDir,
    chosen_settings,
    open_services,
    print_json,
    progress_bar,
)
from commands.search import search
from commands.serve import serve
from commands.worker import worker
from domain import LOCAL_USER
from errors import AppError, DamagedLedgerError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Footnote answers questions over your own documents, with proof.",
)


@app.command("import")
def import_path(
    path: Annotated[Path, typer.Argument(help="A folder or a file", readable=False)],
    include: Annotated[
        list[str] | None,
        typer.Option(help="Only paths that match; repeatable, '' takes all away: every path"),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="No paths that match; repeatable, '' takes all away"),
    ] = None,
    collection: Annotated[
        str | None, typer.Option(help="File its documents under this; '' is the folder's name")
    ] = None,
    label: Annotated[
        list[str] | None, typer.Option(help="Label of its documents; repeatable, '' takes all away")
    ] = None,
    confirm_removals: Annotated[
        bool, typer.Option(help="Remove documents even if most of the source is gone")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Bring the library up to date with a folder: new, changed and removed files.

    Options that are left out stay as an earlier import or the import page has set them.
    """
    with open_services(data_dir) as services, progress_bar(quiet=as_json) as progress:
        report = services.directories.import_directory(
            LOCAL_USER,
            path,
            include=include,
            exclude=exclude,
            collection=collection,
            labels=label,
            confirm_removals=confirm_removals,
            on_progress=progress,
        )
    print_json(report_as_data(report)) if as_json else print_report(report)
    raise typer.Exit(exit_code(report))


@app.command()
def check(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Verify that ledger and index files are sound, and that the stores agree."""
    _require_sound_ledger(data_dir, as_json=as_json)
    with open_services(data_dir) as services:
        report = services.maintenance.check(LOCAL_USER)
    if as_json:
        print_json({"agrees": report.agrees, "disagreements": report.disagreements})
    else:
        for line in report.disagreements:
            typer.echo(line)
        verdict = "all agree." if report.agrees else "`python cli.py reindex` repairs it."
        typer.echo(f"{report.documents} documents, {report.passages} passages: {verdict}")
    raise typer.Exit(0 if report.agrees else LOOK)


def _require_sound_ledger(data_dir: Path | None, *, as_json: bool) -> None:
    from bootstrap import check_ledger  # `--help` and mistyped commands need none of it

    try:
        check_ledger(chosen_settings(data_dir))
    except DamagedLedgerError as error:
        if as_json:
            print_json({"agrees": False, "disagreements": error.findings})
        else:
            typer.echo("\n".join(error.findings))
        raise


@app.command()
def reindex(data_dir: DataDir = None) -> None:
    """Rebuild passages and keyword index from the ledger, with the settings of now."""
    with open_services(data_dir, tell=False) as services, progress_bar() as progress:
        report = services.maintenance.reindex(LOCAL_USER, on_progress=progress)
    typer.echo(f"{report.passages_embedded} passages embedded; the new index answers now.")


app.command()(api)
app.add_typer(api_key, name="api-key")
app.command()(ask)
app.add_typer(catalogue, name="catalogue")
app.command()(encryption_key)
app.command()(evaluate)
app.command()(evaluate_catalogue)
app.command()(google_login)
app.add_typer(labels, name="labels")
app.command()(mcp)
app.command()(ratings)
app.command()(search)
app.command()(serve)
app.command()(worker)


def main() -> None:
    """Run the command; an expected error is one line on stderr, never a traceback."""
    # Imports make many objects and hardly any garbage: looking for it after each 700 new objects,
    # as usual, takes a fifth of the time of a question.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a console of another code page lacks letters
            stream.reconfigure(errors="backslashreplace")
    try:
        app()
    except AppError as error:
        typer.secho(f"Footnote: {error}", fg="red", err=True)
        sys.exit(1)
    finally:
        gc.freeze()  # the end of the process looks for garbage too, for a fifth of the time


if __name__ == "__main__":
    main()
