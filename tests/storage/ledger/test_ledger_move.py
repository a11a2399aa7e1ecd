"""A ledger moves between databases without losing a row, and can be resumed at any point."""

import re
import sqlite3
import threading
import time
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import Engine, create_engine, delete, event, insert, select, text, update
from sqlalchemy.engine import make_url

from domain import LOCAL_USER, Action
from domain.errors import ConflictError, StorageError, StorageUnavailableError
from storage.ledger import ledger_copy, ledger_move
from storage.ledger.database import HEAD, open_database
from storage.ledger.ledger_copy import copied_tables
from storage.ledger.ledger_move import LedgerMove
from storage.ledger.ledger_tables import Base, ConversationRow, DocumentRow, SourceRow
from storage.ledger.source_store import Sources
from tests.fakes.audit import audit_of
from tests.fakes.full_ledger import create_full_ledger, engine_for, rows_of
from tests.postgresql.server import PASSWORD, server
from tests.storage.test_migrations import migrate_url

LIBRARY = "a" * 32
ROWS = 40


class Stopped(Exception):
    pass


def ignore(_progress):
    pass


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(ledger_copy, "_BATCH_ROWS", 7)
    monkeypatch.setattr(ledger_copy, "_FETCH", 3)


@pytest.fixture
def new_database(request, tmp_path):
    """A factory of URLs of new databases by kind."""
    names = []

    def create(kind):
        if kind == "sqlite":
            names.append(None)
            return f"sqlite:///{tmp_path / f'{len(names)}.db'}"
        running = request.getfixturevalue("postgresql_server")
        names.append(f"moved_{len(names)}")
        running.execute(f"CREATE DATABASE {names[-1]}")
        return running.url(names[-1])

    yield create
    for name in filter(None, names):
        request.getfixturevalue("postgresql_server").execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def full(tmp_path, new_database):
    """A factory of ledgers with rows in all tables."""

    def create(kind, count=ROWS):
        url = new_database(kind)
        create_full_ledger(tmp_path, url, count)
        return url

    return create


def write(tmp_path, url, *statements):
    database = open_database(tmp_path, url)
    try:
        with database.write() as session:
            for statement in statements:
                session.execute(statement)
    finally:
        database.close()


def move(tmp_path, old, new, library=LIBRARY):
    with closing(LedgerMove(tmp_path, library, old, new)) as moving:
        assert not moving.is_complete()
        moving.prepare()
        moving.copy(ignore)
        return moving.finish(ignore)


postgresql = pytest.mark.postgresql
kinds = pytest.mark.parametrize(
    ("old_kind", "new_kind"),
    [
        ("sqlite", "sqlite"),
        pytest.param("sqlite", "postgresql", marks=postgresql),
        pytest.param("postgresql", "sqlite", marks=postgresql),
        pytest.param("postgresql", "postgresql", marks=postgresql),
    ],
)
new_kinds = pytest.mark.parametrize(
    "kind", ["sqlite", pytest.param("postgresql", marks=postgresql)]
)


@kinds
def test_every_row_of_every_table_is_the_same_afterwards(
    tmp_path, full, new_database, old_kind, new_kind
):
    old, new = full(old_kind), new_database(new_kind)
    before = rows_of(tmp_path, old)
    assert before.keys() == Base.metadata.tables.keys()
    assert {len(rows) for rows in before.values()} == {ROWS}

    assert move(tmp_path, old, new) == dict.fromkeys(before, ROWS)
    assert rows_of(tmp_path, new) == before
    assert rows_of(tmp_path, old) == before
    open_database(tmp_path, new).close()


def test_no_column_is_left_out():
    for table in copied_tables():
        assert table.columns.keys()
        assert set(table.columns.keys()) == set(Base.metadata.tables[table.name].columns.keys())


@pytest.mark.postgresql
def test_the_file_is_the_same_after_the_way_there_and_back(tmp_path, full, new_database):
    old, between, back = full("sqlite"), new_database("postgresql"), new_database("sqlite")
    move(tmp_path, old, between)
    move(tmp_path, between, back)
    stored, returned = (stored_rows(make_url(url).database) for url in (old, back))
    assert returned == stored


