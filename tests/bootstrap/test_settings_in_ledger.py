"""Settings that processes with separate data folders store in one ledger on PostgreSQL."""

import json

import pytest

import bootstrap
from bootstrap import current_settings, stored_settings, streamlit_secrets
from domain import LOCAL_USER
from domain.errors import ConfigError, StorageUnavailableError
from domain.setting_values import Origin
from services.migration.ledger_migration import LedgerMigration
from storage import settings_table
from storage.ledger.secret_store import new_key
from tests.postgresql.server import missing_programs, server

pytestmark = pytest.mark.postgresql
SECRET = "sk-very-secret"


@pytest.fixture
def database_url(postgresql_server, tmp_path, monkeypatch):
    """The URL of a new database, which the environment sets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings_table, "_QUERY_INTERVAL_S", 0)
    postgresql_server.execute("CREATE DATABASE machines")
    url = postgresql_server.url("machines")
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", url)
    monkeypatch.setenv("FOOTNOTE_ENCRYPTION_KEY", new_key())
    yield url
    stored_settings.settings_table.cache_clear()
    postgresql_server.execute("DROP DATABASE machines WITH (FORCE)")


@pytest.fixture
def on_machine(tmp_path, monkeypatch):
    """From now on, this process has the data folder of this machine."""

    def on_machine(name):
        monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / name))
        return tmp_path / name

    return on_machine


def test_a_change_on_one_machine_is_used_on_another(database_url, on_machine):
    on_machine("a")
    latest = bootstrap.following(bootstrap.build_services())
    first = latest.get()
    folder = on_machine("b")
    settings = bootstrap.build_services().settings
    change = settings.change(LOCAL_USER, {"openai_api_key": SECRET, "language": "ko"})
    assert not (folder / "settings.json").exists()
    assert first.is_outdated()
    on_machine("a")
    loaded = latest.get().parts.settings
    assert loaded.language == "ko"
    assert loaded.openai_api_key.get_secret_value() == SECRET
    assert latest.get().settings.values(LOCAL_USER)["language"].origin is Origin.STORED
    latest.get().settings.undo(LOCAL_USER, change)
    on_machine("b")
    assert current_settings().language == "auto"
    assert current_settings().openai_api_key is None


def test_services_of_explicit_settings_stay_on_their_database(
    database_url, on_machine, monkeypatch
):
    on_machine("a")
    settings = current_settings()
    monkeypatch.delenv("FOOTNOTE_DATABASE_URL")
    latest = bootstrap.following(bootstrap.build_services(settings))
    latest.get().settings.change(LOCAL_USER, {"language": "ko"})
    changed = latest.get().parts.settings
    assert changed.language == "ko"
    assert changed.database_url == database_url


def test_the_file_is_taken_over_once(database_url, on_machine):
    folder = on_machine("a")
    folder.mkdir()
    (folder / "settings.json").write_text(json.dumps({"language": "ko", "later": 1}))
    settings = bootstrap.build_services().settings
    assert current_settings().language == "ko"
    settings.change(LOCAL_USER, {"language": None})
    stored_settings.settings_table.cache_clear()  # as in a new process
    assert current_settings().language == "auto"
    on_machine("b")
    assert not bootstrap.build_services().settings.problems(LOCAL_USER)


def test_a_damaged_file_is_reported_and_kept(database_url, on_machine, caplog):
    folder = on_machine("a")
    folder.mkdir()
    (folder / "settings.json").write_text("{")
    assert current_settings().language == "auto"
    assert "stored settings are ignored" in caplog.text
    assert (folder / "settings.json").read_text() == "{"


def test_another_key_is_refused_until_it_replaces_a_lost_one(database_url, on_machine, monkeypatch):
    on_machine("a")
    bootstrap.build_services()
    on_machine("b")
    monkeypatch.setenv("FOOTNOTE_ENCRYPTION_KEY", new_key())
    with pytest.raises(ConfigError, match="is not that of the library") as raised:
        bootstrap.build_services()
    assert "replace-lost" in str(raised.value)
    with pytest.raises(ConfigError, match="is not that of the library"):
        streamlit_secrets(bootstrap.settings_at_start())
    with pytest.raises(ConfigError, match="is not that of the library"):
        bootstrap.require_key_at_start(bootstrap.settings_at_start())
    bootstrap.replace_lost_key(bootstrap.settings_at_start())
    bootstrap.build_services()


def test_a_machine_without_the_key_does_not_replace_it(database_url, on_machine, monkeypatch):
    on_machine("a")
    bootstrap.build_services()
    folder = on_machine("b")
    monkeypatch.delenv("FOOTNOTE_ENCRYPTION_KEY")
    with pytest.raises(ConfigError, match="FOOTNOTE_ENCRYPTION_KEY is not set"):
        bootstrap.replace_lost_key(bootstrap.settings_at_start())
    assert not (folder / "encryption.key").exists()


def test_a_second_machine_without_a_key_is_refused(database_url, on_machine, monkeypatch):
    monkeypatch.delenv("FOOTNOTE_ENCRYPTION_KEY")
    folder = on_machine("a")
    bootstrap.build_services()
    assert (folder / "encryption.key").exists()
    bootstrap.build_services()
    on_machine("b")
    with pytest.raises(ConfigError, match="is not that of the library"):
        bootstrap.build_services()


def test_only_a_library_on_postgresql_has_such_a_key(tmp_path, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path))
    with pytest.raises(ConfigError, match="Only a library on PostgreSQL"):
        bootstrap.replace_lost_key(bootstrap.settings_at_start())


def test_the_settings_move_with_the_ledger(database_url, on_machine, monkeypatch):
    folder = on_machine("a")
    monkeypatch.delenv("FOOTNOTE_DATABASE_URL")
    settings = bootstrap.build_services().settings
    settings.change(LOCAL_USER, {"language": "ko", "openai_api_key": SECRET})

    LedgerMigration(folder, None, database_url).run(LOCAL_USER)
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", database_url)
    on_machine("b")  # which has no file
    settings = bootstrap.build_services().settings
    assert current_settings().openai_api_key.get_secret_value() == SECRET
    settings.change(LOCAL_USER, {"language": None, "chat_model": "qwen3"})

    on_machine("a")
    LedgerMigration(folder, database_url, None).run(LOCAL_USER)
    monkeypatch.delenv("FOOTNOTE_DATABASE_URL")
    assert current_settings().language == "auto"
    assert current_settings().chat_model == "qwen3"
    settings = bootstrap.build_services().settings
    settings.change(LOCAL_USER, {"openai_api_key": None, "chat_model": None})

    LedgerMigration(folder, None, database_url).run(LOCAL_USER)
    monkeypatch.setenv("FOOTNOTE_DATABASE_URL", database_url)
    settings = bootstrap.build_services().settings
    assert {one.origin for one in settings.values(LOCAL_USER).values()} == {Origin.DEFAULT}


def test_a_damaged_file_stops_the_move(database_url, on_machine, monkeypatch):
    folder = on_machine("a")
    monkeypatch.delenv("FOOTNOTE_DATABASE_URL")
    bootstrap.build_services()
    (folder / "settings.json").write_text("{")
    with pytest.raises(ConfigError, match="settings.json is damaged"):
        LedgerMigration(folder, None, database_url).run(LOCAL_USER)
    (folder / "settings.json").write_text('{"language": "ko"}')
    LedgerMigration(folder, None, database_url).run(LOCAL_USER)


def test_while_the_database_is_down_the_settings_are_not_lost(tmp_path, monkeypatch):
    if problem := missing_programs():
        pytest.skip(problem)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(settings_table, "_QUERY_INTERVAL_S", 0)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    with server() as running:
        running.execute("CREATE DATABASE machines")
        monkeypatch.setenv("FOOTNOTE_DATABASE_URL", running.url("machines"))
        services = bootstrap.build_services()
        services.settings.change(LOCAL_USER, {"language": "ko"})
        latest = bootstrap.following(bootstrap.build_services())
        first = latest.get()
        running.stop("immediate")
        assert latest.get() is first
        assert not first.is_outdated()
        assert current_settings().language == "ko"
        with pytest.raises(StorageUnavailableError):
            services.settings.change(LOCAL_USER, {"language": "ja"})
        stored_settings.settings_table.cache_clear()  # as in a new process
        with pytest.raises(StorageUnavailableError, match="check that the PostgreSQL server"):
            current_settings()
        with pytest.raises(StorageUnavailableError):
            bootstrap.build_services()
        assert bootstrap.settings_at_start().data_dir == tmp_path / "data"
        bootstrap.require_key_at_start(bootstrap.settings_at_start())
        running.start()
        running.wait()
        assert current_settings().language == "ko"
        assert latest.get() is first or latest.get().parts.settings.language == "ko"
        running.stop()
