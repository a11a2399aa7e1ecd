"""Invalid settings are reported with a remedy and never reveal a secret."""

import json

import pytest

import bootstrap
from domain import LOCAL_USER, CitationState, TurnState
from domain.errors import ConfigError, ModelError, ModelUnavailableError
from settings import load_settings
from tests.conversations import conversations_of
from tests.fakes.command_line import CommandLine
from tests.fakes.openai import MODEL, Text

pytestmark = pytest.mark.slow

KEY = "sk-settings-0123456789abcdef"
QUESTION = "How many days of annual leave do new employees get?"
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


@pytest.fixture
def footnote(tmp_path, model_cache):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cache").symlink_to(model_cache)
    return CommandLine(tmp_path / "data", tmp_path)


def with_handbook(services, handbook):
    services.directories.import_directory(LOCAL_USER, handbook)
    return services


def stored_turn(services):
    [conversation] = conversations_of(services)
    [turn] = services.turns.list(LOCAL_USER, conversation.id)
    return turn


def test_a_server_that_needs_no_key_works_without_one(build_services, handbook, model_server):
    model_server.will(Text(GOOD))
    turn = with_handbook(build_services(chat=True), handbook).chat.ask(LOCAL_USER, QUESTION)
    assert turn.citations[0].state is CitationState.VERIFIED


def test_a_server_that_needs_a_key_names_the_missing_setting(
    build_services, handbook, model_server
):
    model_server.api_key = KEY
    services = with_handbook(build_services(chat=True), handbook)
    with pytest.raises(ModelError, match="OPENAI_API_KEY is not set") as caught:
        services.chat.ask(LOCAL_USER, QUESTION)
    turn = stored_turn(services)
    assert (turn.question, turn.state, turn.error) == (
        QUESTION,
        TurnState.FAILED,
        str(caught.value),
    )
    model_server.will(Text(GOOD))
    keyed = build_services(chat=True, openai_api_key=KEY)
    assert keyed.chat.ask(LOCAL_USER, QUESTION).state is TurnState.COMPLETE


def test_a_refused_connection_keeps_the_question_and_the_library(build_services, handbook):
    services = with_handbook(
        build_services(openai_base_url="http://127.0.0.1:9/v1", chat_model=MODEL), handbook
    )
    with pytest.raises(ModelUnavailableError, match=r"127\.0\.0\.1:9 .*OPENAI_BASE_URL"):
        services.chat.ask(LOCAL_USER, QUESTION)
    turn = stored_turn(services)
    assert (turn.question, turn.state) == (QUESTION, TurnState.FAILED)
    assert turn.sources
    without = build_services()
    assert without.chat.ask(LOCAL_USER, QUESTION, turn.conversation_id).citations
    assert without.maintenance.check(LOCAL_USER).agrees


@pytest.mark.parametrize(
    "url",
    [
        "localhost:11434",
        "http://",
        "http://[::1",
        "http://localhost:port/v1",
        "http://localhost:99999/v1",
        "ftp://localhost/v1",
        "http://local host/v1",
        "http://localhost\n/v1",
        "http://models..example/v1",
        f"http://{'x' * 64}/v1",
        "http://999.999.1.1/v1",
        "http://☃.example/v1",
        KEY,
    ],
)
@pytest.mark.parametrize("setting", ["openai_base_url", "embedding_base_url"])
@pytest.mark.parametrize("model", [MODEL, ""])
def test_an_invalid_url_is_reported_by_its_setting_without_the_value(
    build_services, setting, url, model
):
    values = {"chat_model": model, "embedding_provider": "openai", setting: url}
    with pytest.raises(ConfigError, match="BASE_URL is not a valid address") as caught:
        build_services(**values).chat.ask(LOCAL_USER, QUESTION)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} ", f" {KEY}", f"{KEY}키", f"{KEY}\r\nX: y"])
def test_an_invalid_key_is_reported_without_the_value(build_services, model_server, key):
    with pytest.raises(ConfigError, match="OPENAI_API_KEY is not a valid key") as caught:
        build_services(chat=True, openai_api_key=key).chat.ask(LOCAL_USER, QUESTION)
    assert KEY not in str(caught.value)
    assert model_server.requests == []


def test_a_settings_file_that_is_not_utf_8_is_reported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text(f"OPENAI_API_KEY={KEY}\n", encoding="utf-16")
    with pytest.raises(ConfigError, match=r"\.env is not in UTF-8") as caught:
        load_settings()
    assert KEY not in str(caught.value)


def test_a_settings_file_with_a_byte_order_mark_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".env").write_text("FOOTNOTE_TOP_K=7\r\n", encoding="utf-8-sig")
    assert load_settings().top_k == 7


def test_the_representation_of_settings_shows_no_key():
    settings = load_settings(openai_api_key=KEY, embedding_api_key=KEY)
    assert KEY not in repr(settings) + str(settings) + settings.model_dump_json()
    with pytest.raises(ConfigError) as caught:
        load_settings(openai_api_key=KEY, top_k=0)
    assert KEY not in str(caught.value)


def test_a_console_with_another_code_page_prints_what_it_can(footnote, handbook):
    services = bootstrap.build_services(load_settings(data_dir=footnote.data_dir))
    with_handbook(services, handbook)
    result = footnote.run("search", "연차", "--mode", "bm25", "--json", PYTHONIOENCODING="cp1252")
    [hit] = json.loads(result.stdout)
    assert hit["title"] == "휴가 규정"
    output = footnote.run("search", "연차", "--mode", "bm25", PYTHONIOENCODING="cp1252").stdout
    assert "handbook" in output
