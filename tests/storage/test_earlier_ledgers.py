"""Ledgers that earlier versions wrote, one for each migration, are upgraded without a loss.

The code of each version wrote its file, by importing the same documents and answering a question;
tables that were then still empty got a row. Before you add a migration, add such a file of the
last one, with `sqlite3 data/footnote.db .dump`.
"""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import MetaData, create_engine, insert, select

from domain import LOCAL_USER
from services.backups.backup_service import restore_backup
from services.long_work import ignore
from storage.backups.backup_file import entries_of, write_backup
from storage.backups.library_copy import ledger_facts
from storage.backups.manifest import Manifest
from storage.ledger.database import HEAD, check_ledger, open_database
from storage.ledger.ledger_tables import Base
from tests.storage.test_migrations import migrate_url

LEDGERS = sorted((Path(__file__).parent / "ledgers").glob("*.sql"))
QUESTION = "How many days of annual leave do new employees get?"
QUOTE = "New employees get 25 days of annual leave a year."
by_ledger = pytest.mark.parametrize(
    "sql",
    [
        LEDGERS[0],
        *(pytest.param(file, marks=pytest.mark.slow) for file in LEDGERS[1:-1]),
        LEDGERS[-1],
    ],
    ids=[file.stem for file in LEDGERS],
)


def write_ledger(sql, data_dir):
    data_dir.mkdir()
    with closing(sqlite3.connect(data_dir / "footnote.db")) as ledger:
        ledger.execute("PRAGMA journal_mode=WAL")
        ledger.executescript(sql.read_text(encoding="utf-8"))


def rows_of(data_dir):
    """By table, its columns and the rows as dictionaries, in the order of their ids."""
    with closing(sqlite3.connect(data_dir / "footnote.db")) as ledger:
        ledger.row_factory = sqlite3.Row
        tables = ledger.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        names = [name for (name,) in tables if not name.startswith(("sqlite", "alembic"))]
        return {
            name: [dict(row) for row in ledger.execute(f"SELECT * FROM {name} ORDER BY rowid")]
            for name in names
        }


def test_there_is_a_ledger_of_each_earlier_migration():
    earlier = {f"{number:04}" for number in range(1, int(HEAD))}
    assert earlier <= {file.stem for file in LEDGERS}


@by_ledger
def test_each_table_of_an_earlier_ledger_has_rows(sql, tmp_path):
    write_ledger(sql, tmp_path / "data")
    before = rows_of(tmp_path / "data")
    assert len(before) >= 11
    assert [name for name, rows in before.items() if not rows] == []


@by_ledger
def test_every_row_and_value_is_still_there_after_the_upgrade(sql, tmp_path):
    data_dir = tmp_path / "data"
    write_ledger(sql, data_dir)
    before = rows_of(data_dir)
    open_database(data_dir).close()
    check_ledger(data_dir)
    after = rows_of(data_dir)
    for name, rows in before.items():
        upgraded = [
            {column: new[column] for column in old}
            for old, new in zip(rows, after[name], strict=True)
        ]
        assert upgraded == rows, name


@by_ledger
def test_an_upgraded_library_answers_and_shows_its_earlier_conversation(
    sql, tmp_path, build_services
):
    write_ledger(sql, tmp_path / "old")
    services = build_services(data_dir=tmp_path / "old", embed=True)
    services.maintenance.reindex(LOCAL_USER)
    assert services.maintenance.check(LOCAL_USER).agrees
    turn = services.chat.ask(LOCAL_USER, QUESTION)
    assert QUOTE in turn.citations[0].quote
    assert turn.citations[0].state == "verified"
    [_new, earlier] = services.conversations.page(LOCAL_USER, limit=9).items
    [earlier_turn] = services.turns.list(LOCAL_USER, earlier.id)
    assert "25 days" in earlier_turn.answer
    assert {one.document_id for one in earlier_turn.sources} == {*earlier_turn.basis}


@by_ledger
def test_a_backup_of_an_earlier_version_is_upgraded_after_restoring(sql, tmp_path, build_services):
    copy = tmp_path / "copy"
    write_ledger(sql, copy)
    schema, counts = ledger_facts(copy)
    assert schema == sql.stem
    facts = {"schema": schema, "counts": counts, "files": entries_of(copy)}
    manifest = Manifest(
        datetime.now(UTC), library="/data", is_scheduled=False, version="0.1.0", **facts
    )
    write_backup(copy, manifest, tmp_path / "backup", ignore)
    restore_backup(tmp_path / "backup", tmp_path / "new", ignore)
    services = build_services(data_dir=tmp_path / "new", embed=True)
    assert services.maintenance.status(LOCAL_USER).documents == counts["documents"]


@pytest.mark.postgresql
@pytest.mark.parametrize("revision", ["0001", "0009", "0016"])
def test_rows_of_an_earlier_version_are_upgraded_alike_on_postgresql(
    revision, tmp_path, postgresql_server
):
    postgresql_server.execute("CREATE DATABASE earlier")
    url = postgresql_server.url("earlier")
    write_ledger(Path(__file__).parent / "ledgers" / f"{revision}.sql", tmp_path / "data")
    migrate_url(url, revision)
    copy_rows(f"sqlite:///{tmp_path}/data/footnote.db", url)
    values = []
    for database in (open_database(tmp_path / "data"), open_database(tmp_path / "new", url)):
        with database.read() as session:
            values.append([stored_values(session, table) for table in Base.metadata.sorted_tables])
        database.close()
    assert values[0] == values[1]
    migrate_url(url, "base", down=True)
    postgresql_server.execute("DROP DATABASE earlier WITH (FORCE)")


def copy_rows(source, target):
    """Copy all rows to a ledger of the same version."""
    tables = MetaData()
    with create_engine(source).connect() as old, create_engine(target).begin() as new:
        tables.reflect(new)
        for table in tables.sorted_tables:
            rows = [dict(row) for row in old.execute(select(table)).mappings()]
            if rows and table.name != "alembic_version":
                new.execute(insert(table), rows)


def stored_values(session, table):
    return sorted(map(str, session.execute(select(table))))
