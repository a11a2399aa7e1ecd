"""`cli.py evaluate`: figures of search and answers over a labelled set."""

import json
from pathlib import Path
from typing import Annotated

import typer

from commands.running import DataDir, open_services, progress_bar
from domain import SearchMode
from errors import InputError


def evaluate(
    folder: Annotated[Path, typer.Argument(help="A labelled set: BEIR or SQuAD layout")],
    mode: Annotated[list[SearchMode] | None, typer.Option(help="May be repeated")] = None,
    queries: Annotated[str, typer.Option(help="last, history, condensed or rewrite")] = "last",
    answers: Annotated[
        bool, typer.Option("--answers", help="Measure the extractive answerer instead")
    ] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many questions, seeded")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write figures here")] = None,
    data_dir: DataDir = None,
) -> None:
    """Measure search (nDCG@10, recall, ms per query) or answers on a labelled set."""
    if json_file is not None and not json_file.parent.is_dir():  # not after minutes of measuring
        raise InputError(f"There is no folder {json_file.parent} to write the figures to.")
    with open_services(data_dir, tell=False) as services, progress_bar() as progress:
        if answers:
            figures = [services.evaluation.measure_answers(folder, sample, on_progress=progress)]
        else:
            figures = services.evaluation.measure_search(
                folder, mode, queries, sample, on_progress=progress
            )
    for row in figures:
        typer.echo("  ".join(f"{name} {_rounded(value)}" for name, value in row.items()))
    if json_file is not None:
        json_file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _rounded(value: str | float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
