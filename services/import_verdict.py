"""How an import that came to its end is judged."""

from domain import ImportReport, ImportState, Outcome
from services.import_run import ImportRun


def report_of(run: ImportRun, held_back: int) -> ImportReport:
    """The report of a run that came to its end; `held_back` documents wait for a confirmation."""
    state, message = _verdict(run, held_back)
    return ImportReport(
        run.import_id,
        run.source.id,
        state,
        tuple(run.items),
        run.passages_embedded,
        message=message,
    )


def _verdict(run: ImportRun, held_back: int) -> tuple[ImportState, str]:
    failures = sum(item.outcome is Outcome.FAILED for item in run.items)
    unread = f"{failures} could not be read" if failures else ""
    if held_back:
        waiting = (
            f"{held_back} documents seem to be gone: more than half of the source, or all of a"
            " place in it. None of them was removed: if they are really gone, confirm it on the"
            " import page, or import again with --confirm-removals"
        )
        message = f"{waiting}; {unread}" if unread else waiting
        return ImportState.NEEDS_CONFIRMATION, message
    return (ImportState.COMPLETED_WITH_ERRORS if failures else ImportState.COMPLETED), unread
