"""axe-core finds no serious or critical violation on any page, in any state, light or dark."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Literal

import pytest

from domain import ImportState
from tests.browser.accessibility import violations
from tests.browser.actions import (
    DESKTOP,
    PHONE,
    ask,
    click_when_idle,
    open_share_dialog,
    press,
    settle,
    share,
    typing_box,
    until,
    wait_for_animations,
)
from tests.browser.importing import (
    add_folder,
    choose,
    make_files,
    open_form,
    open_page,
    see_state,
    select_row,
)
from tests.browser.program import ROOT, START_S, Program, running
from tests.fakes.openai import EMBEDDING_MODEL, OpenAIServer
from tests.fakes.restaurants import write_restaurants
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many days of annual leave do new employees get?"
QUESTION_ABOUT_A_PDF = "노트북을 잃어버리면 어떻게 해야 하나요?"
QUESTION_BEFORE_CHANGES = "Which color is the parking badge?"
COLOR_SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
HAS_SCHEME = "scheme => getComputedStyle(document.querySelector('.stApp')).colorScheme == scheme"
HELD = "Embedding of this sentence waits"


@pytest.fixture(scope="module")
def environment_with_embedder(
    clean_environment: dict[str, str],
    embedder: OpenAIServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str]:
    return clean_environment | {
        "FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("accessibility")),
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }


def command(environment: dict[str, str], *arguments: object) -> None:
    """Run a command of the program."""
    subprocess.run(
        [sys.executable, "cli.py", *map(str, arguments)],
        cwd=ROOT,
        env=environment,
        check=True,
        timeout=START_S,
    )


def answer_before_changes(environment: dict[str, str], folder: Path) -> None:
    """Ask a question; then change one document of its answer, and remove the other."""
    texts = {"cars.md": "# Cars\n\nThe parking badge for cars is green.\n"}
    make_files(folder, {**texts, "bikes.md": "# Bikes\n\nThe parking badge for bikes is red.\n"})
    command(environment, "import", folder)
    command(environment, "ask", QUESTION_BEFORE_CHANGES)
    make_files(folder, {"cars.md": texts["cars.md"].replace("green", "blue")})
    (folder / "bikes.md").unlink()
    command(environment, "import", folder)


@pytest.fixture(scope="module")
def full(
    chromium: str,
    environment_with_embedder: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Program]:
    """The program over a library with the samples, a catalog, and an answer from old documents."""
    answer_before_changes(environment_with_embedder, tmp_path_factory.mktemp("badges"))
    restaurants = write_restaurants(tmp_path_factory.mktemp("places") / "restaurants")
    command(environment_with_embedder, "catalog", "add", restaurants)
    command(environment_with_embedder, "import", ROOT / "samples" / "documents")
    with running(environment_with_embedder) as program:
        yield program


@pytest.fixture(scope="module")
def empty(
    chromium: str,
    environment_with_embedder: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Program]:
    """The program over a library whose only document was removed."""
    folder = tmp_path_factory.mktemp("folder")
    data = {"FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("empty"))}
    make_files(folder / "notes", {"a.md": "# A note"})
    command(environment_with_embedder | data, "import", folder)
    shutil.rmtree(folder / "notes")
    command(environment_with_embedder | data, "import", folder)
    with running(environment_with_embedder | data) as program:
        yield program


@pytest.fixture
def page(browser: "sync_api.Browser") -> Iterator["sync_api.Page"]:
    context = browser.new_context(viewport=DESKTOP, locale="en-GB", reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(30_000)
    yield page
    context.close()


def show_chat(page: "sync_api.Page", program: Program) -> None:
    page.goto(program.address)
    typing_box(page).wait_for()


def show_answer(page: "sync_api.Page", program: Program, question: str = QUESTION) -> None:
    show_chat(page, program)
    ask(page, question)


def show_quote_of_marker(page: "sync_api.Page", program: Program) -> None:
    show_answer(page, program)
    page.locator("a.fn-cite").first.focus()
    page.get_by_role("tooltip").first.wait_for()


def show_sources_of_answer(page: "sync_api.Page", program: Program) -> None:
    show_answer(page, program)
    for summary in page.locator(".fn-turn details > summary").all():
        summary.click()


def show_share_dialog(page: "sync_api.Page", program: Program) -> None:
    show_answer(page, program)
    open_share_dialog(page)


def show_old_evidence(page: "sync_api.Page", program: Program) -> None:
    show_chat(page, program)
    search = page.get_by_placeholder(words.SEARCH_CONVERSATIONS)  # the list shows only the newest
    search.fill("parking badge")
    page.get_by_text(words.count(words.CONVERSATIONS_FOUND, 1)).wait_for()
    row = page.locator(".st-key-rows").get_by_role(
        "button", name=QUESTION_BEFORE_CHANGES, exact=True
    )
    click_when_idle(row.first)  # the row moves while the list changes
    for badge in (words.CHANGED_SINCE, words.GONE):
        page.locator(".fn-old", has_text=badge).first.wait_for()


def open_saved_evidence(page: "sync_api.Page", program: Program, title: str, notice: str) -> None:
    """Open a document of an old answer; its page shows what was saved with the answer."""
    show_old_evidence(page, program)
    page.goto(page.locator("a.fn-title", has_text=title).evaluate("link => link.href"))
    page.get_by_text(notice).wait_for()


def show_evidence_of_changed_document(page: "sync_api.Page", program: Program) -> None:
    open_saved_evidence(page, program, "Cars", words.DOCUMENT_CHANGED)


def show_evidence_of_removed_document(page: "sync_api.Page", program: Program) -> None:
    open_saved_evidence(page, program, "Bikes", words.DOCUMENT_REMOVED)


def show_document(page: "sync_api.Page", program: Program, question: str = QUESTION) -> None:
    show_answer(page, program, question)
    page.goto(page.locator("a.fn-title").first.evaluate("link => link.href"))
    page.locator(".fn-reading mark").first.wait_for()


def show_page_of_a_pdf(page: "sync_api.Page", program: Program) -> None:
    show_document(page, program, QUESTION_ABOUT_A_PDF)
    page.get_by_test_id("stImage").wait_for()


def show_words_in_a_document(page: "sync_api.Page", program: Program) -> None:
    show_document(page, program)
    page.get_by_placeholder(words.FIND_IN_DOCUMENT).fill("leave")
    page.keyboard.press("Enter")
    page.locator(".fn-reading .fn-current").wait_for()


def show_library(page: "sync_api.Page", program: Program) -> None:
    open_page(page, program, "library")
    page.get_by_test_id("stDataFrame").wait_for()


def show_selected_documents(page: "sync_api.Page", program: Program) -> None:
    show_library(page, program)
    select_row(page, 0)
    settle(page)


def show_charts(page: "sync_api.Page", program: Program) -> None:
    show_library(page, program)
    choose(page, words.LIBRARY_VIEWS["figures"])
    page.get_by_test_id("stVegaLiteChart").first.wait_for()


def show_sources(page: "sync_api.Page", program: Program) -> None:
    open_page(page, program, "imports")


def show_report(page: "sync_api.Page", program: Program) -> None:
    open_page(page, program, "imports")
    click_when_idle(page.locator("[class*='st-key-open-']").get_by_role("button").first)
    page.locator(".st-key-chosen-source").wait_for()


def show_lab(page: "sync_api.Page", program: Program) -> None:
    open_page(page, program, "retrieval_lab")
    page.get_by_label(words.LAB_QUESTION).fill(QUESTION)
    press(page, words.LAB_COMPARE)
    page.locator(".fn-why").first.wait_for(state="attached")


def show_settings(page: "sync_api.Page", program: Program) -> None:
    open_page(page, program, "app_settings")


def show_api_keys(page: "sync_api.Page", program: Program) -> None:
    open_page(page, program, "administration")
    page.get_by_text(words.KEY_CREATE, exact=True).click()
    page.get_by_label(words.KEY_NAME, exact=True).wait_for()


def ask_for_places(page: "sync_api.Page", program: Program, question: str) -> None:
    page.goto(f"{program.address}/catalogue")
    page.get_by_label(words.PLACES_QUESTION).fill(question)
    page.keyboard.press("Enter")


def show_places(page: "sync_api.Page", program: Program) -> None:
    ask_for_places(page, program, "romantic italian in Brooklyn")
    page.locator(".fn-verdict").wait_for()


def show_refused_question(page: "sync_api.Page", program: Program) -> None:
    ask_for_places(page, program, "What is the capital of France?")
    page.get_by_role("button", name=words.PLACES_ANYWAY).wait_for()


STATES = {
    "chat": show_chat,
    "answer": show_answer,
    "sources of an answer": show_sources_of_answer,
    "quote of a marker": show_quote_of_marker,
    "share dialog": show_share_dialog,
    "old evidence": show_old_evidence,
    "evidence of a changed document": show_evidence_of_changed_document,
    "evidence of a removed document": show_evidence_of_removed_document,
    "document": show_document,
    "page of a PDF": show_page_of_a_pdf,
    "words in a document": show_words_in_a_document,
    "library": show_library,
    "selected documents": show_selected_documents,
    "charts": show_charts,
    "sources": show_sources,
    "import form": open_form,
    "import report": show_report,
    "retrieval lab": show_lab,
    "settings": show_settings,
    "API keys": show_api_keys,
    "places": show_places,
    "refused question": show_refused_question,
}


def appearances(page: "sync_api.Page") -> Iterator[tuple[int, str]]:
    """Show the page in each width and color scheme, and yield both."""
    for size, scheme in product((DESKTOP, PHONE), COLOR_SCHEMES):
        page.set_viewport_size(size)
        page.emulate_media(color_scheme=scheme)
        yield size["width"], scheme


def violations_in_all_appearances(page: "sync_api.Page", axe: str) -> list[str]:
    found = []
    for width, scheme in appearances(page):
        until(page, HAS_SCHEME, scheme)
        settle(page)
        wait_for_animations(page)
        found += [f"{width} pixels, {scheme}, {one}" for one in violations(page, axe)]
    return found


@pytest.mark.parametrize("state", STATES)
def test_a_page_has_no_serious_violation(
    page: "sync_api.Page", full: Program, axe: str, state: str
) -> None:
    STATES[state](page, full)
    assert not (found := violations_in_all_appearances(page, axe)), "\n\n".join(found)


def test_a_shared_file_has_no_serious_violation(
    page: "sync_api.Page", full: Program, axe: str, tmp_path: Path
) -> None:
    show_old_evidence(page, full)
    page.goto(share(page, tmp_path).as_uri())
    found = [one for _ in appearances(page) for one in violations(page, axe)]
    assert not found, "\n\n".join(found)


@pytest.mark.parametrize("name", ["", "library", "imports", "retrieval_lab", "catalogue", "status"])
def test_a_page_over_an_empty_library_has_no_serious_violation(
    page: "sync_api.Page", empty: Program, axe: str, name: str
) -> None:
    page.goto(f"{empty.address}/{name}")
    page.get_by_role("heading", level=1).wait_for()
    settle(page)
    assert not (found := violations_in_all_appearances(page, axe)), "\n\n".join(found)


def test_a_running_import_has_no_serious_violation(
    page: "sync_api.Page", full: Program, axe: str, embedder: OpenAIServer, tmp_path: Path
) -> None:
    folder = make_files(tmp_path / "held", {f"{n}.md": f"# {n}\n\n{HELD}." for n in range(3)})
    embedder.block(HELD)
    add_folder(page, full, folder, words.ADD_AND_IMPORT)
    assert embedder.is_blocking.wait(60)
    found = violations_in_all_appearances(page, axe)
    embedder.release()
    see_state(page, ImportState.COMPLETED)
    assert not found, "\n\n".join(found)
