"""The settings page over real services and a chat model on loopback."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from storage.safe_writes import writer_lock
from tests.fakes.openai import MODEL, Fault, OpenAIServer, Text
from tests.pages.conftest import APP, page_in_frame, page_text
from tests.pages.events import event_during_progress
from ui.text import words

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from tests.opensearch.cluster import Cluster

KEY = "sk-very-secret"
Open = Callable[[], AppTest]


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_cache: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cache").symlink_to(model_cache)
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def open_page(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens the page, alone, so a link to another page is shown as its text."""
    monkeypatch.setattr(st, "page_link", lambda _page, *, label, **_: st.write(label))
    st.cache_resource.clear()
    yield lambda: page_in_frame("app_settings.py").run()
    st.cache_resource.clear()


def field(page: AppTest, name: str):
    label = words.SETTING_LABELS[name]
    fields = [*page.text_input, *page.selectbox, *page.number_input]
    return next(one for one in fields if one.label.startswith(label))


def press(page: AppTest, label: str, which: int = 0) -> AppTest:
    return [one for one in page.button if one.label == label][which].click().run()


def stored(data_dir: Path) -> dict:
    return json.loads((data_dir / "settings.json").read_text())


def test_the_page_links_to_the_status(open_page: Open) -> None:
    assert words.STATUS_PAGE in page_text(open_page())


def test_a_typed_model_is_tested_before_it_is_saved(
    open_page: Open, data_dir: Path, model_server: OpenAIServer
) -> None:
    model_server.api_key = KEY
    model_server.will(Text("Hello <b>there</b>!"))
    page = open_page()
    field(page, "openai_base_url").set_value(model_server.url)
    field(page, "openai_api_key").set_value(KEY)
    press(page, words.LIST_MODELS)
    field(page, "chat_model").select(MODEL)
    press(page, words.TEST_MODEL)
    assert "Hello &lt;b&gt;there" in page_text(page)
    assert not (data_dir / "settings.json").exists()


def test_the_models_of_an_earlier_endpoint_are_not_offered(
    open_page: Open, model_server: OpenAIServer
) -> None:
    page = open_page()
    field(page, "openai_base_url").set_value(model_server.url)
    press(page, words.LIST_MODELS)
    assert MODEL in field(page, "chat_model").options
    model_server.listing.append(Fault(404))
    press(page, words.LIST_MODELS)
    assert "does not list its models" in page_text(page)
    assert MODEL not in field(page.run(), "chat_model").options
    press(page, words.LIST_MODELS)
    assert MODEL in field(page, "chat_model").options
    field(page, "openai_base_url").set_value("http://localhost:1/v1")
    press(page, words.TEST_MODEL)
    assert MODEL not in field(page, "chat_model").options


def test_an_undo_after_another_change_is_refused(open_page: Open, data_dir: Path) -> None:
    page, other = open_page(), open_page()
    for one, days in ((page, 7), (other, 8)):
        field(one, "deleted_retention_days").set_value(days)
        press(one, words.SAVE_SETTINGS, 4)
    press(page, words.UNDO)
    assert "changed again" in page_text(page)
    assert stored(data_dir) == {"deleted_retention_days": 8}


def test_a_saved_key_is_kept_but_never_shown(
    open_page: Open, data_dir: Path, model_server: OpenAIServer
) -> None:
    page = open_page()
    field(page, "openai_base_url").set_value(model_server.url)
    field(page, "openai_api_key").set_value(KEY)
    press(page, words.SAVE_SETTINGS)
    assert words.SETTINGS_SAVED in page_text(page)
    assert KEY not in (data_dir / "settings.json").read_text()
    key = field(open_page(), "openai_api_key")
    assert (key.value, key.placeholder) == ("", words.KEY_SET)


def test_a_stored_key_is_removed_and_restored(open_page: Open, data_dir: Path) -> None:
    page = open_page()
    field(page, "openai_api_key").set_value(KEY)
    press(page, words.SAVE_SETTINGS)
    before = stored(data_dir)
    page.toggle[0].set_value(True)
    press(page, words.SAVE_SETTINGS)
    assert stored(data_dir) == {}
    press(page, words.UNDO)
    assert words.SETTINGS_UNDONE in page_text(page)
    assert stored(data_dir) == before


