"""Footnote on the command line: import documents, ask and search them, maintain and measure.

`serve` runs the pages and a worker that performs queued imports; `worker` runs another worker.
`api` serves the REST API and `mcp` the MCP server; `api-key` manages their keys, and `access` the
readers of sources.

Exit codes: 0 success; 1 failure, explained on stderr; 2 wrong usage; 3 done, but needs attention:
an import with unreadable files or awaiting confirmation, or a check that found a disagreement;
130 interrupted with Ctrl-C (a worker then exits with 0).
"""

import gc
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from commands.access_commands import access
from commands.account_commands import account
from commands.audit_commands import audit
from commands.catalog_commands import catalog, evaluate_catalog
from commands.console import (
    AsJson,
    DataDir,
    command_line,
    exit_code,
    open_services,
    print_json,
    print_report,
    progress_bar,
)
from commands.evaluation_commands import evaluate, labels
from commands.key_commands import api_key, encryption_key, google_login
from commands.maintenance_commands import backup, check, reindex, restore
from commands.migrate_command import migrate
from commands.question_commands import ask, ratings, search
from commands.server_commands import api, mcp, serve, worker
from domain import LOCAL_USER
from domain.errors import AppError
from domain.messages import COMMAND

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Footnote answers questions about your own documents and verifies every quote.",
)


@app.command("import")
def import_path(
    path: Annotated[Path, typer.Argument(help="A folder or a file", readable=False)],
    include: Annotated[
        list[str] | None,
        typer.Option(
            help="Include only paths that match this pattern; repeatable, '' clears the list"
        ),
    ] = None,
    exclude: Annotated[
        list[str] | None,
        typer.Option(help="Exclude paths that match this pattern; repeatable, '' clears the list"),
    ] = None,
    collection: Annotated[
        str | None,
        typer.Option(help="Collection of the documents; '' uses the folder's name"),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="Label of the documents; repeatable, '' clears the list"),
    ] = None,
    confirm_removals: Annotated[
        bool, typer.Option(help="Remove missing documents even if that is most of the source")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Bring the library up to date with a folder: new, changed, and removed files.

    Omitted options keep the values of the last import or of the import page.
    """
    with (
        open_services(data_dir, must_exist=False) as services,
        progress_bar(quiet=as_json) as progress,
    ):
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
    if as_json:
        print_json(report)
    else:
        print_report(report, command_line("import", path, "--confirm-removals", data_dir=data_dir))
    raise typer.Exit(exit_code(report))


for command in (
    api,
    ask,
    backup,
    check,
    encryption_key,
    evaluate,
    evaluate_catalog,
    google_login,
    mcp,
    migrate,
    ratings,
    reindex,
    restore,
    search,
    serve,
    worker,
):
    app.command()(command)
app.command("evaluate-catalogue", hidden=True, deprecated=True)(evaluate_catalog)
app.add_typer(access, name="access")
app.add_typer(api_key, name="api-key")
app.add_typer(account, name="account")
app.add_typer(audit, name="audit")
app.add_typer(catalog, name="catalog")
app.add_typer(catalog, name="catalogue", hidden=True, deprecated=True)
app.add_typer(labels, name="labels")


def main() -> None:
    """Run the command; expected errors are printed as one line on stderr, without a traceback."""
    # Loading modules creates many objects but hardly any garbage. Collecting after every 700 new
    # objects, the default, would take a fifth of the time of a question.
    gc.set_threshold(50_000)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # not every console code page has all characters
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name=COMMAND)
    except AppError as error:
        typer.secho(f"Footnote: {error}", fg="red", err=True)
        sys.exit(1)
    finally:
        gc.freeze()  # collecting garbage at exit would take another fifth of the time


if __name__ == "__main__":
    main()
