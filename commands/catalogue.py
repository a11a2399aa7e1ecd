"""`cli.py catalogue`: catalogues are added and imported, and asked."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from commands.import_report import exit_code, print_report, report_as_data
from commands.running import AsJson, DataDir, open_services, print_json, progress_bar
from domain import LOCAL_USER, DocumentFilter, FoundPlace, ImportReport, Outcome, values_of
from errors import InputError
from services.answer_text import PlainAnswer

if TYPE_CHECKING:
    from bootstrap import Services
    from catalog.events import CatalogueAnswer, CatalogueEvent

WARNINGS = 20
"""How many warnings of an import are printed."""

catalogue = typer.Typer(
    no_args_is_help=True, help="Search catalogues of places: restaurants, homes, devices."
)


@catalogue.command()
def add(
    path: Annotated[Path, typer.Argument(help="The catalogue.yaml, or its folder", readable=False)],
    confirm_removals: Annotated[
        bool, typer.Option(help="Remove places even if most of the catalogue is gone")
    ] = False,
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Bring the library up to date with a catalogue, which is added if it is new."""
    with open_services(data_dir) as services, progress_bar(quiet=as_json) as progress:
        report = services.catalogue_imports.run(
            LOCAL_USER, path, confirm_removals=confirm_removals, on_progress=progress
        )
        warnings = _warnings(services, report)
    _tell(report, warnings, as_json=as_json)


@catalogue.command()
def sample(as_json: AsJson = False, data_dir: DataDir = None) -> None:
    """Add and import the sample catalogue: made-up restaurants in New York."""
    with open_services(data_dir) as services, progress_bar(quiet=as_json) as progress:
        report = services.catalogue_imports.run_sample(LOCAL_USER, on_progress=progress)
        warnings = _warnings(services, report)
    _tell(report, warnings, as_json=as_json)


@catalogue.command()
def search(
    question: str,
    user: Annotated[str, typer.Option(help="Whose preferences count beside the question")] = "",
    prefer: Annotated[
        list[str] | None,
        typer.Option(help="What matters, from 0 to 5: food=4.5; repeatable"),
    ] = None,
    name: Annotated[
        str, typer.Option("--catalogue", help="Its name or id, where there are several")
    ] = "",
    language: Annotated[
        str, typer.Option(help="Of the answer: en, ko or ja; the question's otherwise")
    ] = "",
    as_json: AsJson = False,
    data_dir: DataDir = None,
) -> None:
    """Find places for a question and a person, and tell why."""
    preferences = dict(map(_preference, prefer or ()))
    with open_services(data_dir) as services:
        events = services.catalogue.search(
            LOCAL_USER,
            question,
            catalogue=name,
            user_id=user,
            preferences=preferences,
            language=language,
        )
        with closing(events):
            answer = _follow(events, quiet=as_json)
    if as_json:
        print_json(_as_data(answer))
    else:
        _print_places(answer)


def _follow(events: "Iterator[CatalogueEvent]", *, quiet: bool) -> "CatalogueAnswer":
    """Print what is written as it comes; all of it at last."""
    from catalog.events import Answered, Written

    plain = PlainAnswer()
    for event in events:
        match event:
            case Written(text) if not quiet:
                typer.echo(plain.write(text), nl=False)
            case Answered(answer):
                if not quiet:
                    typer.echo(f"{plain.close()}\n")
                return answer
    raise AssertionError("a search ends with its answer")


def _preference(told: str) -> tuple[str, float]:
    aspect, _, value = told.partition("=")
    try:
        return aspect.strip(), float(value)
    except ValueError as error:
        raise InputError(
            f"--prefer {told[:60]!r} is no preference: write an aspect and a number from 0 to 5,"
            " such as food=4.5."
        ) from error


def _print_places(answer: "CatalogueAnswer") -> None:
    for source in answer.sources:
        if any(citation.n == source.n for citation in answer.citations):
            typer.secho(f"[{source.n}] {source.title} ({source.location})", dim=True)
    typer.echo(_understood(answer))
    for notice in filter(None, (answer.query.notice, *answer.notices)):
        typer.secho(f"Footnote: {notice}", fg="yellow", err=True)
    for n, found in enumerate(answer.places, start=1):
        typer.secho(f"{n}. {found.place.title}  ({_facts(found)})", bold=True)
        typer.secho(f"   {_score(found)}", dim=True)


def _understood(answer: "CatalogueAnswer") -> str:
    filters = answer.query.filters
    parts = [f"{name} {' or '.join(values_of(told))}" for name, told in filters.fields.items()]
    parts += filters.desired_types or ()
    parts += [f"not {one}" for one in filters.declined_types]
    if filters.min_rating is not None:
        parts.append(f"rating {filters.min_rating:g} or better")
    said = answer.query.aspect_weights.items()
    parts += [f"{aspect} {weight:g}" for aspect, weight in said if weight is not None]
    return f"Understood: {', '.join(parts) or 'no filters'}."


def _facts(found: FoundPlace) -> str:
    place = found.place
    rating = "not rated" if place.rating is None else f"★ {place.rating:.1f}, {place.reviews}"
    return ", ".join([*place.types, *place.fields.values(), rating])


def _score(found: FoundPlace) -> str:
    parts = " + ".join(f"{part.name} {part.share:.2f}" for part in found.parts)
    tags = f"; known for {', '.join(found.tags)}" if found.tags else ""
    return f"{found.score:.2f} = {parts}{tags}"


def _warnings(services: "Services", report: ImportReport) -> list[str]:
    """What the import warned of in the places that it read, such as a review that is left out."""
    read = {one.key for one in report.items if one.outcome in (Outcome.NEW, Outcome.CHANGED)}
    if not read:
        return []
    wanted = DocumentFilter(sources=(report.source_id,), warned=True)
    found = services.documents.page(LOCAL_USER, wanted, limit=len(report.items)).documents
    return [f"{one.title}: {told}" for one in found if one.key in read for told in one.warnings]


def _tell(report: ImportReport, warnings: Sequence[str], *, as_json: bool) -> None:
    if as_json:
        print_json({**report_as_data(report), "warnings": warnings})
    else:
        for told in warnings[:WARNINGS]:
            typer.echo(f"{'warning':9} {told}")
        if len(warnings) > WARNINGS:
            typer.echo(f"{len(warnings) - WARNINGS} more warnings are on the library page.")
        print_report(report)
    raise typer.Exit(exit_code(report))


def _as_data(value: Any) -> Any:
    """The value as JSON has it: whatever has named parts is an object."""
    if is_dataclass(value):
        return {one.name: _as_data(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: _as_data(part) for name, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {name: _as_data(part) for name, part in value.items()}
    return [_as_data(part) for part in value] if isinstance(value, tuple | list) else value