def stored_rows(file):
    """The stored values of each table, as SQLite itself reads them."""
    with closing(sqlite3.connect(file)) as ledger:
        return {
            name: sorted(map(repr, ledger.execute(f'SELECT * FROM "{name}"')))
            for name in Base.metadata.tables
        }


@new_kinds
def test_a_ledger_may_return_to_the_database_that_it_left(tmp_path, full, new_database, kind):
    first, second = full("sqlite"), new_database(kind)
    move(tmp_path, first, second)
    document = select(DocumentRow.id).limit(1).scalar_subquery()
    write(
        tmp_path,
        second,
        update(SourceRow).values(name="changed"),
        delete(DocumentRow).where(DocumentRow.id == document),
    )
    before = rows_of(tmp_path, second)
    move(tmp_path, second, first)
    assert rows_of(tmp_path, first) == before
    write(tmp_path, first, update(SourceRow).values(name="again"))
    with pytest.raises(StorageError, match=r"was moved from .*: set FOOTNOTE_DATABASE_URL"):
        open_database(tmp_path, second)


@new_kinds
def test_on_the_way_back_processes_that_were_not_restarted_write_only_after_the_end(
    tmp_path, full, new_database, kind
):
    first, second = full(kind), new_database("sqlite")
    database = open_database(tmp_path, first)
    move(tmp_path, first, second)
    refusals = []

    def change(_progress=None):
        Sources(database).ensure("directory", f"/late{len(refusals)}", name="late")

    def refused(_progress):
        with pytest.raises(StorageError, match=r"was moved from .* to sqlite:"):
            change()
        refusals.append(1)

    write(tmp_path, second, update(SourceRow).values(name="changed"))
    with closing(LedgerMove(tmp_path, LIBRARY, second, first)) as moving:
        moving.prepare()
        moving.copy(refused)
        moving.prepare()
        moving.finish(refused)
    assert len(refusals) > 80
    assert rows_of(tmp_path, first) == rows_of(tmp_path, second)
    change()
    database.close()


@kinds
def test_the_new_ledger_is_on_the_disk_before_the_old_one_is_marked(
    tmp_path, full, new_database, old_kind, new_kind
):
    commits = []

    def record(connection):
        options = connection.get_execution_options()
        if options.get("footnote_writes"):
            commits.append((connection.engine.url.database, options["footnote_unsynced"]))

    old, new = full(old_kind, 3), new_database(new_kind)
    event.listen(Engine, "commit", record)
    try:
        move(tmp_path, old, new)
    finally:
        event.remove(Engine, "commit", record)
    names = [make_url(url).database for url in (old, new)]
    assert commits[-4][1]
    assert commits[-3:] == [(names[1], False), (names[0], False), (names[1], False)]


@postgresql
@pytest.mark.parametrize("name", ["100%", "it's%s", "a@srv"])
def test_the_url_may_contain_any_character(tmp_path, full, new_database, postgresql_server, name):
    old, new = full("postgresql", 3), make_url(new_database("postgresql"))
    postgresql_server.execute(f"""CREATE ROLE "{name}" SUPERUSER LOGIN PASSWORD '{PASSWORD}'""")
    database = open_database(tmp_path, old)
    try:
        move(tmp_path, old, new.set(username=name).render_as_string(hide_password=False))
        place = f"to postgresql://{quote(name)}:***@"
        with pytest.raises(StorageError, match=re.escape(place)):
            Sources(database).ensure("directory", "/late", name="late")
    finally:
        database.close()
        postgresql_server.execute(f'REASSIGN OWNED BY "{name}" TO CURRENT_USER', new.database)
        postgresql_server.execute(f'DROP ROLE "{name}"')


