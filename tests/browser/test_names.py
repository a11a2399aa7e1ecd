"""Names of sources and conversations are text on every page, never markup or requests."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import bootstrap
from domain import LOCAL_USER, SearchChoice
from services.chat.conversation_service import LIST_LIMIT
from services.sources.source_service import SourceSettings
from settings import load_settings
from tests.browser.actions import ask, press, settle
from tests.browser.program import running
from tests.hostile_names import HOSTILE_NAMES, IMAGE
from ui.chat.conversation_list import TITLE_CHARACTERS
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PAGES = ("", "library", "imports", "retrieval_lab", "catalogue", "status")
RENDERED_MARKDOWN = ":is(.stButton, [data-testid=stCaptionContainer]) :is(img, a, code, em, .katex)"
LABEL = '[class*="st-key-{}-"] button [data-testid="stMarkdownContainer"]'


@pytest.fixture(scope="module")
def address(
    chromium: str, clean_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The base URL of the program over sources and conversations with such names."""
    folder = tmp_path_factory.mktemp("named")
    fill(folder / "data", folder)
    with running(clean_environment | {"FOOTNOTE_DATA_DIR": str(folder / "data")}) as program:
        yield program.address


def fill(data_dir: Path, folder: Path) -> None:
    services = bootstrap.build_services(load_settings(data_dir=data_dir))
    for n, name in enumerate(HOSTILE_NAMES):
        source_folder = folder / f"folder-{n}"
        source_folder.mkdir()
        text = f"# {one_line(name)}\n\nThe kettle number {n} is to be descaled each month.\n"
        (source_folder / f"kettle-{n}.md").write_text(text, encoding="utf-8")
        services.sources.add(
            LOCAL_USER,
            "directory",
            {"path": str(source_folder)},
            SourceSettings(name=name, labels=(name,)),
        )
        services.directories.import_directory(LOCAL_USER, source_folder)
        services.conversations.begin(LOCAL_USER, name, SearchChoice())


def test_a_button_shows_the_name_of_a_source_literally(page: "sync_api.Page", address: str) -> None:
    open_page(page, f"{address}/imports")
    names = page.locator(LABEL.format("open"))
    sync_api.expect(names).to_have_count(len(HOSTILE_NAMES))
    assert sorted(map(one_line, names.all_inner_texts())) == sorted(map(one_line, HOSTILE_NAMES))
    expect_only_text(page)


def test_the_list_shows_the_title_of_a_conversation_literally(
    page: "sync_api.Page", address: str
) -> None:
    open_page(page, address)
    titles = page.locator(LABEL.format("conversation"))
    for count in (2 * LIST_LIMIT, len(HOSTILE_NAMES)):
        press(page, words.MORE_CONVERSATIONS)
        sync_api.expect(titles).to_have_count(count)
    sync_api.expect(titles).to_have_count(len(HOSTILE_NAMES))
    assert sorted(map(one_line, titles.all_inner_texts())) == sorted(
        map(listed_title, HOSTILE_NAMES)
    )
    expect_only_text(page)


@pytest.mark.parametrize("name", PAGES)
def test_names_cause_no_requests_on_any_page(
    page: "sync_api.Page", address: str, name: str
) -> None:
    open_page(page, f"{address}/{name}")
    expect_only_text(page)


def test_names_in_the_library_charts_cause_no_requests(page: "sync_api.Page", address: str) -> None:
    open_page(page, f"{address}/library")
    page.get_by_role("radio", name=words.LIBRARY_VIEWS["figures"]).click()
    page.locator(".stVegaLiteChart").first.wait_for()
    expect_only_text(page)


def test_the_scope_panel_shows_names_literally(page: "sync_api.Page", address: str) -> None:
    open_page(page, address)
    press(page, words.SCOPE_EVERYWHERE)
    page.get_by_role("combobox", name=words.SCOPE_SOURCES).fill(IMAGE)
    page.get_by_role("option", name=IMAGE, exact=True).click()
    page.get_by_text(words.SCOPE_LABEL.format(what=IMAGE), exact=True).first.wait_for()
    settle(page)
    expect_only_text(page)


def test_names_in_an_answer_and_its_sources_cause_no_requests(
    page: "sync_api.Page", address: str
) -> None:
    open_page(page, address)
    turn = ask(page, "When is the kettle number 0 to be descaled?")
    sync_api.expect(turn.locator(".fn-source").first).to_be_visible()
    expect_only_text(page)


def open_page(page: "sync_api.Page", address: str) -> None:
    page.goto(address)
    page.get_by_role("heading", level=1).first.wait_for(state="attached")
    settle(page)


def expect_only_text(page: "sync_api.Page") -> None:
    """Check that no label contains rendered Markdown and no request left this machine."""
    assert page.locator(RENDERED_MARKDOWN).count() == 0
    assert page.locator('[src*="evil.example"], a[href^="http://evil.example"]').count() == 0
    hosts = {urlsplit(url).hostname for url in page.requested if url.startswith(("http", "ws"))}
    assert hosts == {"localhost"}


def listed_title(name: str) -> str:
    """The title as the conversation list shows it: truncated if long."""
    line = " ".join(name.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1] + "…"


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()
