import gc
import json
import threading
import weakref

import anyio
import pytest
from fastapi.testclient import TestClient
from mcp import Client

import bootstrap
from api.application import make_app
from api.mcp.mcp_server import make_mcp_server
from bootstrap import current_settings
from commands.server_commands import worker
from domain import LOCAL_USER, Action, Principal, Role
from domain.errors import (
    ConfigError,
    ConflictError,
    ForbiddenError,
    InputError,
    ModelError,
    ModelUnavailableError,
    StorageError,
)
from domain.setting_values import CHANGEABLE, Origin, variable_of
from services.migration.ledger_migration import LedgerMigration
from services.settings_service import StoredChange
from settings import Settings
from storage.ledger.database import open_database
from tests.api.conftest import bearer
from tests.fakes.audit import audit_of
from tests.fakes.openai import MODEL, Fault, Text

KEY = "sk-very-secret"


@pytest.fixture
def data_dir(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def settings(data_dir):
    return bootstrap.build_services().settings


def stored(data_dir):
    return json.loads((data_dir / "settings.json").read_text())


def origin(settings, name):
    return settings.values(LOCAL_USER)[name].origin


def test_after_the_library_was_moved_nothing_is_stored(settings, data_dir, tmp_path):
    change = settings.change(LOCAL_USER, {"language": "ko"})
    before = stored(data_dir)
    LedgerMigration(data_dir, None, f"sqlite:///{tmp_path / 'elsewhere.db'}").run(LOCAL_USER)
    with pytest.raises(StorageError, match="The library was moved"):
        settings.change(LOCAL_USER, {"language": "ja"})
    with pytest.raises(StorageError, match="The library was moved"):
        settings.undo(LOCAL_USER, change)
    assert stored(data_dir) == before


def test_a_change_is_recorded_once(settings, data_dir):
    settings.change(LOCAL_USER, {"language": "ko"})
    events = audit_of(open_database(data_dir)).list(LOCAL_USER)
    assert [one.action for one in events] == [Action.SETTINGS_CHANGED]


def test_each_changeable_setting_exists(settings):
    assert set(CHANGEABLE) <= set(Settings.model_fields)
    assert set(settings.values(LOCAL_USER)) == set(CHANGEABLE)
    assert origin(settings, "chat_model") is Origin.DEFAULT


def test_a_change_is_used_by_the_next_services(settings):
    settings.change(LOCAL_USER, {"chat_model": "qwen3", "openai_api_key": KEY})
    loaded = current_settings()
    assert loaded.chat_model == "qwen3"
    assert loaded.openai_api_key.get_secret_value() == KEY
    assert origin(settings, "chat_model") is Origin.STORED


def test_a_secret_is_neither_shown_nor_stored_in_plain_text(settings, data_dir):
    before = settings.change(LOCAL_USER, {"openai_api_key": KEY})
    assert settings.values(LOCAL_USER)["openai_api_key"].value is True
    again = settings.change(LOCAL_USER, {"openai_api_key": "sk-other"})
    assert KEY not in f"{before}{again}{settings.values(LOCAL_USER)}"
    settings.undo(LOCAL_USER, again)
    assert current_settings().openai_api_key.get_secret_value() == KEY
    for path in data_dir.rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


def test_the_environment_takes_precedence(settings, monkeypatch):
    settings.change(LOCAL_USER, {"chat_model": "stored", "language": "ko"})
    monkeypatch.setenv("FOOTNOTE_CHAT_MODEL", "of-the-environment")
    assert current_settings().chat_model == "of-the-environment"
    assert current_settings().language == "ko"
    value = settings.values(LOCAL_USER)["chat_model"]
    assert (value.value, value.is_fixed) == ("of-the-environment", True)
    with pytest.raises(InputError, match="FOOTNOTE_CHAT_MODEL"):
        settings.change(LOCAL_USER, {"chat_model": "other"})


def test_the_env_file_counts_as_the_environment(settings, tmp_path):
    (tmp_path / ".env").write_text("OPENAI_BASE_URL=http://localhost:1/v1\n")
    assert origin(settings, "openai_base_url") is Origin.ENVIRONMENT


def test_if_one_value_is_invalid_nothing_is_stored(settings, data_dir):
    changes = {"language": "ko", "ocr_languages": "no spaces allowed"}
    with pytest.raises(ConfigError, match="FOOTNOTE_OCR_LANGUAGES"):
        settings.change(LOCAL_USER, changes)
    assert not (data_dir / "settings.json").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"openai_base_url": "localhost:11434"}, "OPENAI_BASE_URL"),
        ({"embedding_model": "no-such-model"}, "FOOTNOTE_EMBEDDING_MODEL"),
        ({"embedding_provider": "openai"}, "FOOTNOTE_EMBEDDING_MODEL"),
        ({"deleted_retention_days": 0}, "FOOTNOTE_DELETED_RETENTION_DAYS"),
    ],
)
def test_values_that_would_only_fail_later_are_rejected(settings, changes, message):
    with pytest.raises(ConfigError, match=message):
        settings.change(LOCAL_USER, changes)