@kinds
def test_what_changes_during_the_copy_is_copied_too(
    tmp_path, full, new_database, old_kind, new_kind
):
    old, new = full(old_kind), new_database(new_kind)
    with closing(LedgerMove(tmp_path, LIBRARY, old, new)) as moving:
        moving.prepare()
        moving.copy(ignore)
        engine = engine_for(tmp_path, old)
        with engine.connect() as connection:
            ids = sorted(connection.scalars(select(DocumentRow.id)))
        engine.dispose()
        write(
            tmp_path,
            old,
            delete(DocumentRow).where(DocumentRow.id.in_(ids[:5])),
            update(DocumentRow).where(DocumentRow.id.in_(ids[5:9])).values(title="changed\0"),
            update(DocumentRow).where(DocumentRow.id == ids[20]).values(details={"b": 1, "a": 2}),
            update(ConversationRow).values(deleted_at=None),
        )
        Sources(open_database(tmp_path, old)).ensure("directory", "/new", name="new")
        moving.finish(ignore)
    assert rows_of(tmp_path, new) == rows_of(tmp_path, old)


@new_kinds
def test_a_new_row_may_have_the_unique_values_of_a_deleted_one(tmp_path, full, new_database, kind):
    old, new = full("sqlite"), new_database(kind)
    source = {
        "kind": "directory",
        "location": "/docs",
        "name": "docs",
        "options": {},
        "created_at": datetime(2026, 1, 1, tzinfo=UTC),
    }
    write(tmp_path, old, insert(SourceRow).values(id="zz", **source))
    with closing(LedgerMove(tmp_path, LIBRARY, old, new)) as moving:
        moving.prepare()
        moving.copy(ignore)
        write(
            tmp_path,
            old,
            delete(SourceRow).where(SourceRow.id == "zz"),
            insert(SourceRow).values(id="\x02", **source),
        )
        moving.finish(ignore)
    assert rows_of(tmp_path, new) == rows_of(tmp_path, old)


@new_kinds
def test_characters_that_earlier_versions_stored_are_replaced(tmp_path, full, new_database, kind):
    old, new = full("sqlite"), new_database(kind)
    with closing(sqlite3.connect(make_url(old).database)) as ledger, ledger:
        ledger.execute("UPDATE documents SET title = 'a' || char(0) || 'b'")
        ledger.execute("""UPDATE documents SET details = '{"x":  "\\u0000\\ud800"}'""")
    move(tmp_path, old, new)
    engine = engine_for(tmp_path, new)
    with engine.connect() as connection:
        rows = connection.execute(select(DocumentRow.title, DocumentRow.details)).all()
    engine.dispose()
    assert {tuple(map(repr, row)) for row in rows} == {("'a\ufffdb'", "{'x': '\ufffd\ufffd'}")}


