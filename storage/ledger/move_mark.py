"""What a ledger itself records about its move to another database.

The new ledger has a mark from the beginning of the move to its end, so that nothing uses half of a
library. The old one gets a mark at the end. A marked ledger has triggers that refuse every write,
also those of processes that had opened it before. Neither is part of the ledger's tables: a ledger
that was never moved has no mark.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Column, Connection, MetaData, String, Table, inspect, select

from storage.ledger.columns import POSTGRESQL
from storage.ledger.ledger_tables import Base

REFUSAL = "footnote-moved:"
"""The beginning of the message with which the triggers refuse a write; the new place follows."""

_CHANGES = ("INSERT", "UPDATE", "DELETE")


class MoveState(StrEnum):
    """The part of a ledger in a move."""

    UNFINISHED = "unfinished"
    MOVED = "moved"


class Mark(NamedTuple):
    """The mark of a ledger of this library; `place` is the URL of the other one, without secrets.

    It is "" for the ledger in the data folder.
    """

    library: str
    state: str
    place: str


_marks = Table(
    "ledger_move",
    MetaData(),
    Column("library", String, primary_key=True),
    Column("state", String, nullable=False),
    Column("place", String, nullable=False),
)

_COPYING = "copying"
_IS_REFUSED = "NOT EXISTS (SELECT 1 FROM ledger_move WHERE state = 'copying')"


def read_mark(connection: Connection) -> Mark | None:
    """The mark of a ledger; None if it has none."""
    if not inspect(connection).has_table(_marks.name):
        return None
    row = connection.execute(select(_marks)).first()
    return None if row is None else Mark(*row)


def set_mark(connection: Connection, mark: Mark) -> None:
    """Replace the mark."""
    _marks.create(connection, checkfirst=True)
    connection.execute(_marks.delete())
    connection.execute(_marks.insert(), mark._asdict())


def release(connection: Connection) -> None:
    """Let everyone open and change the ledger: undo `refuse_writes`, and remove the mark."""
    accept_writes(connection)
    _marks.drop(connection, checkfirst=True)


@contextmanager
def permitted(connection: Connection) -> Iterator[None]:
    """In this transaction of a marked ledger, permit the changes inside the block.

    Others never see the mark of this transaction, so they are refused as before.
    """
    connection.execute(_marks.update().values(state=_COPYING))
    yield
    connection.execute(_marks.update().values(state=MoveState.UNFINISHED))


def refuse_writes(connection: Connection, place: str) -> None:
    """Make the database refuse every change of a marked ledger; the library is in this place."""
    message = (REFUSAL + place).replace("'", "''")
    if connection.dialect.name != POSTGRESQL:
        for table in _names():
            for change in _CHANGES:
                connection.exec_driver_sql(
                    f'CREATE TRIGGER "{_trigger(table, change)}" BEFORE {change} ON "{table}"'
                    f" WHEN {_IS_REFUSED} BEGIN SELECT RAISE(ABORT, '{message}'); END"
                )
        return
    body = (
        f"BEGIN IF {_IS_REFUSED} THEN RAISE EXCEPTION USING MESSAGE = '{message}'; END IF;"
        " RETURN NULL; END"
    ).replace("'", "''")
    connection.exec_driver_sql(
        "CREATE FUNCTION footnote_moved() RETURNS trigger LANGUAGE plpgsql AS"
        f" '{body.replace('%', '%%')}'"  # % begins a parameter of the driver
    )
    for table in _names():
        connection.exec_driver_sql(
            f'CREATE TRIGGER footnote_moved BEFORE INSERT OR UPDATE OR DELETE ON "{table}"'
            " FOR EACH STATEMENT EXECUTE FUNCTION footnote_moved()"
        )


def accept_writes(connection: Connection) -> None:
    """Undo `refuse_writes`; the mark remains."""
    if connection.dialect.name == POSTGRESQL:
        connection.exec_driver_sql("DROP FUNCTION IF EXISTS footnote_moved() CASCADE")
        return
    for table in _names():
        for change in _CHANGES:
            connection.exec_driver_sql(f'DROP TRIGGER IF EXISTS "{_trigger(table, change)}"')


def _names() -> list[str]:
    return [table.name for table in Base.metadata.sorted_tables]


def _trigger(table: str, change: str) -> str:
    return f"moved_{table}_{change.lower()}"
