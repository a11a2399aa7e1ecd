"""Whose import run is next: people take turns, and so do the sources of one person.

The person who was served least recently comes first, then the source of theirs that was. What was
never served comes before everything else, and of equals, the oldest comes first.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from datetime import datetime
from operator import attrgetter, itemgetter
from typing import TypeVar

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.ledger.ledger_tables import ImportRow
from storage.ledger.usage_tables import ImportTurnRow

_Taker = TypeVar("_Taker", bound=Hashable)
"""Whoever takes turns: a person, or a source of a person."""


def in_turns(session: Session, rows: Iterable[ImportRow]) -> list[ImportRow]:
    """Waiting runs in the order in which they will be performed if nothing else is requested."""
    waiting = sorted(rows, key=_age)
    if len(waiting) < 2:  # usually: workers ask several times a second
        return waiting
    turns = _turns(session)
    by_source = _in_rounds(waiting, attrgetter("user_id", "source_id"), turns)
    return _in_rounds(by_source, attrgetter("user_id"), _latest_by_person(turns))


def take_turn(session: Session, row: ImportRow) -> None:
    """Note that a person's import of a source is being performed now."""
    latest = session.scalar(select(func.max(ImportTurnRow.turn))) or 0
    session.merge(ImportTurnRow(user_id=row.user_id, source_id=row.source_id, turn=latest + 1))


def _in_rounds(
    rows: Iterable[ImportRow],
    taker_of: Callable[[ImportRow], _Taker],
    turns: Mapping[_Taker, int],
) -> list[ImportRow]:
    """The runs in rounds: each taker has one run in each, in the order of their latest turns.

    The runs of one taker keep their order.
    """
    rounds, entries = Counter[_Taker](), []
    for row in rows:
        taker = taker_of(row)
        entries.append((rounds[taker], turns.get(taker, 0), _age(row), row))
        rounds[taker] += 1
    return [row for *_order, row in sorted(entries, key=itemgetter(0, 1, 2))]


def _age(row: ImportRow) -> tuple[datetime, str]:
    return row.started_at, row.id  # the id makes the order of simultaneous runs stable


def _turns(session: Session) -> dict[tuple[str, str], int]:
    """The latest turn of each person (a user id) with each source."""
    columns = select(ImportTurnRow.user_id, ImportTurnRow.source_id, ImportTurnRow.turn)
    return {(user_id, source_id): turn for user_id, source_id, turn in session.execute(columns)}


def _latest_by_person(turns: Mapping[tuple[str, str], int]) -> dict[str, int]:
    latest: dict[str, int] = {}
    for (user_id, _source_id), turn in turns.items():
        latest[user_id] = max(turn, latest.get(user_id, 0))
    return latest