class TestAnInterruption:
    @kinds
    def test_at_any_point_leaves_the_old_ledger_in_use_and_can_be_resumed(
        self, tmp_path, full, new_database, old_kind, new_kind
    ):
        old, new = full(old_kind, 10), new_database(new_kind)
        before = rows_of(tmp_path, old)
        total = self.reports(tmp_path, old, new, before)
        assert total > 80
        assert rows_of(tmp_path, new) == before

    def reports(self, tmp_path, old, new, before):
        """Interrupt each call a little later than the last one; the number of reports of all."""
        limit = 0
        while True:
            limit += 41
            left = [limit]

            def stop(_progress, left=left):
                left[0] -= 1
                if not left[0]:
                    raise Stopped

            with closing(LedgerMove(tmp_path, LIBRARY, old, new)) as moving, suppress(Stopped):
                moving.prepare()
                moving.copy(stop)
                moving.finish(stop)
                return limit
            assert rows_of(tmp_path, old) == before
            open_database(tmp_path, old).close()
            with pytest.raises(StorageError, match="not complete yet: finish `.* migrate` first"):
                open_database(tmp_path, new)

    @new_kinds
    def test_just_before_the_end_leaves_one_ledger_after_the_next_call(
        self, tmp_path, full, new_database, kind, monkeypatch
    ):
        old, new = full("sqlite", 10), new_database(kind)

        def stop(_connection):
            raise Stopped

        with monkeypatch.context() as patched:
            patched.setattr(ledger_move, "release", stop)
            with pytest.raises(Stopped):
                move(tmp_path, old, new)
        for url in (old, new):
            with pytest.raises(StorageError):
                open_database(tmp_path, url)
        with closing(LedgerMove(tmp_path, LIBRARY, old, new)) as moving:
            assert moving.is_complete()
        open_database(tmp_path, new).close()

    @pytest.mark.postgresql
    def test_of_the_server_is_reported_and_the_copy_resumed(self, tmp_path, full):
        old = full("sqlite")
        with server() as own:
            own.execute("CREATE DATABASE target")

            def stop(progress):
                if progress.done > ROWS * 10:
                    own.stop("immediate")

            with closing(LedgerMove(tmp_path, LIBRARY, old, own.url("target"))) as moving:
                moving.prepare()
                with pytest.raises(StorageUnavailableError, match="check that the PostgreSQL"):
                    moving.copy(stop)
                own.start()
                moving.copy(ignore)
                moving.finish(ignore)
            assert rows_of(tmp_path, own.url("target")) == rows_of(tmp_path, old)


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("old_kind", "new_kind"), [("postgresql", "sqlite"), ("sqlite", "postgresql")]
)
def test_a_transaction_may_wait_for_the_other_database(
    tmp_path, full, new_database, old_kind, new_kind
):
    old, new = full(old_kind), new_database(new_kind)
    waits = []

    def wait(_progress):
        if len(waits) < 3:
            waits.append(time.sleep(0.3))

    urls = [
        f"{url}?options=-c%20idle_in_transaction_session_timeout%3D100ms" if is_server else url
        for url, is_server in ((old, old_kind == "postgresql"), (new, new_kind == "postgresql"))
    ]
    with closing(LedgerMove(tmp_path, LIBRARY, *urls)) as moving:
        moving.prepare()
        moving.copy(wait)
        waits.clear()
        moving.copy(wait)
        waits.clear()
        moving.finish(wait)
    assert rows_of(tmp_path, new) == rows_of(tmp_path, old)


