"""Damage of the ledger's file: met at the start, while it is used, or by the check."""

import random
import sqlite3
from functools import partial

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import select, text

from domain import LOCAL_USER
from errors import AppError, DamagedLedgerError
from storage.ledger import ledger_check
from storage.ledger.database import check_ledger, open_database
from storage.ledger.document_store import Documents
from storage.ledger.ledger_tables import SourceRow
from tests.fakes.library import DictLoader, Library
from tests.storage.damage import PAGE, contents, flipped, settled


@pytest.fixture
def folder(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({f"{n}.txt": f"{n} word after another. " * 40 for n in range(9)}))
    library.database.close()
    settled(tmp_path / "footnote.db")
    return tmp_path


@pytest.fixture
def unchecked(monkeypatch):
    """Every ledger counts as a large one, whose pages are not all looked at when it is opened."""
    monkeypatch.setattr(ledger_check, "MAX_CHECKED_BYTES", 0)


def page_of(folder, name):
    with sqlite3.connect(folder / "footnote.db") as connection:
        wanted = "SELECT rootpage FROM sqlite_master WHERE name = ?"
        return connection.execute(wanted, [name]).fetchone()[0]


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


def test_a_damaged_page_is_told_with_its_table_and_nothing_is_changed(folder):
    overwrite(folder, "passages")
    before = contents(folder)
    with pytest.raises(DamagedLedgerError, match=r"footnote\.db is damaged.*cli\.py check"):
        open_database(folder)
    assert "passages" in findings(folder)
    assert contents(folder) == before


def test_of_a_large_ledger_the_pages_a_start_writes_to_are_looked_at(folder, unchecked):
    overwrite(folder, "imports")
    before = contents(folder)
    with pytest.raises(DamagedLedgerError, match="imports"):
        open_database(folder)
    assert contents(folder) == before


def test_of_a_large_ledger_other_damage_is_told_when_it_is_met(folder, unchecked):
    overwrite(folder, "document_texts")
    documents = Documents(open_database(folder))
    [document_id, *_] = documents.ids()
    with pytest.raises(DamagedLedgerError, match=r"footnote\.db is damaged"):
        documents.text(document_id)


def test_an_index_that_lacks_a_row_is_named_by_the_check(folder):
    execute(
        folder,
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = replace(sql, 'passages (id)', 'passages (id) WHERE 0')"
        " WHERE name = 'ix_passages_id'",
    )
    assert "ix_passages_id" in findings(folder)


def test_rows_that_refer_to_nothing_are_counted_by_the_check(folder):
    execute(folder, "DELETE FROM documents WHERE key = '3.txt'")
    told = findings(folder)
    assert "document_texts: 1 rows refer to missing rows of documents" in told


def test_a_lost_table_or_column_is_damage(folder):
    execute(folder, "DROP TABLE ratings", "ALTER TABLE turns DROP COLUMN usage")
    told = findings(folder)
    assert "ratings" in told
    assert "the table turns has no column usage" in told
    with pytest.raises(DamagedLedgerError):
        open_database(folder)


def test_a_ledger_without_its_version_is_not_migrated_again(folder):
    execute(folder, "DELETE FROM alembic_version")
    before = contents(folder)
    with pytest.raises(DamagedLedgerError, match="its version is missing"):
        open_database(folder)
    assert contents(folder) == before


CELLS = {
    "a broken letter": "UPDATE documents SET title = CAST(x'ff61' AS TEXT)",
    "bytes for a text": "UPDATE documents SET title = x'ff61'",
    "a text for a number": "UPDATE documents SET revision = 'x1'",
    "half of JSON": "UPDATE documents SET pages = '[[0,'",
    "JSON too deep": f"UPDATE documents SET pages = '{'[' * 100_000}'",
    "bytes for JSON": "UPDATE documents SET pages = x'ff61'",
    "no date": "UPDATE documents SET imported_at = '20z6-01-01 00:00:00.000000'",
    "a number for a date": "UPDATE documents SET imported_at = 7",
}


@pytest.mark.parametrize("statement", CELLS.values(), ids=CELLS.keys())
def test_a_cell_that_nobody_wrote_is_told_when_read_and_by_the_check(folder, statement):
    execute(folder, statement)
    with pytest.raises(DamagedLedgerError, match=r"footnote\.db.*cli\.py check"):
        Documents(open_database(folder)).list()
    assert "documents: " in findings(folder)


def test_json_of_another_shape_is_told_when_read(folder):
    execute(folder, "UPDATE documents SET pages = '[5]'")
    with pytest.raises(DamagedLedgerError, match=r"can't be read \(TypeError"):
        Documents(open_database(folder)).list()


def test_a_damaged_cell_met_while_writing_undoes_the_write(folder):
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


def test_a_sound_ledger_and_a_folder_without_one_have_no_findings(folder, tmp_path):
    before = contents(folder)
    check_ledger(folder)
    check_ledger(tmp_path / "nothing")
    assert contents(folder) == before


def test_a_ledger_rebuilt_from_its_rows_opens_with_all_of_them(folder):
    """As the recovery of SQLite writes it: not in WAL mode, with a table for what has no place."""
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
@example(12931, False)  # SQLite quotes damaged SQL, line break and all
def test_whatever_is_flipped_ends_well_or_with_one_message(tmp_path_factory, seed, is_large):
    folder, whole = template(tmp_path_factory)
    (folder / "footnote.db").write_bytes(flipped(whole, random.Random(seed)))
    for side in ("-wal", "-shm"):
        (folder / f"footnote.db{side}").unlink(missing_ok=True)
    before = contents(folder)
    with pytest.MonkeyPatch.context() as patch:
        if is_large:
            patch.setattr(ledger_check, "MAX_CHECKED_BYTES", 0)
        messages = [said_by(lambda: open_database(folder).close())]
        assert not messages[0] or contents(folder) == before
        messages += [said_by(lambda: check_ledger(folder)), *use(folder)]
    assert not any("\n" in message for message in messages)


def said_by(step):
    """What the step says to people where it fails; every other error is one of the test."""
    try:
        step()
    except AppError as error:
        return str(error)
    return ""


def use(folder):
    opened = []
    yield said_by(lambda: opened.append(Library(folder)))
    for library in opened:
        yield from (said_by(partial(step, library)) for step in STEPS)
        library.database.close()


_TEMPLATE = []


def template(tmp_path_factory):
    """A folder whose ledger each example overwrites, and the whole ledger; made once."""
    if not _TEMPLATE:
        folder = tmp_path_factory.mktemp("flipped")
        library = Library(folder)
        library.load(DictLoader({f"{n}.txt": f"{n} word after another. " * 40 for n in range(9)}))
        library.database.close()
        _TEMPLATE.append((folder, settled(folder / "footnote.db")))
    return _TEMPLATE[0]
