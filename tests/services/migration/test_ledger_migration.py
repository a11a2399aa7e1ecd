import pytest

from domain import LOCAL_USER, Principal, Role
from domain.errors import BusyError, ConflictError, ForbiddenError, StorageError
from services.migration import ledger_migration
from services.migration.ledger_migration import LedgerMigration
from storage.safe_writes import writer_lock
from tests.fakes.library import DictLoader, filled_library

QUESTION = "How many days of annual leave do new employees get?"


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def new_url(request, tmp_path):
    """The URL of a new database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'elsewhere.db'}"
        return
    running = request.getfixturevalue("postgresql_server")
    running.execute("CREATE DATABASE migrated")
    yield running.url("migrated")
    running.execute("DROP DATABASE migrated WITH (FORCE)")


def evidence(turn):
    return turn.answer, [
        (one.state, one.quote, one.start, one.end, one.n) for one in turn.citations
    ]


def passages(services):
    retriever = services.search.retriever(LOCAL_USER)
    return [(one.id, one.page_content) for one in retriever.invoke("annual leave")]


def test_a_library_answers_in_the_same_way_after_each_move(
    build_services, imported, tmp_path, new_url
):
    services = imported(embed=True)
    before, ranked = services.chat.ask(LOCAL_USER, QUESTION), passages(services)
    assert "25 days" in before.citations[0].quote
    data_dir = tmp_path / "data"

    moved = LedgerMigration(data_dir, None, new_url).run(LOCAL_USER)
    assert moved.rows["documents"] == 4
    services = build_services(embed=True, database_url=new_url)
    assert services.maintenance.check(LOCAL_USER).agrees
    assert evidence(services.chat.ask(LOCAL_USER, QUESTION)) == evidence(before)
    assert passages(services) == ranked
    [turn] = services.turns.list(LOCAL_USER, before.conversation_id)
    assert evidence(turn) == evidence(before)
    later = services.chat.ask(LOCAL_USER, QUESTION, conversation_id=before.conversation_id)

    LedgerMigration(data_dir, new_url, None).run(LOCAL_USER)
    services = build_services(embed=True)
    assert services.maintenance.check(LOCAL_USER).agrees
    assert passages(services) == ranked
    turns = services.turns.list(LOCAL_USER, before.conversation_id)
    assert [one.id for one in turns] == [before.id, later.id]
    assert evidence(services.chat.ask(LOCAL_USER, QUESTION)) == evidence(before)


def test_people_search_and_ask_during_the_copy_and_search_afterwards(
    build_services, imported, tmp_path, new_url
):
    services = imported(embed=True)
    turns = []

    def ask(_progress):
        if len(turns) < 3:
            turns.append(services.chat.ask(LOCAL_USER, QUESTION))

    LedgerMigration(tmp_path / "data", None, new_url).run(LOCAL_USER, ask)
    assert passages(services)
    with pytest.raises(StorageError, match="The library was moved from"):
        services.chat.ask(LOCAL_USER, QUESTION)
    with pytest.raises(StorageError, match="The library was moved from"):
        build_services(embed=True)
    services = build_services(embed=True, database_url=new_url)
    for turn in turns:
        assert [one.id for one in services.turns.list(LOCAL_USER, turn.conversation_id)] == [
            turn.id
        ]


def test_an_import_ends_its_step_before_the_move_and_is_refused_afterwards(
    tmp_path, new_url, monkeypatch
):
    library = filled_library(tmp_path / "data", {"leave.md": "New employees get 25 days."})
    migration = LedgerMigration(tmp_path / "data", None, new_url)
    monkeypatch.setattr(ledger_migration, "_LOCK_TIMEOUT_S", 0.1)
    with writer_lock(tmp_path / "data"), pytest.raises(BusyError, match="is writing to"):
        migration.run(LOCAL_USER)
    library.load(DictLoader({"leave.md": "New employees get 26 days."}))
    assert not migration.is_complete(LOCAL_USER)
    migration.run(LOCAL_USER)
    assert migration.is_complete(LOCAL_USER)
    with pytest.raises(StorageError, match="The library was moved from"):
        library.load(DictLoader({"leave.md": "New employees get 27 days."}))
    assert library.texts() == {"leave.md": "New employees get 26 days."}


def test_a_second_call_waits_for_nothing_and_changes_nothing(tmp_path, new_url):
    filled_library(tmp_path / "data", {"leave.md": "New employees get 25 days."})
    migration = LedgerMigration(tmp_path / "data", None, new_url)
    with writer_lock(tmp_path / "data" / ".move"), pytest.raises(BusyError):
        migration.run(LOCAL_USER)
    assert migration.run(LOCAL_USER).rows
    assert migration.run(LOCAL_USER).rows == {}


def test_another_library_is_not_replaced(tmp_path, new_url):
    for name in ("one", "other"):
        filled_library(tmp_path / name, {"leave.md": "New employees get 25 days."})
    LedgerMigration(tmp_path / "one", None, new_url).run(LOCAL_USER)
    with pytest.raises(ConflictError, match="already contains a ledger"):
        LedgerMigration(tmp_path / "other", None, new_url).run(LOCAL_USER)


def test_only_administrators_move_a_library(tmp_path):
    migration = LedgerMigration(tmp_path, None, f"sqlite:///{tmp_path / 'new.db'}")
    editor = Principal("ada", role=Role.EDITOR)
    for call in (migration.run, migration.is_complete):
        with pytest.raises(ForbiddenError):
            call(editor)


def test_a_damaged_ledger_is_not_moved(tmp_path):
    library = filled_library(tmp_path / "data", {"leave.md": "New employees get 25 days."})
    library.database.close()
    (tmp_path / "data" / "footnote.db").write_bytes(b"not a database" * 1000)
    new = tmp_path / "new.db"
    with pytest.raises(StorageError, match="is damaged"):
        LedgerMigration(tmp_path / "data", None, f"sqlite:///{new}").run(LOCAL_USER)
    assert not new.exists()
