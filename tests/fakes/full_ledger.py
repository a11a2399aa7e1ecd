"""Fills every table of a ledger with unusual values, and reads all of them."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Boolean, Float, insert, select

from domain.messages import _
from storage.ledger.columns import Json, MessageJson, MessageText, Text, UtcDateTime, Whole
from storage.ledger.database import open_database
from storage.ledger.engines import engine_of, reader_of, writer_of
from storage.ledger.ledger_check import url_of
from storage.ledger.ledger_location import FILE
from storage.ledger.ledger_tables import Base

TEXTS = (
    "",
    "plain",
    "NUL \0 and a lone surrogate \ud83d",
    "'quotes' \"both\" \\backslash\\ %s %% {0} :name $1",
    "line\nbreaks\r\n\ttabs",
    "휴가 규정, 休暇規程, ǅ, ß",
    "\U0001f600 after \uffee, \ue000",  # UTF-16 would sort these in another order
    "\u202eright to left\u202c \x01\x7f\x85\u2028",
)
MESSAGE = _("{name} is empty")


def engine_for(data_dir, url=None):
    return engine_of(url or url_of(data_dir / FILE))


def fill(engine, count):
    """Add `count` rows to each table."""
    keys = {}
    with writer_of(engine).begin() as connection:
        for table in Base.metadata.sorted_tables:
            rows = [_row(table, n, keys) for n in range(count)]
            connection.execute(insert(table), rows)
            for column in table.primary_key:
                keys[table.name, column.name] = [row[column.name] for row in rows]


def _row(table, n, keys):
    return {column.name: _value(column, n, keys) for column in table.columns}


def _value(column, n, keys):
    for reference in column.foreign_keys:
        target = reference.column
        return keys[target.table.name, target.name][n]
    if column.nullable and n % 3 == 0:
        return None
    text = f"{TEXTS[n % len(TEXTS)]} {n}"
    number = n + 1 if column.primary_key else 2**40 + n
    values = {
        MessageText: MESSAGE.format(name=text) if n % 2 else text,
        MessageJson: [{"reason": MESSAGE.format(name=text)}, text],
        Json: {text: [n, n / 7, None, True, {"deep": text}], "a": 1},
        Text: text,
        UtcDateTime: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=n, microseconds=n),
        Boolean: n % 2 == 0,
        Whole: number,
        BigInteger: number,
        Float: n / 7,
    }
    return next(value for kind, value in values.items() if isinstance(column.type, kind))


def create_full_ledger(data_dir, url, count):
    """A new ledger with `count` rows in each table."""
    open_database(data_dir, url).close()
    engine = engine_for(data_dir, url)
    fill(engine, count)
    engine.dispose()


def rows_of(data_dir, url):
    """All rows of a ledger that is not open: see `contents`."""
    engine = engine_for(data_dir, url)
    try:
        return contents(engine)
    finally:
        engine.dispose()


def contents(engine):
    """All rows by table, as sets of the values that the program reads."""
    with reader_of(engine).begin() as connection:
        return {
            table.name: sorted(repr(tuple(row)) for row in connection.execute(select(table)))
            for table in Base.metadata.sorted_tables
        }