def test_a_value_of_the_environment_is_disabled_and_named(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_CHAT_MODEL", "of-the-environment")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    page = open_page()
    model, key = field(page, "chat_model"), field(page, "openai_api_key")
    assert model.disabled
    assert model.value == "of-the-environment"
    assert "set by the environment: FOOTNOTE_CHAT_MODEL" in model.label
    assert key.disabled
    assert KEY not in f"{key.value}{key.placeholder}{page_text(page)}"
    assert not field(page, "openai_base_url").disabled


def test_an_invalid_address_is_rejected_and_the_input_stays(
    open_page: Open, data_dir: Path
) -> None:
    page = open_page()
    field(page, "openai_base_url").set_value("localhost:11434")
    press(page, words.SAVE_SETTINGS)
    assert "OPENAI_BASE_URL is not a valid address" in page_text(page)
    assert field(page, "openai_base_url").value == "localhost:11434"
    assert not (data_dir / "settings.json").exists()


def test_the_language_of_the_page_changes_at_once(open_page: Open) -> None:
    page = open_page()
    field(page, "language").set_value("ko")
    press(page, words.SAVE_SETTINGS, 2)
    html = page_text(AppTest.from_file(str(APP), default_timeout=20).run())
    assert 'data-language="ko"' in html


def test_other_settings_are_saved_and_reset(open_page: Open, data_dir: Path) -> None:
    page = open_page()
    field(page, "ocr_languages").set_value("eng")
    press(page, words.SAVE_SETTINGS, 3)
    field(page, "deleted_retention_days").set_value(7)
    press(page, words.SAVE_SETTINGS, 4)
    assert stored(data_dir) == {"ocr_languages": "eng", "deleted_retention_days": 7}
    press(page, words.RESET_SETTINGS, 3)
    assert stored(data_dir) == {"deleted_retention_days": 7}
    assert field(page, "ocr_languages").value == "eng+kor+jpn"


def test_the_embedding_server_has_fields_only_if_it_is_chosen(
    open_page: Open, data_dir: Path, model_server: OpenAIServer
) -> None:
    page = open_page()
    label = words.SETTING_LABELS["embedding_base_url"]
    assert label not in [one.label for one in page.text_input]
    field(page, "embedding_provider").set_value("openai").run()
    field(page, "embedding_base_url").set_value(model_server.url)
    field(page, "embedding_model").set_value("test-embedding")
    press(page, words.SAVE_SETTINGS, 1)
    assert stored(data_dir) == {
        "embedding_provider": "openai",
        "embedding_base_url": model_server.url,
        "embedding_model": "test-embedding",
    }


def test_saving_without_a_change_says_so(open_page: Open, data_dir: Path) -> None:
    page = open_page()
    press(page, words.SAVE_SETTINGS)
    assert words.SETTINGS_UNCHANGED in page_text(page)
    assert not (data_dir / "settings.json").exists()


def test_a_changed_embedding_asks_for_a_reindex_and_the_page_performs_it(
    open_page: Open, imported
) -> None:
    imported(embed=True)  # the page is configured with the built-in embedding
    page = open_page()
    assert "python cli.py reindex" in page_text(page)
    press(page, words.REBUILD_INDEX)
    assert "The index is rebuilt: 5 passages." in page_text(page)
    assert "python cli.py reindex" not in page_text(page)
    assert words.REBUILD_INDEX not in [one.label for one in page.button]


@pytest.mark.opensearch
def test_a_problem_after_a_rebuild_is_shown(
    open_page: Open,
    imported,
    monkeypatch: pytest.MonkeyPatch,
    opensearch: "Cluster",
    os_client: "OpenSearch",
    index_name: str,
) -> None:
    def use_name(_runner: object) -> None:  # an alias can't have the name of an index
        os_client.indices.create(index=index_name, ignore=400)

    imported(embed=True)
    monkeypatch.setenv("FOOTNOTE_SEARCH_URL", opensearch.url)
    monkeypatch.setenv("FOOTNOTE_SEARCH_INDEX", index_name)
    page = open_page()
    with event_during_progress(words.REBUILDING.rpartition("}")[2], use_name):
        press(page, words.REBUILD_INDEX)
    os_client.indices.delete(index=f"{index_name}-*")
    reason = f"{index_name} is the name of an index on the OpenSearch server"
    assert words.REBUILD_PROBLEM.format(reason=reason) in page_text(page)


def test_a_rebuild_during_an_import_is_refused(open_page: Open, imported, data_dir: Path) -> None:
    imported(embed=True)
    page = open_page()
    with writer_lock(data_dir):
        press(page, words.REBUILD_INDEX)
    assert "is writing to" in page_text(page)
    assert words.REBUILD_INDEX in [one.label for one in page.button]


def test_a_damaged_file_is_reported(open_page: Open, data_dir: Path) -> None:
    (data_dir / "settings.json").write_text("{")
    assert "settings.json is damaged" in page_text(open_page())