def test_other_settings_cannot_be_changed(settings):
    with pytest.raises(InputError, match="allowed_hosts"):
        settings.change(LOCAL_USER, {"allowed_hosts": "*"})


def test_a_setting_is_reset_and_restored(settings, data_dir):
    settings.change(LOCAL_USER, {"language": "ko"})
    before = settings.change(LOCAL_USER, {"language": None})
    assert stored(data_dir) == {}
    settings.undo(LOCAL_USER, before)
    assert current_settings().language == "ko"


def test_an_undo_does_not_replace_a_later_change(settings, data_dir):
    change = settings.change(LOCAL_USER, {"chat_model": "a"})
    later = settings.change(LOCAL_USER, {"chat_model": "b"})
    with pytest.raises(ConflictError, match="changed again"):
        settings.undo(LOCAL_USER, change)
    assert stored(data_dir) == {"chat_model": "b"}
    settings.undo(LOCAL_USER, later)
    settings.undo(LOCAL_USER, change)
    assert stored(data_dir) == {}


def test_an_undo_does_not_send_a_later_key_to_the_earlier_server(settings, data_dir):
    settings.change(LOCAL_USER, {"openai_base_url": "http://localhost:1/v1"})
    change = settings.change(LOCAL_USER, {"openai_base_url": "http://localhost:2/v1"})
    settings.change(LOCAL_USER, {"openai_api_key": KEY})
    before = stored(data_dir)
    with pytest.raises(ConflictError, match="changed again"):
        settings.undo(LOCAL_USER, change)
    assert stored(data_dir) == before


def test_an_undo_does_not_restore_a_key_for_another_server(settings, data_dir):
    first = {"openai_base_url": "http://localhost:1/v1", "openai_api_key": KEY}
    settings.change(LOCAL_USER, first)
    change = settings.change(LOCAL_USER, {"openai_api_key": None})
    later = settings.change(LOCAL_USER, {"openai_base_url": "http://localhost:2/v1"})
    with pytest.raises(ConflictError, match="changed again"):
        settings.undo(LOCAL_USER, change)
    assert "openai_api_key" not in stored(data_dir)
    settings.undo(LOCAL_USER, later)
    settings.undo(LOCAL_USER, change)
    assert current_settings().openai_api_key.get_secret_value() == KEY


def test_an_undo_restores_only_valid_values(settings, data_dir, monkeypatch):
    (data_dir / "settings.json").write_text('{"language": "xx"}')
    change = settings.change(LOCAL_USER, {"language": "ko"})
    with pytest.raises(ConfigError, match="FOOTNOTE_LANGUAGE"):
        settings.undo(LOCAL_USER, change)
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", "ja")
    with pytest.raises(InputError, match="FOOTNOTE_LANGUAGE"):
        settings.undo(LOCAL_USER, change)
    assert stored(data_dir) == {"language": "ko"}


def test_concurrent_changes_are_checked_one_after_the_other(settings, data_dir, monkeypatch):
    other = bootstrap.build_services().settings
    values, threads = settings._values, []
    check = values.check

    def check_slowly(after):
        change = {"embedding_provider": "openai"}  # needs the model that is reset meanwhile
        threads.append(threading.Thread(target=rejected, args=(other, change)))
        threads[0].start()
        threads[0].join(0.2)
        check(after)

    settings.change(LOCAL_USER, {"embedding_model": "multilingual-e5-small"})
    monkeypatch.setattr(values, "check", check_slowly)
    settings.change(LOCAL_USER, {"embedding_model": None})
    threads[0].join(20)
    assert stored(data_dir) == {}


