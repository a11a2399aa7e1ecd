"""What imports found new, changed and gone, day by day."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime

from sqlalchemy import func, select

from domain import ImportDay, ImportKind, Outcome
from storage.database import Database
from storage.tables import ImportItemRow, ImportRow

_TOLD = (Outcome.NEW, Outcome.CHANGED, Outcome.GONE)


def import_days(database: Database, sources: Sequence[str], since: datetime) -> list[ImportDay]:
    """The days since then on which anything was new, changed or gone in these sources.

    The oldest comes first; dry runs don't count.
    """
    day = func.date(ImportRow.started_at)
    counted = (
        select(day, ImportItemRow.outcome, func.count())
        .join(ImportItemRow, ImportItemRow.import_id == ImportRow.id)
        .where(
            ImportRow.source_id.in_(sources),
            ImportRow.started_at >= since,
            ImportRow.kind != ImportKind.DRY_RUN,
            ImportItemRow.outcome.in_(_TOLD),
        )
        .group_by(day, ImportItemRow.outcome)
        .order_by(day)
    )
    days: defaultdict[str, dict[str, int]] = defaultdict(dict)
    with database.read() as session:
        for text, outcome, documents in session.execute(counted):
            days[str(text)][outcome] = documents
        return [ImportDay(date.fromisoformat(text), counts) for text, counts in days.items()]