class TestTheNewDatabase:
    @new_kinds
    def test_must_not_contain_a_ledger(self, tmp_path, full, kind):
        old, new = full("sqlite", 3), full(kind, 1)
        before = rows_of(tmp_path, new)
        with pytest.raises(ConflictError, match="already contains a ledger.*--to-database"):
            move(tmp_path, old, new)
        assert rows_of(tmp_path, new) == before
        open_database(tmp_path, new).close()

    @new_kinds
    def test_must_not_contain_the_unfinished_or_moved_ledger_of_another_library(
        self, tmp_path, full, new_database, kind
    ):
        old, other, new = full("sqlite", 3), full("sqlite", 2), new_database(kind)
        with closing(LedgerMove(tmp_path, "b" * 32, other, new)) as moving:
            moving.prepare()
            moving.copy(ignore)
            with pytest.raises(ConflictError, match="of another library"):
                move(tmp_path, old, new)
            moving.finish(ignore)
        with pytest.raises(ConflictError, match="already contains a ledger"):
            move(tmp_path, old, new)
        with pytest.raises(ConflictError, match="of another library"):
            move(tmp_path, old, other)
        assert len(rows_of(tmp_path, new)["documents"]) == 2

    @new_kinds
    def test_may_contain_the_empty_ledger_of_an_earlier_version(
        self, tmp_path, full, new_database, kind
    ):
        old, new = full("sqlite", 3), new_database(kind)
        migrate_url(driver_url(new), "0013")
        move(tmp_path, old, new)
        assert rows_of(tmp_path, new) == rows_of(tmp_path, old)

    @new_kinds
    def test_must_not_be_of_a_newer_version(self, tmp_path, full, new_database, kind):
        old, new = full("sqlite", 3), new_database(kind)
        open_database(tmp_path, new).close()
        engine = engine_for(tmp_path, new)
        with engine.begin() as connection:
            connection.execute(
                text("UPDATE alembic_version SET version_num = '9999', oldest = '9999'")
            )
        engine.dispose()
        with pytest.raises(StorageError, match="written by a newer Footnote"):
            move(tmp_path, old, new)

    @new_kinds
    def test_may_be_the_earlier_one_only_on_the_way_back(self, tmp_path, full, new_database, kind):
        first, second, other = full(kind, 3), new_database(kind), full("sqlite", 2)
        move(tmp_path, first, second)
        before = rows_of(tmp_path, first)
        with pytest.raises(ConflictError, match=r"was moved to .*, not to sqlite:.*correct"):
            move(tmp_path, other, first)
        assert rows_of(tmp_path, first) == before
        with pytest.raises(StorageError, match="was moved from"):
            open_database(tmp_path, first)

    @new_kinds
    def test_must_not_lose_its_rows_to_an_empty_one(self, tmp_path, full, new_database, kind):
        first, second = full(kind, 3), new_database("sqlite")
        move(tmp_path, first, second)
        before = rows_of(tmp_path, first)
        empty_file(second)
        open_database(tmp_path, second).close()
        for _call in range(2):
            with pytest.raises(ConflictError, match="contains no source, document, or index, but"):
                move(tmp_path, second, first)
        assert rows_of(tmp_path, first) == before

    @pytest.mark.postgresql
    def test_must_permit_creating_tables(self, tmp_path, full, new_database, postgresql_server):
        old, new = full("sqlite", 3), new_database("postgresql")
        postgresql_server.execute(f"CREATE ROLE guest LOGIN PASSWORD '{PASSWORD}'")
        try:
            guest = make_url(new).set(username="guest").render_as_string(hide_password=False)
            with pytest.raises(StorageError, match="permission denied.*the owner of the database"):
                move(tmp_path, old, guest)
            with pytest.raises(
                StorageError, match="database .*does not exist.*create the database"
            ):
                move(tmp_path, old, postgresql_server.url("nowhere"))
        finally:
            postgresql_server.execute("DROP ROLE guest")
        open_database(tmp_path, old).close()

    def test_must_be_another_one(self, tmp_path, full):
        old = full("sqlite", 1)
        with pytest.raises(ConflictError, match="The ledger is already in sqlite:"):
            LedgerMove(tmp_path, LIBRARY, old, f"{old}?timeout=3")

    def test_that_changes_rows_is_not_used(self, tmp_path, full, new_database):
        old, new = full("sqlite"), new_database("sqlite")
        open_database(tmp_path, new).close()
        with closing(sqlite3.connect(make_url(new).database)) as ledger, ledger:
            ledger.execute(
                "CREATE TRIGGER changes AFTER INSERT ON documents WHEN NEW.revision % 2 BEGIN"
                " UPDATE documents SET title = 'spoiled' WHERE id = NEW.id; END"
            )
            ledger.execute(
                "CREATE TRIGGER again AFTER UPDATE ON documents WHEN NEW.title <> 'spoiled' BEGIN"
                " UPDATE documents SET title = 'spoiled' WHERE id = NEW.id; END"
            )
        with pytest.raises(
            StorageError, match=r"table documents in sqlite:.* differs .*\(20 of 40 rows"
        ):
            move(tmp_path, old, new)
        open_database(tmp_path, old).close()

    @pytest.mark.postgresql
    def test_is_recognized_by_its_server_and_name(self, tmp_path, new_database):
        url = make_url(new_database("postgresql"))
        old, same = url.update_query_dict({"connect_timeout": "7"}), url.set(host="localhost")
        other = make_url(new_database("postgresql"))
        texts = [one.render_as_string(hide_password=False) for one in (old, same, url)]
        database = open_database(tmp_path, texts[0])
        for text_ in texts:
            with pytest.raises(ConflictError, match="The ledger is already in postgresql:"):
                move(tmp_path, texts[0], text_)
        Sources(database).ensure("directory", "/new", name="new")
        database.close()
        by_query = url.update_query_dict({"dbname": other.database})
        move(tmp_path, texts[0], by_query.render_as_string(hide_password=False))
        assert len(rows_of(tmp_path, other.render_as_string(hide_password=False))["sources"]) == 1


