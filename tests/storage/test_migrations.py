from dataclasses import replace

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect

from domain import Principal
from domain.errors import NotFoundError
from storage.ledger import database, migrations
from storage.ledger.conversation_list_store import ConversationList
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import open_database
from storage.ledger.document_store import Documents
from storage.ledger.feedback_store import Labels
from storage.ledger.ledger_tables import Base
from storage.ledger.migrations.run import is_known, newest
from storage.ledger.people_store import People
from storage.ledger.place_store import Places
from tests.fakes.library import DictLoader, Library

ANNA = Principal("anna")


def migrate(data_dir, revision, *, down=False):
    """Migrate the ledger of a folder to a revision."""
    migrate_url(f"sqlite:///{data_dir / 'footnote.db'}", revision, down=down)


def migrate_url(url, revision, *, down=False, more=None):
    """Migrate a ledger to a revision, which may be in a folder with `more` migrations."""
    config = scripts_with(more)
    engine = create_engine(url)
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        (command.downgrade if down else command.upgrade)(config, revision)
    engine.dispose()


def scripts_with(more=None):
    """The configuration of the migrations, with those in another folder, if there is one."""
    config = Config()
    [folder] = migrations.__path__
    config.set_main_option("script_location", folder)
    config.set_main_option("path_separator", "newline")
    folders = [f"{folder}/versions", *([str(more)] if more else [])]
    config.set_main_option("version_locations", "\n".join(folders))
    return config


def differences(connection):
    """What a migration would have to change."""

    def is_of_dialect(item, _name, kind, is_stored, _other):
        condition = item._ddl_if if kind == "index" and not is_stored else None
        return condition is None or condition.dialect == connection.dialect.name

    context = MigrationContext.configure(connection, opts={"include_object": is_of_dialect})
    return compare_metadata(context, Base.metadata)


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


def test_migrating_an_empty_ledger_creates_the_tables_of_the_code(tmp_path):
    open_database(tmp_path / "migrated").close()
    migrated = create_engine(f"sqlite:///{tmp_path / 'migrated' / 'footnote.db'}")
    created = create_engine("sqlite://")
    Base.metadata.create_all(created)

    assert columns_of(migrated) == columns_of(created)
    with migrated.connect() as connection:
        assert differences(connection) == []


def test_the_newest_migration_is_the_expected_version():
    assert newest() == database.HEAD
    assert is_known(database.HEAD)
    assert not is_known("9999")


def test_upgrading_a_ledger_without_labels_keeps_its_data(tmp_path):
    migrate(tmp_path, "0001")
    with create_engine(f"sqlite:///{tmp_path / 'footnote.db'}").begin() as connection:
        now = "2026-11-20 09:00:00.000000"
        connection.exec_driver_sql(
            "INSERT INTO conversations VALUES ('c1', 'anna', 'Leave', ?, ?)", (now, now)
        )
    ledger = open_database(tmp_path)
    assert Conversations(ledger).get(ANNA, "c1").title == "Leave"
    assert list(Labels(ledger).list(ANNA)) == []


def test_words_are_found_in_conversations_of_earlier_versions(tmp_path):
    ledger = open_database(tmp_path)
    turn = Conversations(ledger).start_first_turn(ANNA, "Leave", "How MANY days?")
    Conversations(ledger).finish_turn(ANNA, replace(turn, answer="１５ days."))
    ledger.close()
    migrate(tmp_path, "0009", down=True)
    conversations = ConversationList(open_database(tmp_path))
    assert conversations.count(ANNA, ["leave", "many", "15"]) == 1


@pytest.mark.parametrize("revision", ["0001", "base"])
def test_migrations_can_be_reverted_and_repeated(tmp_path, revision):
    open_database(tmp_path).close()
    migrate(tmp_path, revision, down=True)
    assert list(Labels(open_database(tmp_path)).list(ANNA)) == []


def test_documents_survive_a_downgrade_and_upgrade_of_catalogs(tmp_path):
    library = Library(tmp_path)
    library.load(DictLoader({"leave.md": "# Leave\n\n25 days."}))
    library.database.close()
    migrate(tmp_path, "0006", down=True)
    ledger = open_database(tmp_path)
    assert [document.key for document in Documents(ledger).list()] == ["leave.md"]
    assert Places(ledger).list("any") == ((), 0)

    People(ledger).change("anna", "kim", lambda person: replace(person, preferences={"food": 4.0}))
    ledger.close()
    migrate(tmp_path, "0006", down=True)
    migrated = open_database(tmp_path)
    assert [document.key for document in Documents(migrated).list()] == ["leave.md"]
    with pytest.raises(NotFoundError):
        People(migrated).get("anna", "kim")
