"""Damage to the ledger's file that is detected at startup, during use, or by the check."""

import random
import sqlite3
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select, text

from domain import LOCAL_USER
from domain.errors import AppError, DamagedLedgerError
from storage.ledger import ledger_check
from storage.ledger.database import check_ledger, open_database
from storage.ledger.document_store import Documents
from storage.ledger.ledger_tables import SourceRow
from tests.fakes.library import DictLoader, Library, filled_library
from tests.storage.damage import PAGE, checkpoint, contents, corrupt


@pytest.fixture
def folder(tmp_path):
    library = filled_library(
        tmp_path, {f"{n}.txt": f"{n} word after another. " * 40 for n in range(9)}
    )
    library.database.close()
    checkpoint(tmp_path / "footnote.db")
    return tmp_path


@pytest.fixture
def large_ledger(monkeypatch):
    """Treat every ledger as a large one, which is not completely checked when it is opened."""
    monkeypatch.setattr(ledger_check, "MAX_CHECKED_BYTES", 0)


def page_of(folder, name):
    with sqlite3.connect(folder / "footnote.db") as connection:
        query = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return connection.execute(query, [name]).fetchone()[0]


def overwrite(folder, name):
    ledger = folder / "footnote.db"
    start = (page_of(folder, name) - 1) * PAGE
    whole = ledger.read_bytes()
    ledger.write_bytes(whole[:start] + b"\x5a" * PAGE + whole[start + PAGE :])


def execute(folder, *statements):
    with sqlite3.connect(folder / "footnote.db") as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()


def findings(folder):
    with pytest.raises(DamagedLedgerError, match=r"restore footnote\.db.*\.recover") as caught:
        check_ledger(folder)
    return "\n".join(caught.value.findings)


def test_damaged_pages_are_reported_with_their_table_without_changing_files(folder):
    overwrite(folder, "passages")
    before = contents(folder)
    with pytest.raises(DamagedLedgerError, match=r"footnote\.db is damaged.*cli\.py check"):
        open_database(folder)
    assert "passages" in findings(folder)
    assert contents(folder) == before


def test_opening_a_large_ledger_checks_the_tables_that_the_start_writes_to(folder, large_ledger):
    overwrite(folder, "imports")
    before = contents(folder)
    with pytest.raises(DamagedLedgerError, match="imports"):
        open_database(folder)
    assert contents(folder) == before


def test_other_damage_of_a_large_ledger_is_reported_on_access(folder, large_ledger):
    overwrite(folder, "document_texts")
    documents = Documents(open_database(folder))
    [document_id, *_] = documents.ids()
    with pytest.raises(DamagedLedgerError, match=r"footnote\.db is damaged"):
        documents.text(document_id)


def test_the_check_reports_indexes_with_missing_rows(folder):
    execute(
        folder,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'passages (id)', 'passages (id) WHERE 0')"
        " WHERE name = 'ix_passages_id'",
    )
    assert "ix_passages_id" in findings(folder)


def test_the_check_counts_dangling_references(folder):
    execute(folder, "DELETE FROM documents WHERE key = '3.txt'")
    report = findings(folder)
    assert "document_texts: 1 rows refer to missing rows of documents" in report


def test_missing_tables_and_columns_are_reported_as_damage(folder):
    execute(folder, "DROP TABLE ratings", "ALTER TABLE turns DROP COLUMN usage")
    report = findings(folder)
    assert "ratings" in report
    assert "the table turns has no column usage" in report
    with pytest.raises(DamagedLedgerError):
        open_database(folder)


def test_a_ledger_without_a_version_is_not_migrated(folder):
    execute(folder, "DELETE FROM alembic_version")
    before = contents(folder)
    with pytest.raises(DamagedLedgerError, match="its version is missing"):
        open_database(folder)
    assert contents(folder) == before


CELLS = {
    "invalid UTF-8": "UPDATE documents SET title = CAST(x'ff61' AS TEXT)",
    "bytes instead of text": "UPDATE documents SET title = x'ff61'",
    "text instead of a number": "UPDATE documents SET revision = 'x1'",
    "truncated JSON": "UPDATE documents SET pages = '[[0,'",
    "too deeply nested JSON": f"UPDATE documents SET pages = '{'[' * 100_000}'",
    "bytes instead of JSON": "UPDATE documents SET pages = x'ff61'",
    "invalid date": "UPDATE documents SET imported_at = '20z6-01-01 00:00:00.000000'",
    "number instead of a date": "UPDATE documents SET imported_at = 7",
}


