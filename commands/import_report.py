"""What an import did, told on the command line."""

from dataclasses import asdict
from typing import Any

import typer

from commands.running import INTERRUPTED, LOOK
from domain import ImportReport, ImportState, Outcome

_EXIT_CODES = {
    ImportState.COMPLETED_WITH_ERRORS: LOOK,
    ImportState.NEEDS_CONFIRMATION: LOOK,
    ImportState.CANCELLED: INTERRUPTED,
}


def print_report(report: ImportReport) -> None:
    """Print what could not be read, how many documents became what, and what to do next."""
    for item in report.items:
        if item.reason:
            typer.echo(f"{item.outcome.value:9} {item.location}: {item.reason}")
    counts = ", ".join(
        f"{report.count(outcome)} {outcome.value}" for outcome in Outcome if report.count(outcome)
    )
    typer.echo(
        f"Import {report.state.value}: {counts or 'nothing there'}; "
        f"{report.passages_embedded} passages embedded in {report.seconds:.1f} s."
    )
    if report.message:
        typer.echo(report.message)


def report_as_data(report: ImportReport) -> dict[str, Any]:
    """The report as JSON has it."""
    items = [{**asdict(item), "outcome": item.outcome.value} for item in report.items]
    return {**asdict(report), "state": report.state.value, "items": items}


def exit_code(report: ImportReport) -> int:
    """0 where all is done, else what a program is to know."""
    return _EXIT_CODES.get(report.state, 0)
