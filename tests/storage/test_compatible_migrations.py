"""An earlier version works with the ledger of a newer one, if its migrations only add something."""

import logging

import pytest
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from domain import LOCAL_USER
from domain.errors import StorageError
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import HEAD, check_ledger, open_database
from storage.ledger.ledger_move import LedgerMove
from tests.fakes.next_migration import CONTRACTION, EXPANSION, NEXT, write_next_migration
from tests.postgresql.fixtures import only_sqlite
from tests.storage.test_migrations import migrate_url, scripts_with

FIRST = "0019"
"""The first migration that states with which versions its ledger works."""
HARMLESS_DELETIONS = {"CASCADE", "SET NULL"}
"""How foreign keys of a new table let an earlier version delete rows of an old one."""


def schema_of(url):
    """By table, what an earlier version may rely on."""
    engine = create_engine(url)
    inspector = inspect(engine)
    schema = {name: parts_of(inspector, name) for name in inspector.get_table_names()}
    engine.dispose()
    return schema


def parts_of(inspector, table):
    """The parts of a table, as text, by kind and name."""
    columns = {one["name"]: one for one in inspector.get_columns(table)}
    constraints = {
        "primary key": [inspector.get_pk_constraint(table)],
        "unique constraint": inspector.get_unique_constraints(table),
        "check": inspector.get_check_constraints(table),
        "foreign key": inspector.get_foreign_keys(table),
        "index": inspector.get_indexes(table),
    }
    return columns, {
        (kind, str(one["name"])): one for kind, ones in constraints.items() for one in ones
    }


def obstacles(before, after):
    """What in a new schema may keep the version of the one before from working, described."""
    for table, (columns, constraints) in before.items():
        if table not in after:
            yield f"the table {table} is missing"
            continue
        yield from column_obstacles(table, columns, after[table][0])
        yield from constraint_obstacles(table, constraints, after[table][1])
    for table in after.keys() - before.keys():
        for (kind, name), one in after[table][1].items():
            is_old = kind == "foreign key" and one["referred_table"] in before
            if is_old and one["options"].get("ondelete") not in HARMLESS_DELETIONS:
                yield f"rows of {one['referred_table']} can't be deleted because of {name}"


def column_obstacles(table, before, after):
    for name, column in before.items():
        if name not in after:
            yield f"the column {table}.{name} is missing"
        elif described(column) != described(after[name]):
            yield f"the column {table}.{name} is another one"
    for name in after.keys() - before.keys():
        if not after[name]["nullable"] and after[name]["default"] is None:
            yield f"the new column {table}.{name} needs a value or a server default"


def described(column):
    return str(column["type"]), column["nullable"], column["default"]


def constraint_obstacles(table, before, after):
    for kind, name in before.keys() - after.keys():
        yield f"the {kind} {name} of {table} is missing"
    for kind, name in after.keys() & before.keys():
        if str(before[kind, name]) != str(after[kind, name]):
            yield f"the {kind} {name} of {table} is another one"
    for kind, name in after.keys() - before.keys():
        if kind != "index" or after[kind, name]["unique"]:
            yield f"the {kind} {name} of the existing table {table} is new"


def statements_of(more=None):
    """By migration, in their order, the oldest one whose version works with its ledger."""
    scripts = ScriptDirectory.from_config(scripts_with(more)).walk_revisions()
    return {
        one.revision: one.module.oldest_compatible
        for one in reversed([*scripts])
        if one.revision >= FIRST
    }


def wrong_statements(url, more=None):
    """The statements of migrations that are not true, each with the reason."""
    stated = statements_of(more)
    migrate_url(url, "0018")
    schemas = {"0018": schema_of(url)}
    for revision in stated:
        migrate_url(url, revision, more=more)
        schemas[revision] = schema_of(url)
    for revision, oldest in stated.items():
        assert oldest in schemas, f"{revision} states {oldest}, which is no migration from {FIRST}"
        steps = [one for one in schemas if oldest <= one <= revision]
        for before, after in zip(steps, steps[1:], strict=False):
            for obstacle in obstacles(schemas[before], schemas[after]):
                yield (
                    f"migration {revision} states that the version of {oldest} works with its"
                    f" ledger, but after {after}, {obstacle}: set oldest_compatible to {after}"
                )


@pytest.fixture
def url(ledger_kind, request, tmp_path):
    """The address of an empty database."""
    if ledger_kind == "sqlite":
        yield f"sqlite:///{tmp_path}/ledger.db"
        return
    running = request.getfixturevalue("postgresql_server")
    running.execute("CREATE DATABASE compatible")
    yield running.url("compatible").replace("postgresql:", "postgresql+psycopg:")
    running.execute("DROP DATABASE compatible WITH (FORCE)")


def test_what_each_migration_states_is_true(url):
    assert list(wrong_statements(url)) == []


def test_the_last_migrations_only_added_something(url):
    migrate_url(url, "0017")
    before = schema_of(url)
    migrate_url(url, "0018")
    assert list(obstacles(before, schema_of(url))) == []


def test_a_true_statement_is_accepted(url, tmp_path):
    more = write_next_migration(tmp_path / "more", EXPANSION, oldest=HEAD)
    assert list(wrong_statements(url, more)) == []
    assert statements_of(more)[NEXT] == HEAD