def rejected(settings, changes):
    with pytest.raises(ConfigError):
        settings.change(LOCAL_USER, changes)


def test_an_invalid_entry_does_not_prevent_the_start(settings, data_dir):
    entries = {"language": "xx", "chat_model": "qwen3", "allowed_hosts": "*"}
    (data_dir / "settings.json").write_text(json.dumps(entries))
    loaded = current_settings()
    assert (loaded.language, loaded.chat_model, loaded.allowed_hosts) == ("auto", "qwen3", "")
    problems = settings.problems(LOCAL_USER)
    assert any("allowed_hosts" in one and "settings.json" in one for one in problems)
    assert any("FOOTNOTE_LANGUAGE" in one for one in problems)
    settings.change(LOCAL_USER, {"language": "ja"})
    assert stored(data_dir) == entries | {"language": "ja"}


@pytest.mark.parametrize("entry", ["{", '{"openai_base_url": "http://a?@b", "chat_model": "m"}'])
def test_a_setting_that_needs_an_unusable_entry_does_not_prevent_the_start(
    entry, settings, data_dir, model_server, monkeypatch
):
    monkeypatch.setenv("FOOTNOTE_MULTI_QUERY", "2")
    with pytest.raises(ConfigError, match="FOOTNOTE_MULTI_QUERY"):
        bootstrap.build_services()  # nothing is stored, so the environment is wrong
    (data_dir / "settings.json").write_text(entry)
    assert bootstrap.build_services().parts.settings.multi_query == 0
    assert "FOOTNOTE_MULTI_QUERY is ignored" in settings.problems(LOCAL_USER)[-1]
    settings.change(LOCAL_USER, {"openai_base_url": model_server.url, "chat_model": MODEL})
    assert bootstrap.build_services().parts.settings.multi_query == 2
    assert not settings.problems(LOCAL_USER)


def test_ignored_entries_are_logged_without_their_values(settings, data_dir, caplog):
    entries = {"language": "sk-secret", "openai_api_key": ["sk-secret"], "no_such_entry": 1}
    (data_dir / "settings.json").write_text(json.dumps(entries))
    bootstrap.build_services()
    reasons = [one.fields.get("reason", "") for one in caplog.records if hasattr(one, "fields")]
    for name in entries:
        assert sum(name in reason for reason in reasons) == 1
    assert "sk-secret" not in f"{caplog.text}{reasons}"
    assert not any("['sk-secret']" in one for one in settings.problems(LOCAL_USER))


def test_a_damaged_file_does_not_prevent_the_start(settings, data_dir):
    (data_dir / "settings.json").write_text("{")
    assert current_settings().language == "auto"
    assert "settings.json" in settings.problems(LOCAL_USER)[0]
    assert bootstrap.build_services()


def test_only_administrators_see_and_change_settings(settings):
    other = Principal("anna", role=Role.EDITOR)
    for call in (
        lambda: settings.values(other),
        lambda: settings.change(other, {"language": "ko"}),
        lambda: settings.test_chat(other, {}),
        lambda: settings.chat_models(other, {}),
        lambda: settings.problems(other),
        lambda: settings.undo(other, StoredChange({}, {})),
    ):
        with pytest.raises(
            ForbiddenError, match="needs the role admin, and you have the role editor"
        ):
            call()


def test_a_typed_chat_model_is_tested_without_being_stored(settings, model_server, data_dir):
    model_server.api_key = KEY
    model_server.will(Text("Hello!"))
    typed = {"openai_base_url": model_server.url, "openai_api_key": KEY, "chat_model": MODEL}
    test = settings.test_chat(LOCAL_USER, typed)
    assert (test.model, test.reply) == (MODEL, "Hello!")
    assert not (data_dir / "settings.json").exists()


def test_a_wrong_typed_key_is_reported(settings, model_server):
    model_server.api_key = KEY
    typed = {"openai_base_url": model_server.url, "openai_api_key": "x", "chat_model": MODEL}
    with pytest.raises(ModelError, match="key"):
        settings.test_chat(LOCAL_USER, typed)


def test_the_stored_key_is_used_if_none_is_typed(settings, model_server):
    model_server.api_key = KEY
    model_server.will(Text("Hello!"))
    settings.change(LOCAL_USER, {"openai_base_url": model_server.url, "openai_api_key": KEY})
    assert settings.test_chat(LOCAL_USER, {"chat_model": MODEL}).reply == "Hello!"
    assert MODEL in settings.chat_models(LOCAL_USER, {})


