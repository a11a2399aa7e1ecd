"""`cli.py evaluate-catalogue`: how questions about a catalogue are understood and answered."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.running import DataDir, open_services, permissions_of_shell, progress_bar
from domain import LOCAL_USER
from errors import InputError

if TYPE_CHECKING:
    from bootstrap import Services
    from catalog.evaluation import CatalogueEvaluation

Row = dict[str, str | int | float]


def evaluate_catalogue(
    questions: Annotated[
        Path | None, typer.Argument(help="Labelled questions; those of the sample otherwise")
    ] = None,
    name: Annotated[
        str, typer.Option("--catalogue", help="Its name or id, where there are several")
    ] = "",
    json_file: Annotated[Path | None, typer.Option("--json", help="Write figures here")] = None,
    data_dir: DataDir = None,
) -> None:
    """Measure how questions about a catalogue are understood, and nDCG@10 of its search.

    Each figure stands with its 95 % interval. Without questions of your own, the sample catalogue
    is measured: in the data folder if you name one, else in a temporary one.
    """
    if json_file is not None and not json_file.parent.is_dir():  # not after minutes of measuring
        raise InputError(f"There is no folder {json_file.parent} to write the figures to.")
    if json_file is not None and json_file.is_dir():
        raise InputError(f"{json_file} is a folder: name a file in it for the figures.")
    if questions is None and name:
        raise typer.BadParameter("--catalogue goes with labelled questions about it: name the file")
    with _data_folder(questions, data_dir) as folder, open_services(folder, tell=False) as services:
        if questions is None:
            questions, name = _sample(services)
        rows = _measure(services, questions, name)
    for row in rows:
        typer.echo(_table(row))
    if json_file is not None:
        with permissions_of_shell():
            json_file.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


@contextmanager
def _data_folder(questions: Path | None, data_dir: Path | None) -> Iterator[Path | None]:
    """Where the library is; without anything named, one that is gone afterwards."""
    if questions is not None or data_dir is not None:
        yield data_dir
        return
    with tempfile.TemporaryDirectory(prefix="footnote-evaluate-") as folder:
        yield Path(folder)


def _sample(services: "Services") -> tuple[Path, str]:
    """The questions about the sample catalogue, and its id, once the library has it."""
    with progress_bar() as progress:
        report = services.catalogue_imports.run_sample(LOCAL_USER, on_progress=progress)
    return services.catalogue_imports.sample / "questions.jsonl", report.source_id


def _measure(services: "Services", questions: Path, name: str) -> list[Row]:
    from catalog.evaluation import evaluation_of

    evaluation = evaluation_of(services.catalogue, LOCAL_USER, name)
    _tell(evaluation)
    return [one.as_row() for one in evaluation.measure(questions)]


def _tell(evaluation: "CatalogueEvaluation") -> None:
    from catalog.praise import NO_CROSS_ENCODER

    if evaluation.engine.reranking is None:
        typer.secho(f"Footnote: {NO_CROSS_ENCODER}", fg="yellow", err=True)


def _table(row: Row) -> str:
    """A line for each figure, below the language."""
    shown = [one for one in row if not one.endswith(("_low", "_high"))]
    lines = [
        f"  {one:20} {row[one]:6.3f} ({row[f'{one}_low']:.3f} to {row[f'{one}_high']:.3f})"
        for one in shown
        if f"{one}_low" in row
    ]
    return "\n".join([f"{row['language']}, {row['questions']} questions", *lines])