@pytest.mark.parametrize("statement", CELLS.values(), ids=CELLS.keys())
def test_invalid_cells_are_reported_on_access_and_by_the_check(folder, statement):
    execute(folder, statement)
    with pytest.raises(DamagedLedgerError, match=r"footnote\.db.*cli\.py check"):
        Documents(open_database(folder)).list()
    assert "documents: " in findings(folder)


def test_json_of_an_unexpected_type_is_reported_on_access(folder):
    execute(folder, "UPDATE documents SET pages = '[5]'")
    with pytest.raises(DamagedLedgerError, match=r"can't be read \(TypeError"):
        Documents(open_database(folder)).list()


def test_an_invalid_cell_read_during_a_write_rolls_it_back(folder):
    execute(folder, "UPDATE sources SET options = '{'")
    database = open_database(folder)

    def change():
        with database.write() as session:
            session.execute(text("UPDATE sources SET name = 'changed'"))
            session.scalars(select(SourceRow)).all()

    with pytest.raises(DamagedLedgerError, match="is not JSON"):
        change()
    with database.read() as session:
        assert session.scalar(text("SELECT name FROM sources")) == "docs"


def test_the_check_accepts_intact_ledgers_and_folders_without_one(folder, tmp_path):
    before = contents(folder)
    check_ledger(folder)
    check_ledger(tmp_path / "nothing")
    assert contents(folder) == before


def test_a_ledger_recovered_with_sqlite_opens_with_all_rows(folder):
    """SQLite's recovery creates a table lost_and_found and does not enable WAL mode."""
    ledger, recovered = folder / "footnote.db", folder / "recovered.db"
    with sqlite3.connect(ledger) as old, sqlite3.connect(recovered) as new:
        new.executescript("\n".join(old.iterdump()))
        new.execute("CREATE TABLE lost_and_found (rootpgno INTEGER, c0)")
    old.close(), new.close()
    recovered.replace(ledger)
    check_ledger(folder)
    library = Library(folder)
    assert len(library.texts()) == 9
    library.reindex()
    assert library.check().agrees


STEPS = [
    lambda library: library.maintenance.recover(),
    lambda library: library.maintenance.status(LOCAL_USER),
    lambda library: [library.documents.list(), library.sources.list()],
    lambda library: library.texts(),
    lambda library: library.check(),
]


@pytest.mark.slow
@given(st.integers(0, 2**32), st.booleans())
@example(2910, False)  # the damaged revision is none that this version knows
@example(12931, False)  # SQLite's message quotes damaged SQL including a line break
def test_any_damage_is_harmless_or_raises_an_error_of_one_line(tmp_path_factory, seed, is_large):
    folder, whole = template(tmp_path_factory)
    (folder / "footnote.db").write_bytes(corrupt(whole, random.Random(seed)))
    for side in ("-wal", "-shm"):
        (folder / f"footnote.db{side}").unlink(missing_ok=True)
    before = contents(folder)
    with pytest.MonkeyPatch.context() as patch:
        if is_large:
            patch.setattr(ledger_check, "MAX_CHECKED_BYTES", 0)
        messages = [error_message(lambda: open_database(folder).close())]
        assert not messages[0] or contents(folder) == before
        messages += [error_message(lambda: check_ledger(folder)), *use(folder)]
    assert not any("\n" in message for message in messages)


def error_message(step):
    """The message if the step fails with an AppError, else ""; other errors fail the test."""
    try:
        step()
    except AppError as error:
        return str(error)
    return ""


def use(folder):
    opened = []
    yield error_message(lambda: opened.append(Library(folder)))
    for library in opened:
        yield from (error_message(partial(step, library)) for step in STEPS)
        library.database.close()


_TEMPLATE = []


def template(tmp_path_factory):
    """A folder whose ledger each example overwrites, and the intact ledger; created once."""
    if not _TEMPLATE:
        folder = tmp_path_factory.mktemp("flipped")
        library = Library(folder)
        library.load(DictLoader({f"{n}.txt": f"{n} word after another. " * 40 for n in range(9)}))
        library.database.close()
        _TEMPLATE.append((folder, checkpoint(folder / "footnote.db")))
    return _TEMPLATE[0]
