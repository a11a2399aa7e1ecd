"""`cli.py labels`: the labelled questions as a labelled set in a folder, out and in."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from commands.running import (
    LOOK,
    AsJson,
    DataDir,
    open_services,
    permissions_of_shell,
    print_json,
)
from domain import LOCAL_USER

labels = typer.Typer(
    no_args_is_help=True, help="Export or import labelled questions, in BEIR layout."
)


@labels.command("export")
def export_labels(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder")],
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Write the labelled questions and all passages of the library into a folder."""
    with open_services(data_dir) as services, permissions_of_shell():
        written = services.labels.export(LOCAL_USER, folder)
    if as_json:
        print_json(asdict(written))
    else:
        typer.echo(
            f"{written.labels} labels of {written.questions} questions are in {folder}, with all"
            f" {written.passages} passages of the library."
        )
        if written.lost:
            typer.echo(f"{written.lost} labels are lost: the library has no such passage any more.")
    raise typer.Exit(LOOK if written.lost else 0)


@labels.command("import")
def import_labels(
    folder: Annotated[Path, typer.Argument(help="A labelled set: BEIR or SQuAD layout")],
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Take over the labels of a folder whose passages are in the library, by their text."""
    with open_services(data_dir) as services:
        read = services.labels.import_(LOCAL_USER, folder)
    if as_json:
        print_json(asdict(read))
    else:
        typer.echo(f"{read.labels} labels of {read.questions} questions are taken over.")
        if read.unmatched:
            typer.echo(f"{read.unmatched} are of passages that are not in the library: left out.")
    raise typer.Exit(LOOK if read.unmatched else 0)
