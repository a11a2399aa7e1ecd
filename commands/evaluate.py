"""`cli.py evaluate`: figures of search and answers over a labelled set."""

import json
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from commands.running import DataDir, open_services, permissions_of_shell, progress_bar
from domain import LOCAL_USER, SearchMode
from errors import InputError

if TYPE_CHECKING:
    from services.evaluation import Figures
    from services.progress import OnProgress
    from services.sample_evaluation import Graded


def evaluate(
    folder: Annotated[
        Path | None, typer.Argument(help="A labelled set: BEIR or SQuAD layout")
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Measure by your own labels, on the library itself")
    ] = False,
    mode: Annotated[list[SearchMode] | None, typer.Option(help="May be repeated")] = None,
    queries: Annotated[str, typer.Option(help="last, history, condensed or rewrite")] = "last",
    answers: Annotated[
        bool, typer.Option("--answers", help="Measure the extractive answerer instead")
    ] = False,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Try fusion weights, depths and normalisations")
    ] = False,
    rerank: Annotated[bool, typer.Option("--rerank", help="With the reranker on top")] = False,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Only so many questions, seeded")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="Write figures here")] = None,
    data_dir: DataDir = None,
) -> None:
    """Measure search (nDCG@10, recall, ms per query) or answers on a labelled set.

    With --labels each figure stands with its 95 % interval.
    """
    _check_file(json_file)
    if (folder is None) is not labels:
        raise typer.BadParameter("name a folder, or measure by your own labels with --labels")
    if labels and (queries != "last" or answers or sweep or sample or rerank):
        raise typer.BadParameter("--labels goes with --mode and --json alone")
    if rerank and (answers or sweep):
        raise typer.BadParameter("--rerank goes with the search modes, not --answers or --sweep")
    if answers and sweep:
        raise typer.BadParameter("--answers and --sweep measure two things: choose one")
    if folder is None:
        figures = _by_own_labels(mode, data_dir)
    elif answers and _holds_questions(folder):
        figures = _by_sample_questions(folder, data_dir)
    else:
        figures = _by_folder(folder, mode, queries, answers, sweep, rerank, sample, data_dir)
    for row in figures:
        typer.echo(_line(row))
    if json_file is not None:
        with permissions_of_shell():
            json_file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def _check_file(json_file: Path | None) -> None:
    """Refuse a place for the figures now, not after minutes of measuring."""
    if json_file is not None and not json_file.parent.is_dir():
        raise InputError(f"There is no folder {json_file.parent} to write the figures to.")
    if json_file is not None and json_file.is_dir():
        raise InputError(f"{json_file} is a folder: name a file in it for the figures.")


def _holds_questions(folder: Path) -> bool:
    from services.sample_evaluation import holds_questions

    return holds_questions(folder)


def _by_folder(
    folder: Path,
    mode: list[SearchMode] | None,
    queries: str,
    answers: bool,
    sweep: bool,
    rerank: bool,
    sample: int | None,
    data_dir: Path | None,
) -> "list[Figures]":
    with open_services(data_dir, tell=False) as services, progress_bar() as progress:
        if answers:
            return [services.evaluation.measure_answers(folder, sample, on_progress=progress)]
        if sweep:
            return services.evaluation.sweep(folder, queries, sample, on_progress=progress)
        return services.evaluation.measure_search(
            folder, mode, queries, sample, rerank=rerank, on_progress=progress
        )


def _by_sample_questions(folder: Path, data_dir: Path | None) -> "list[Figures]":
    """Asks them of the sample documents, in a data folder of their own unless one is named."""
    from services.sample_evaluation import SampleEvaluation, figures, load_sample_questions

    questions = load_sample_questions(folder)
    with (
        TemporaryDirectory(prefix="footnote-evaluate-") as scratch,
        open_services(data_dir or Path(scratch), tell=False) as services,
        progress_bar() as progress,
    ):
        services.directories.import_samples(LOCAL_USER, on_progress=progress)
        evaluation, report = SampleEvaluation(services.chat), partial(_report, progress)
        graded = list(evaluation.graded(LOCAL_USER, questions, report))
    for one in graded:
        if not one.right and one.question.split == "tune":  # the others are never looked at
            typer.echo(_wrong(one))
    return figures(graded)


def _report(progress: "OnProgress", done: int, total: int) -> None:
    from services.progress import Progress, Stage

    progress(Progress(Stage.INDEXING, done, total))


def _wrong(graded: "Graded") -> str:
    question = graded.question
    quoted = " | ".join(f"{one.document}: {one.text}" for one in graded.quotes) or "nothing"
    return f"{question.id} {question.kind} {question.split}: {question.question} -> {quoted}"


def _by_own_labels(mode: list[SearchMode] | None, data_dir: Path | None) -> "list[Figures]":
    with open_services(data_dir) as services:
        figures = services.labels.evaluate(LOCAL_USER, mode)
    for notice in figures.notices:
        typer.secho(f"Footnote: {notice}", fg="yellow", err=True)
    return [row.as_row() for row in figures.rows]


def _line(row: "Figures") -> str:
    shown = {name: value for name, value in row.items() if not name.endswith(("_low", "_high"))}
    return "  ".join(
        f"{name} {_rounded(value)}{_interval(row, name)}" for name, value in shown.items()
    )


def _interval(row: "Figures", name: str) -> str:
    if f"{name}_low" not in row:
        return ""
    return f" ({_rounded(row[f'{name}_low'])} to {_rounded(row[f'{name}_high'])})"


def _rounded(value: str | float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
