"""`cli.py catalog`: adds, imports, and searches catalogs."""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from commands.console import (
    AsJson,
    DataDir,
    check_figures_file,
    command_line,
    exit_code,
    open_services,
    print_json,
    print_report,
    print_warnings,
    progress_bar,
    write_figures,
)
from domain import LOCAL_USER, DocumentFilter, ImportReport, Outcome, PlaceHit, values_of
from domain.errors import InputError
from services.export.answer_text import PlainAnswer

if TYPE_CHECKING:
    from bootstrap import Services
    from services.catalog.catalog_question import CatalogAnswer, CatalogEvent


Row = dict[str, str | int | float]
CatalogName = Annotated[
    str,
    typer.Option(
        "--catalog", "--catalogue", help="Name or id of the catalog, if there are several"
    ),
]


def evaluate_catalog(
    questions: Annotated[
        Path | None, typer.Argument(help="Labeled questions (default: those of the sample)")
    ] = None,
    name: CatalogName = "",
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the figures to this file")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Measure the analysis of questions about a catalog, and nDCG@10 of its search.

    Each figure has a 95% confidence interval. Without a file of questions, the sample catalog is
    measured: in the data folder if you name one, else in a temporary one.
    """
    check_figures_file(json_file)
    if questions is None and name:
        command = command_line("evaluate-catalog", "QUESTIONS", "--catalog", "NAME")
        raise typer.BadParameter(f"--catalog requires a file of labeled questions: `{command}`")
    must_exist = questions is not None
    with (
        _data_folder(questions, data_dir) as folder,
        open_services(folder, warn=False, must_exist=must_exist) as services,
    ):
        if questions is None:
            questions, name = _sample(services)
        rows = _measure(services, questions, name)
    for row in rows:
        typer.echo(_table(row))
    write_figures(json_file, rows)


@contextmanager
def _data_folder(questions: Path | None, data_dir: Path | None) -> Iterator[Path | None]:
    """The data folder; without questions and a folder, a temporary one."""
    if questions is not None or data_dir is not None:
        yield data_dir
        return
    with tempfile.TemporaryDirectory(prefix="footnote-evaluate-") as folder:
        yield Path(folder)


def _sample(services: "Services") -> tuple[Path, str]:
    """Import the sample catalog; returns its questions and its id."""
    imports = services.catalog_imports
    with progress_bar() as progress:
        report = imports.run(LOCAL_USER, imports.sample, on_progress=progress)
    return imports.sample / "questions.jsonl", report.source_id


def _measure(services: "Services", questions: Path, name: str) -> list[Row]:
    from services.catalog.place_scores import NO_CROSS_ENCODER
    from services.evaluation.catalog_figures import evaluation_of

    evaluation = evaluation_of(services.catalog, LOCAL_USER, name)
    if evaluation.engine.reranking is None:
        print_warnings([NO_CROSS_ENCODER])
    return [one.as_row() for one in evaluation.measure(questions)]


def _table(row: Row) -> str:
    """A line for each figure, below the language."""
    lines = [
        f"  {name:20} {row[name]:6.3f} ({row[f'{name}_low']:.3f} to {row[f'{name}_high']:.3f})"
        for name in row
        if f"{name}_low" in row
    ]
    return "\n".join([f"{row['language']}, {row['questions']} questions", *lines])


WARNINGS = 20
"""Maximum number of warnings printed after an import."""

catalog = typer.Typer(
    no_args_is_help=True, help="Search catalogs of places: restaurants, homes, devices."
)


@catalog.command()
def add(
    path: Annotated[
        Path, typer.Argument(help="A catalog.yaml, or the folder that contains it", readable=False)
    ],
    confirm_removals: Annotated[
        bool, typer.Option(help="Remove missing places even if that is most of the catalog")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Import a catalog, adding it if it is new."""
    _import(path, confirm_removals, as_json, data_dir)


@catalog.command()
def sample(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Add and import the sample catalog: fictional restaurants in New York."""
    _import(None, False, as_json, data_dir)


def _import(path: Path | None, confirm_removals: bool, as_json: bool, data_dir: DataDir) -> None:
    """Import the catalog, or the sample without a path, and print the report."""
    with (
        open_services(data_dir, must_exist=False) as services,
        progress_bar(quiet=as_json) as progress,
    ):
        path = path or services.catalog_imports.sample
        report = services.catalog_imports.run(
            LOCAL_USER, path, confirm_removals=confirm_removals, on_progress=progress
        )
        warnings = _warnings(services, report)
    if as_json:
        print_json({**asdict(report), "warnings": warnings})
    else:
        for warning in warnings[:WARNINGS]:
            typer.echo(f"{'warning':9} {warning}")
        if len(warnings) > WARNINGS:
            typer.echo(f"{len(warnings) - WARNINGS} more warnings are on the library page.")
        confirmation = command_line("catalog", "add", path, "--confirm-removals", data_dir=data_dir)
        print_report(report, confirmation)
    raise typer.Exit(exit_code(report))


@catalog.command()
def search(
    question: Annotated[str, typer.Argument(help="A question about places, in quotes")],
    user: Annotated[str, typer.Option(help="Id of the person whose preferences apply")] = "",
    prefer: Annotated[
        list[str] | None,
        typer.Option(help="Preference from 0 to 5, such as food=4.5; repeatable"),
    ] = None,
    name: CatalogName = "",
    language: Annotated[
        str,
        typer.Option(help="Language of the answer: en, ko, or ja (default: the question's)"),
    ] = "",
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Find places for a question and a person, with explanations."""
    preferences = dict(map(_preference, prefer or ()))
    with open_services(data_dir) as services:
        events = services.catalog.search(
            LOCAL_USER,
            question,
            catalog=name,
            user_id=user,
            preferences=preferences,
            language=language,
        )
        with closing(events):
            answer = _print_text(events, quiet=as_json)
    if as_json:
        print_json(answer)
    else:
        _print_places(answer)


def _print_text(events: "Iterator[CatalogEvent]", *, quiet: bool) -> "CatalogAnswer":
    """Print the text of the answer as it arrives; returns the complete result."""
    from services.catalog.catalog_question import AnswerCompleted, AnswerText

    plain = PlainAnswer()
    for event in events:
        match event:
            case AnswerText(text) if not quiet:
                typer.echo(plain.write(text), nl=False)
            case AnswerCompleted(answer):
                if not quiet:
                    typer.echo(f"{plain.close()}\n")
                return answer
    raise AssertionError("a search ends with its answer")


def _preference(option: str) -> tuple[str, float]:
    aspect, _, value = option.partition("=")
    try:
        return aspect.strip(), float(value)
    except ValueError as error:
        raise InputError(
            f"--prefer {option[:60]!r} is not a preference: write an aspect and a number from 0 to"
            " 5, such as food=4.5."
        ) from error


def _print_places(answer: "CatalogAnswer") -> None:
    for source in answer.sources:
        if any(citation.n == source.n for citation in answer.citations):
            typer.secho(f"[{source.n}] {source.title} ({source.location})", dim=True)
    typer.echo(_analysis(answer))
    print_warnings([answer.query.notice, *answer.notices])
    for n, hit in enumerate(answer.places, start=1):
        typer.secho(f"{n}. {hit.place.title}  ({_facts(hit)})", bold=True)
        typer.secho(f"   {_score(hit)}", dim=True)


def _analysis(answer: "CatalogAnswer") -> str:
    filters = answer.query.filters
    parts = [f"{name} {' or '.join(values_of(value))}" for name, value in filters.fields.items()]
    parts += filters.desired_types or ()
    parts += [f"not {one}" for one in filters.declined_types]
    if filters.min_rating is not None:
        parts.append(f"rating {filters.min_rating:g} or better")
    weights = answer.query.aspect_weights.items()
    parts += [f"{aspect} {weight:g}" for aspect, weight in weights if weight is not None]
    return f"Understood: {', '.join(parts) or 'no filters'}."


def _facts(hit: PlaceHit) -> str:
    place = hit.place
    rating = "not rated" if place.rating is None else f"★ {place.rating:.1f}, {place.reviews}"
    return ", ".join([*place.types, *place.fields.values(), rating])


def _score(hit: PlaceHit) -> str:
    parts = " + ".join(f"{part.name} {part.share:.2f}" for part in hit.parts)
    tags = f"; known for {', '.join(hit.tags)}" if hit.tags else ""
    return f"{hit.score:.2f} = {parts}{tags}"


def _warnings(services: "Services", report: ImportReport) -> list[str]:
    """Warnings about the imported places, for example about skipped reviews."""
    keys = {one.key for one in report.items if one.outcome in (Outcome.NEW, Outcome.CHANGED)}
    if not keys:
        return []
    warned = DocumentFilter(sources=(report.source_id,), warned=True)
    documents = services.documents.page(LOCAL_USER, warned, limit=len(report.items)).documents
    return [
        f"{one.title}: {warning}"
        for one in documents
        if one.key in keys
        for warning in one.warnings
    ]