def test_a_key_of_the_environment_is_not_sent_to_a_stored_endpoint(
    settings, model_server, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model_server.will(Text("Hello!"))
    typed = {"openai_base_url": model_server.url, "chat_model": MODEL}
    assert settings.test_chat(LOCAL_USER, typed).reply == "Hello!"
    settings.change(LOCAL_USER, {"embedding_base_url": model_server.url})
    parts = bootstrap.build_services().parts
    assert parts.settings.openai_api_key.get_secret_value() == KEY
    assert KEY not in parts.embedding_spec.api_key.get_secret_value()
    settings.change(LOCAL_USER, typed)
    assert KEY not in current_settings().openai_api_key.get_secret_value()
    assert all(KEY not in str(one.headers) for one in model_server.requests)


def test_a_key_and_an_endpoint_of_the_environment_stay_together(settings, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1")
    settings.change(LOCAL_USER, {"chat_model": MODEL})
    assert current_settings().openai_api_key.get_secret_value() == KEY


@pytest.mark.parametrize(
    ("address", "stays"),
    [
        ("http://localhost:1/other", True),
        ("http://localhost:2/v1", False),
        ("https://localhost:1/v1", False),
        (None, False),
    ],
)
def test_a_stored_key_stays_with_its_host(address, stays, settings, data_dir):
    first = {"openai_base_url": "http://localhost:1/v1", "openai_api_key": KEY}
    settings.change(LOCAL_USER, first)
    before = settings.change(LOCAL_USER, {"openai_base_url": address})
    assert ("openai_api_key" in stored(data_dir)) is stays
    settings.undo(LOCAL_USER, before)
    assert current_settings().openai_api_key.get_secret_value() == KEY


def test_a_stored_key_is_not_sent_to_another_typed_host(settings, model_server):
    settings.change(LOCAL_USER, {"openai_api_key": KEY})
    model_server.will(Text("Hello!"))
    typed = {"openai_base_url": model_server.url, "chat_model": MODEL}
    assert settings.test_chat(LOCAL_USER, typed).reply == "Hello!"
    assert settings.chat_models(LOCAL_USER, typed)
    assert all(KEY not in str(one.headers) for one in model_server.requests)


def test_a_stored_chat_key_is_not_sent_to_an_embedding_endpoint_on_another_server(settings):
    chat = {"openai_base_url": "http://localhost:1/v1", "openai_api_key": KEY}
    embedding = {"embedding_provider": "openai", "embedding_model": "e"}
    settings.change(LOCAL_USER, {**chat, **embedding})
    assert embedding_key() == KEY
    settings.change(LOCAL_USER, {"embedding_base_url": "http://localhost:1/embeddings"})
    assert embedding_key() == KEY
    settings.change(LOCAL_USER, {"embedding_base_url": "http://localhost:2/v1"})
    assert embedding_key() == "none"
    assert not settings.values(LOCAL_USER)["embedding_api_key"].value
    settings.change(LOCAL_USER, {"embedding_api_key": "sk-other"})
    assert embedding_key() == "sk-other"


def test_a_stored_chat_key_is_not_sent_to_an_embedding_endpoint_of_the_environment(
    settings, monkeypatch
):
    settings.change(LOCAL_USER, {"openai_api_key": KEY})
    monkeypatch.setenv("FOOTNOTE_EMBEDDING_BASE_URL", "http://localhost:2/v1")
    assert embedding_key() == "none"


def embedding_key():
    return bootstrap.build_services().parts.embedding_spec.api_key.get_secret_value()


HIDDEN_HOSTS = (
    "https://evil.example?@good.example",
    "https://evil.example#@good.example",
    "https://good.example@evil.example",
    "https://good.example/v1?x=1",
    "https://evil.example\\@good.example",
)


@pytest.mark.parametrize("address", HIDDEN_HOSTS)
@pytest.mark.parametrize("name", ["openai_base_url", "embedding_base_url"])
def test_an_address_that_could_hide_its_host_is_rejected(name, address, settings, data_dir):
    for call in (settings.change, settings.test_chat, settings.chat_models):
        with pytest.raises(ConfigError, match=f"{variable_of(name)} must not contain"):
            call(LOCAL_USER, {name: address})
    assert not (data_dir / "settings.json").exists()


def test_a_stored_address_that_could_hide_its_host_is_ignored_with_its_key(settings, data_dir):
    settings.change(LOCAL_USER, {"openai_base_url": "http://localhost:1/v1", "openai_api_key": KEY})
    entries = stored(data_dir) | {"openai_base_url": HIDDEN_HOSTS[0]}
    (data_dir / "settings.json").write_text(json.dumps(entries))
    loaded = current_settings()
    assert (loaded.openai_base_url, loaded.openai_api_key) == (None, None)
    assert "OPENAI_BASE_URL" in settings.problems(LOCAL_USER)[0]


def test_an_address_of_the_environment_may_contain_a_query(settings, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1?api-version=1")
    settings.change(LOCAL_USER, {"chat_model": MODEL})
    assert current_settings().openai_base_url.endswith("api-version=1")


def test_the_only_model_of_an_endpoint_is_tested(settings, model_server):
    model_server.models = [MODEL]
    model_server.will(Text("Hello!"))
    assert settings.test_chat(LOCAL_USER, {"openai_base_url": model_server.url}).model == MODEL


def test_a_test_without_a_model_asks_for_one(settings):
    with pytest.raises(InputError, match="name of the model"):
        settings.test_chat(LOCAL_USER, {})


def test_an_empty_reply_is_reported(settings, model_server):
    model_server.will(Text(" "))
    with pytest.raises(ModelError, match="without text"):
        settings.test_chat(LOCAL_USER, {"openai_base_url": model_server.url, "chat_model": MODEL})


def test_an_endpoint_without_a_list_is_reported(settings, model_server):
    model_server.listing.append(Fault(404))
    with pytest.raises(ModelUnavailableError, match="does not list its models.*404"):
        settings.chat_models(LOCAL_USER, {"openai_base_url": model_server.url})


def test_the_latest_services_follow_a_change(settings):
    first = bootstrap.build_services()
    latest = bootstrap.following(first)
    assert latest.get() is first
    settings.change(LOCAL_USER, {"deleted_retention_days": 7})
    second = latest.get()
    assert first.is_outdated()
    assert second is not first
    assert second.conversations.deleted_retention.days == 7
    assert latest.get() is second


def test_a_change_reloads_the_embedding_model_only_if_it_concerns_it(settings):
    latest = bootstrap.following(bootstrap.build_services())

    def model():
        parts = latest.get().parts
        return parts.embeddings_for(parts.configured.embedding)

    first = model()
    settings.change(LOCAL_USER, {"language": "ko"})
    assert model() is first
    settings.change(LOCAL_USER, {"embedding_model": "all-MiniLM-L6-v2"})
    assert model() is not first


def test_if_services_cannot_be_built_the_earlier_ones_stay(settings, monkeypatch):
    first = bootstrap.build_services()
    latest = bootstrap.following(first)
    settings.change(LOCAL_USER, {"language": "ko"})
    monkeypatch.setenv("FOOTNOTE_TOP_K", "0")
    assert latest.get() is first


def test_a_change_while_settings_are_read_makes_the_services_outdated(settings, monkeypatch):
    load, changes = bootstrap.stored_settings.load_settings, [{"language": "ko"}]

    def load_before_a_change(*args, **overrides):
        loaded = load(*args, **overrides)
        if changes:
            settings.change(LOCAL_USER, changes.pop())
        return loaded

    monkeypatch.setattr("bootstrap.stored_settings.load_settings", load_before_a_change)
    services = bootstrap.build_services()
    assert services.parts.settings.language == "auto"
    assert services.is_outdated()
    assert bootstrap.following(services).get().parts.settings.language == "ko"


def test_a_worker_ends_after_a_change(settings):
    services = bootstrap.build_services()
    stop = threading.Event()
    thread = threading.Thread(target=services.worker.run, args=(stop, None, services.is_outdated))
    thread.start()
    settings.change(LOCAL_USER, {"language": "ko"})
    thread.join(20)
    assert not thread.is_alive()
    assert not stop.is_set()


def test_the_worker_process_continues_with_new_services(settings, data_dir, monkeypatch):
    languages, stops = [], []

    def run(self, stop, _leave, is_outdated):
        assert not is_outdated()
        languages.append(current_settings().ocr_languages)
        if len(languages) == 1:
            settings.change(LOCAL_USER, {"ocr_languages": "eng"})
            assert is_outdated()
        else:
            stop.set()
        stops.append(stop)

    monkeypatch.setattr("services.import_worker.Worker.run", run)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    worker(supervised=True, data_dir=data_dir)
    assert languages == ["eng+kor+jpn", "eng"]
    assert stops[0] is stops[1]


def test_the_api_uses_a_change_at_the_next_request(settings, model_server):
    services = bootstrap.build_services()
    client = TestClient(make_app(services), base_url="http://localhost", headers=bearer(services))
    before = client.get("/v1/models").json()["data"]
    changes = {"openai_base_url": model_server.url, "chat_model": MODEL}
    settings.change(LOCAL_USER, changes)
    after = client.get("/v1/models").json()["data"]
    assert len(after) == len(before) + 1  # the agent needs a chat model


def test_the_api_releases_the_services_after_a_change(settings):
    services = bootstrap.build_services()
    client = TestClient(make_app(services), base_url="http://localhost", headers=bearer(services))
    first = weakref.ref(services)
    del services
    assert client.get("/v1/models").is_success
    assert first()
    settings.change(LOCAL_USER, {"language": "ko"})
    assert client.get("/v1/models").is_success
    gc.collect()
    assert first() is None


def test_the_mcp_server_rebuilds_services_outside_the_event_loop(settings, monkeypatch):
    threads = []
    build = bootstrap.build_services

    def recorded(**options):
        threads.append(threading.current_thread())
        return build(**options)

    monkeypatch.setattr("bootstrap.build_services", recorded)
    server = make_mcp_server(build(), LOCAL_USER)
    settings.change(LOCAL_USER, {"language": "ko"})

    async def list_tools():
        async with Client(server) as client:
            await client.list_tools()

    anyio.run(list_tools)
    assert len(threads) == 1
    assert threads[0] is not threading.current_thread()


def chat_error(settings, url):
    with pytest.raises(ModelError) as raised:
        settings.test_chat(LOCAL_USER, {"openai_base_url": url, "chat_model": MODEL})
    return str(raised.value)


def test_a_stored_endpoint_is_not_at_an_address_of_a_cloud(settings):
    assert "FOOTNOTE_ALLOWED_PRIVATE_HOSTS" in chat_error(settings, "http://169.254.169.254/v1")


@pytest.mark.parametrize(
    ("hosts", "bound", "private_hosts", "is_allowed"),
    [
        ("", None, "", True),
        ("", "localhost", "", True),
        ("", "127.0.0.2", "", True),
        ("", "::1", "", True),
        ("docs.example.com", "localhost", "", False),
        ("", "192.168.1.20", "", False),
        ("", "0.0.0.0", "", False),
        ("", "::", "", False),
        ("", "", "", False),
        ("docs.example.com", "0.0.0.0", "127.0.0.1", True),
    ],
)
def test_a_stored_endpoint_on_this_machine_is_allowed_while_only_this_machine_opens_the_pages(
    settings, model_server, monkeypatch, hosts, bound, private_hosts, is_allowed
):
    if bound is not None:
        monkeypatch.setenv("STREAMLIT_SERVER_ADDRESS", bound)
    monkeypatch.setenv("FOOTNOTE_ALLOWED_HOSTS", hosts)
    monkeypatch.setenv("FOOTNOTE_ALLOWED_PRIVATE_HOSTS", private_hosts)
    if is_allowed:
        model_server.will(Text("Hello."))
        typed = {"openai_base_url": model_server.url, "chat_model": MODEL}
        assert settings.test_chat(LOCAL_USER, typed).reply == "Hello."
        return
    assert "FOOTNOTE_ALLOWED_PRIVATE_HOSTS" in chat_error(settings, model_server.url)
    assert model_server.requests == []


def test_an_endpoint_of_the_environment_may_be_anywhere(settings, model_server, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_ALLOWED_HOSTS", "docs.example.com")
    monkeypatch.setenv("FOOTNOTE_ALLOWED_PRIVATE_HOSTS", "")
    monkeypatch.setenv("OPENAI_BASE_URL", model_server.url)
    model_server.will(Text("Hello."))
    assert settings.test_chat(LOCAL_USER, {"chat_model": MODEL}).reply == "Hello."