REFERENCE = (
    'op.create_table("x", sa.Column("id", sa.String(), sa.ForeignKey("turns.id", name="fk_x",'
    ' ondelete="{}")))'
)
WRONG = {
    'op.drop_table("ratings")': "the table ratings is missing",
    'op.rename_table("ratings", "stars")': "the table ratings is missing",
    'op.drop_column("turns", "basis")': "the column turns.basis is missing",
    'op.alter_column("turns", "basis", new_column_name="evidence")': "turns.basis is missing",
    'batch.alter_column("position", type_=sa.String())': "turns.position is another one",
    'batch.alter_column("basis", server_default=None)': "turns.basis is another one",
    'batch.alter_column("parent_id", nullable=False)': "turns.parent_id is another one",
    'batch.add_column(sa.Column("x", sa.String(), nullable=False))': "turns.x needs a value",
    'batch.create_unique_constraint("uq_x", ["error"])': "constraint uq_x of the existing table",
    'op.create_index("ix_x", "turns", ["error"], unique=True)': "index ix_x of the existing table",
    'batch.create_check_constraint("x", "position > 0")': "the existing table turns is new",
    'batch.create_foreign_key("fk_x", "turns", ["parent_id"], ["id"])': "fk_x of the existing",
    'op.create_table("x", sa.Column("id", sa.String(), sa.ForeignKey("turns.id", name="fk_x")))': (
        "rows of turns can't be deleted because of fk_x"
    ),
    REFERENCE.format("RESTRICT"): "rows of turns can't be deleted because of fk_x",
}


@only_sqlite
@pytest.mark.parametrize("change", WRONG)
def test_a_statement_that_is_not_true_is_explained(url, tmp_path, change):
    statement = change
    if change.startswith("batch."):
        statement = f'with op.batch_alter_table("turns") as batch: {change}'
    more = write_next_migration(tmp_path / "more", [statement], oldest=HEAD)
    wrong = list(wrong_statements(url, more))
    assert WRONG[change] in "\n".join(wrong)
    assert f"set oldest_compatible to {NEXT}" in wrong[0]


@only_sqlite
@pytest.mark.parametrize("deletion", sorted(HARMLESS_DELETIONS))
def test_a_new_table_may_refer_to_rows_that_can_be_deleted(url, tmp_path, deletion):
    more = write_next_migration(tmp_path / "more", [REFERENCE.format(deletion)], oldest=HEAD)
    assert list(wrong_statements(url, more)) == []


def test_a_migration_may_remove_something_if_it_states_that(url, tmp_path):
    more = write_next_migration(tmp_path / "more", CONTRACTION, oldest=NEXT)
    assert list(wrong_statements(url, more)) == []


@pytest.fixture
def newer(url, tmp_path):
    """A factory of a ledger that the next version has migrated, in these statements."""

    def create(statements, oldest):
        open_database(tmp_path, url).close()
        more = write_next_migration(tmp_path / "more", statements, oldest=oldest)
        migrate_url(url, NEXT, more=more)
        return url

    return create


def revision_in(url):
    engine = create_engine(url)
    with engine.connect() as connection:
        row = connection.execute(text("SELECT version_num, oldest FROM alembic_version")).one()
    engine.dispose()
    return tuple(row)


def test_a_new_ledger_records_the_oldest_version_that_works_with_it(url, tmp_path):
    open_database(tmp_path, url).close()
    assert revision_in(url) == (HEAD, statements_of()[HEAD])
    migrate_url(url, "0018", down=True)
    open_database(tmp_path, url).close()
    assert revision_in(url) == (HEAD, statements_of()[HEAD])


def test_this_version_works_with_a_ledger_to_which_a_newer_one_has_added_something(
    newer, tmp_path, caplog
):
    url = newer(EXPANSION, HEAD)
    caplog.set_level(logging.INFO, "footnote")
    ledger = open_database(tmp_path, url)
    turn = Conversations(ledger).start_first_turn(LOCAL_USER, "Leave", "How many days?")
    assert Conversations(ledger).get(LOCAL_USER, turn.conversation_id).title == "Leave"
    ledger.close()
    check_ledger(tmp_path, url)
    assert revision_in(url) == (NEXT, HEAD), "not migrated"
    assert "ledger of a newer version" in caplog.text


def test_this_version_refuses_a_ledger_from_which_a_newer_one_has_removed_something(
    newer, tmp_path
):
    url = newer(CONTRACTION, NEXT)
    with pytest.raises(StorageError, match=rf"newer Footnote .*{NEXT}.*stop all .*start only"):
        open_database(tmp_path, url)
    assert revision_in(url) == (NEXT, NEXT)


def test_the_ledger_of_a_newer_version_is_not_moved_because_a_part_would_be_missing(
    newer, tmp_path
):
    url, new = newer(EXPANSION, HEAD), tmp_path / "moved.db"
    moving = LedgerMove(tmp_path, "a" * 32, url, f"sqlite:///{new}")
    with pytest.raises(StorageError, match="start only the newer version"):
        moving.prepare()
    moving.close()
    assert not new.exists()
