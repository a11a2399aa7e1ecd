from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect

from storage import database
from storage.database import open_database
from storage.migrations.run import is_known, newest
from storage.tables import Base


def columns_of(engine):
    inspector = inspect(engine)
    return {
        table: (
            {c["name"]: (str(c["type"]), c["nullable"]) for c in inspector.get_columns(table)},
            inspector.get_pk_constraint(table)["constrained_columns"],
            sorted(
                (key["constrained_columns"], key["referred_table"], key["options"])
                for key in inspector.get_foreign_keys(table)
            ),
            sorted(sorted(u["column_names"]) for u in inspector.get_unique_constraints(table)),
            sorted((i["name"], i["column_names"]) for i in inspector.get_indexes(table)),
        )
        for table in inspector.get_table_names()
        if table != "alembic_version"
    }


def test_migrating_a_blank_folder_gives_the_tables_of_the_code(tmp_path):
    open_database(tmp_path / "migrated").close()
    migrated = create_engine(f"sqlite:///{tmp_path / 'migrated' / 'footnote.db'}")
    created = create_engine("sqlite://")
    Base.metadata.create_all(created)

    assert columns_of(migrated) == columns_of(created)
    with migrated.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []


def test_the_newest_migration_is_the_one_that_is_compared_at_each_start():
    assert newest() == database.HEAD
    assert is_known(database.HEAD)
    assert not is_known("9999")
