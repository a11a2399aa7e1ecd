"""Whose import run is next: people take turns, and so do the sources of one person.

The person who was served least recently comes first, then the source of theirs that was. What was
never served comes before everything else, and of equals, the oldest comes first.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from storage.ledger.ledger_tables import ImportRow
from storage.ledger.usage_tables import ImportTurnRow

Turns = Mapping[tuple[str, str], int]
"""The latest turn of each person (a user id) with each source."""


def in_turns(session: Session, rows: Iterable[ImportRow]) -> list[ImportRow]:
    """Waiting runs in the order in which they will be performed if nothing else is requested."""
    oldest_first = sorted(rows, key=_age)
    turns = _turns(session)
    people = defaultdict[str, list[ImportRow]](list)
    for row in _in_turns_of_sources(oldest_first, turns):
        people[row.user_id].append(row)
    served = _latest_by_person(turns)
    rounds = [
        (number, served.get(user_id, 0), _age(row), row)
        for user_id, own in people.items()
        for number, row in enumerate(own)
    ]
    return [row for *_order, row in sorted(rounds, key=_order_in_rounds)]


def take_turn(session: Session, row: ImportRow) -> None:
    """Note that a person's import of a source is being performed now."""
    latest = session.scalar(select(func.max(ImportTurnRow.turn))) or 0
    session.merge(ImportTurnRow(user_id=row.user_id, source_id=row.source_id, turn=latest + 1))


def _in_turns_of_sources(rows: list[ImportRow], turns: Turns) -> list[ImportRow]:
    """The runs, oldest first, in an order in which each person's sources take turns."""
    before = Counter[tuple[str, str]]()
    rounds = []
    for row in rows:
        owner = row.user_id, row.source_id
        rounds.append((before[owner], turns.get(owner, 0), _age(row), row))
        before[owner] += 1
    return [row for *_order, row in sorted(rounds, key=_order_in_rounds)]


def _order_in_rounds(entry: tuple[int, int, Any, ImportRow]) -> tuple[int, int, Any]:
    number, turn, age, _row = entry
    return number, turn, age


def _age(row: ImportRow) -> tuple[Any, str]:
    return row.started_at, row.id  # the id makes the order of simultaneous runs stable


def _turns(session: Session) -> dict[tuple[str, str], int]:
    columns = select(ImportTurnRow.user_id, ImportTurnRow.source_id, ImportTurnRow.turn)
    return {(user_id, source_id): turn for user_id, source_id, turn in session.execute(columns)}


def _latest_by_person(turns: Turns) -> dict[str, int]:
    latest: dict[str, int] = {}
    for (user_id, _source_id), turn in turns.items():
        latest[user_id] = max(turn, latest.get(user_id, 0))
    return latest