def empty_file(url):
    for name in ("", "-wal", "-shm"):
        Path(make_url(url).database + name).unlink(missing_ok=True)


def driver_url(url):
    address = make_url(url)
    name = "postgresql+psycopg" if address.drivername == "postgresql" else address.drivername
    return address.set(drivername=name)


class TestTheOldLedger:
    @kinds
    def test_refuses_every_change_but_can_be_read(
        self, tmp_path, full, new_database, old_kind, new_kind
    ):
        old, new = full(old_kind), new_database(new_kind)
        database = open_database(tmp_path, old)
        before = rows_of(tmp_path, old)
        move(tmp_path, old, new)
        message = r"was moved from .* to .*: set FOOTNOTE_DATABASE_URL to the URL that was passed"
        for table in Base.metadata.sorted_tables:
            column = next(iter(table.columns))
            rows = select(table).limit(1)
            for statement in (
                table.delete(),
                table.update().values({column.name: column}),
                table.insert().from_select(list(table.columns.keys()), rows),
            ):
                with pytest.raises(StorageError, match=message) as caught, database.write() as one:
                    one.execute(statement)
                assert PASSWORD not in str(caught.value)
        assert len(Sources(database).list()) == ROWS
        database.close()
        assert rows_of(tmp_path, old) == before
        with pytest.raises(StorageError, match=message):
            open_database(tmp_path, old)

    def test_in_a_folder_is_named_as_such(self, tmp_path, full, new_database):
        move(tmp_path, full("sqlite", 3), None)
        move(tmp_path, None, new_database("sqlite"))
        with pytest.raises(StorageError, match="moved from .*footnote.db to sqlite:"):
            open_database(tmp_path)

    def test_that_was_moved_to_the_folder_says_so(self, tmp_path, full):
        old = full("sqlite", 3)
        move(tmp_path, old, None)
        with pytest.raises(StorageError, match="to the data folder: remove FOOTNOTE_DATABASE_URL"):
            open_database(tmp_path, old)

    def test_can_not_be_moved_to_a_second_place(self, tmp_path, full, new_database):
        old, new = full("sqlite", 3), new_database("sqlite")
        move(tmp_path, old, new)
        with closing(LedgerMove(tmp_path, LIBRARY, old, new_database("sqlite"))) as second:
            with pytest.raises(StorageError, match="was moved from"):
                second.is_complete()
        with closing(LedgerMove(tmp_path, LIBRARY, old, new)) as again:
            assert again.is_complete()

    @new_kinds
    def test_lets_writers_wait_at_the_end_and_then_refuses_them(
        self, tmp_path, full, new_database, kind
    ):
        old, new = full(kind), new_database("sqlite")
        database = open_database(tmp_path, old)
        errors, writers = [], []

        def change():
            try:
                Sources(database).ensure("directory", "/late", name="late")
            except StorageError as error:
                errors.append(str(error))

        def begin(_progress):
            if not writers:
                writers.append(threading.Thread(target=change))
                writers[0].start()

        with closing(LedgerMove(tmp_path, LIBRARY, old, new)) as moving:
            moving.prepare()
            moving.finish(begin)
        writers[0].join()
        assert len(errors) == 1
        assert "was moved from" in errors[0]
        assert len(Sources(database).list()) == ROWS
        assert len(Sources(open_database(tmp_path, new)).list()) == ROWS


@pytest.mark.postgresql
def test_ids_are_continued_and_the_tables_are_those_of_the_code(tmp_path, full, new_database):
    old, new = full("sqlite"), new_database("postgresql")
    move(tmp_path, old, new)
    database = open_database(tmp_path, new)
    audit_of(database).record(LOCAL_USER, Action.BACKUP_CREATED, "x")
    engine = create_engine(driver_url(new))
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT max(id) FROM audit_events")) == ROWS + 1
        names = connection.scalars(
            text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        )
        assert set(names) == {*Base.metadata.tables, "alembic_version"}
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == HEAD
    engine.dispose()
