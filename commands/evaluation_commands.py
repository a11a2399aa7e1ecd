"""`cli.py evaluate` and `labels`: metrics on labeled sets, and export and import of labels."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import (
    LOOK,
    AsJson,
    DataDir,
    check_figures_file,
    open_services,
    permissions_of_shell,
    print_json,
    print_warnings,
    progress_bar,
    write_figures,
)
from domain import LOCAL_USER, SearchMode

if TYPE_CHECKING:
    from services.evaluation.metrics import Figures
    from services.evaluation.sample_evaluation import Grade


labels = typer.Typer(
    no_args_is_help=True, help="Export or import labeled questions, in BEIR layout."
)


@labels.command("export")
def export_labels(
    folder: Annotated[Path, typer.Argument(help="A new or empty folder")],
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Write the labeled questions and all passages of the library into a folder."""
    with open_services(data_dir) as services, permissions_of_shell():
        counts = services.labels.export(LOCAL_USER, folder)
    if as_json:
        print_json(counts)
    else:
        typer.echo(
            f"Exported {counts.labels} labels of {counts.questions} questions and all"
            f" {counts.passages} passages of the library to {folder}."
        )
        if counts.lost:
            typer.echo(f"{counts.lost} labels were omitted: their passages no longer exist.")
    raise typer.Exit(LOOK if counts.lost else 0)


@labels.command("import")
def import_labels(
    folder: Annotated[Path, typer.Argument(help="A labeled set in BEIR or SQuAD layout")],
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Import the labels whose passages are in the library; passages are matched by their text."""
    with open_services(data_dir) as services:
        read = services.labels.import_(LOCAL_USER, folder)
    if as_json:
        print_json(read)
    else:
        typer.echo(f"Imported {read.labels} labels of {read.questions} questions.")
        if read.unmatched:
            typer.echo(f"Skipped {read.unmatched} labels of passages that are not in the library.")
    raise typer.Exit(LOOK if read.unmatched else 0)


def evaluate(
    folder: Annotated[
        Path | None, typer.Argument(help="A labeled set in BEIR or SQuAD layout")
    ] = None,
    labels: Annotated[
        bool, typer.Option("--labels", help="Measure with your own labels, on the library itself")
    ] = False,
    mode: Annotated[list[SearchMode] | None, typer.Option(help="Search mode; repeatable")] = None,
    queries: Annotated[
        str, typer.Option(help="What to search for: last, history, condensed, or rewrite")
    ] = "last",
    answers: Annotated[
        bool, typer.Option("--answers", help="Measure the extractive answerer instead")
    ] = False,
    sweep: Annotated[
        bool,
        typer.Option(
            "--sweep", help="Run a parameter sweep over fusion weights, depths, and normalizations"
        ),
    ] = False,
    rerank: Annotated[bool, typer.Option("--rerank", help="Rerank the results")] = False,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="Number of questions, a random sample with a fixed seed"),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="File to write the figures to")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Measure search (nDCG@10, recall, ms per query) or answers on a labeled set.

    With --labels, each figure is printed with its 95 % confidence interval.
    """
    check_figures_file(json_file)
    if (folder is None) is not labels:
        raise typer.BadParameter(
            "specify a labeled set (`python cli.py evaluate FOLDER`), or measure with your own"
            " labels (`python cli.py evaluate --labels`)"
        )
    if labels and (queries != "last" or answers or sweep or sample or rerank):
        raise typer.BadParameter("--labels can be combined only with --mode and --json")
    if rerank and (answers or sweep):
        raise typer.BadParameter("--rerank can't be combined with --answers or --sweep")
    if answers and sweep:
        raise typer.BadParameter("--answers and --sweep cannot be combined")
    if folder is None:
        figures = _by_own_labels(mode, data_dir)
    elif answers and _holds_questions(folder):
        figures = _by_sample_questions(folder, data_dir)
    else:
        with (
            open_services(data_dir, warn=False, must_exist=False) as services,
            progress_bar() as progress,
        ):
            evaluation = services.evaluation
            if answers:
                figures = [evaluation.measure_answers(folder, sample, on_progress=progress)]
            elif sweep:
                figures = evaluation.measure_parameter_sweep(
                    folder, queries, sample, on_progress=progress
                )
            else:
                figures = evaluation.measure_search(
                    folder, mode, queries, sample, rerank=rerank, on_progress=progress
                )
    for row in figures:
        typer.echo(_line(row))
    write_figures(json_file, figures)


def _holds_questions(folder: Path) -> bool:
    from services.evaluation.sample_evaluation import holds_questions  # slow

    return holds_questions(folder)


def _by_sample_questions(folder: Path, data_dir: Path | None) -> "list[Figures]":
    """Measure with the sample documents, in a temporary data folder unless one is specified."""
    from services.evaluation.sample_evaluation import (
        SampleEvaluation,
        figures,
        load_sample_questions,
    )

    questions = load_sample_questions(folder)
    with (
        TemporaryDirectory(prefix="footnote-evaluate-") as scratch,
        open_services(data_dir or Path(scratch), warn=False, must_exist=False) as services,
        progress_bar() as progress,
    ):
        services.directories.import_samples(LOCAL_USER, on_progress=progress)
        graded = list(SampleEvaluation(services.chat).grades(LOCAL_USER, questions, progress))
    for one in graded:
        if not one.right and one.question.split == "tune":  # failures of the test split stay unseen
            typer.echo(_wrong(one))
    return figures(graded)


def _wrong(graded: "Grade") -> str:
    question = graded.question
    quoted = " | ".join(f"{one.document}: {one.text}" for one in graded.quotes) or "nothing"
    return f"{question.id} {question.kind} {question.split}: {question.question} -> {quoted}"


def _by_own_labels(mode: list[SearchMode] | None, data_dir: Path | None) -> "list[Figures]":
    with open_services(data_dir) as services:
        figures = services.labels.evaluate(LOCAL_USER, mode)
    print_warnings(figures.notices)
    return [row.as_row() for row in figures.rows]


def _line(row: "Figures") -> str:
    values = {name: value for name, value in row.items() if not name.endswith(("_low", "_high"))}
    return "  ".join(
        f"{name} {_round(value)}{_interval(row, name)}" for name, value in values.items()
    )


def _interval(row: "Figures", name: str) -> str:
    if f"{name}_low" not in row:
        return ""
    return f" ({_round(row[f'{name}_low'])} to {_round(row[f'{name}_high'])})"


def _round(value: str | float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
