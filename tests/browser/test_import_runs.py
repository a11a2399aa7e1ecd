"""Running imports in a real browser with real processes: watched, paused, canceled, killed.

The embedding model holds one of the documents, so an import runs for as long as the test needs.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from domain import ImportState
from tests.browser.actions import (
    DESKTOP,
    PHONE,
    press,
    screenshot,
    scrolls_sideways,
    settle,
)
from tests.browser.importing import (
    add_folder,
    make_files,
    see_document_count,
    see_state,
)
from tests.browser.program import Program
from tests.fakes.openai import OpenAIServer
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NUMBERS = count(1)
DOCUMENTS, HELD = 100, 80  # more than one batch; the held document is not in the first


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Many small documents in a folder with a unique name."""
    name = f"notes{next(NUMBERS):02}"
    texts = {f"{n:03}.md": f"# Note {n}\n\nOf {name}: {n}.\n" for n in range(DOCUMENTS)}
    return make_files(tmp_path / name, texts)


@pytest.fixture
def running_import(
    page: "sync_api.Page", program: Program, embedder: OpenAIServer, folder: Path
) -> Iterator["sync_api.Page"]:
    """The page of a source with a running import that waits for the model."""
    embedder.block(f"Of {folder.name}: {HELD}.")
    add_folder(page, program, folder, words.ADD_AND_IMPORT)
    assert embedder.is_blocking.wait(60)
    see_embedding(page)
    yield page
    embedder.release()


def import_box(page: "sync_api.Page") -> "sync_api.Locator":
    return page.locator(".st-key-import-run")


def see_embedding(page: "sync_api.Page") -> None:
    """Wait until the import reaches the held document."""
    row = import_box(page).locator(".fn-source-row")
    sync_api.expect(row).to_contain_text(words.RUN_STAGES["embedding"])
    sync_api.expect(row).to_contain_text(".md")
    total = words.RUN_DONE_OF.format(done="", total=DOCUMENTS).strip()
    sync_api.expect(import_box(page)).to_contain_text(total)
    sync_api.expect(import_box(page).locator(".fn-state")).to_have_text(
        words.IMPORT_STATES["running"]
    )


def see_end(page: "sync_api.Page", state: ImportState = ImportState.COMPLETED) -> None:
    sync_api.expect(import_box(page)).to_have_count(0)
    see_state(page, state)


def test_an_import_continues_while_the_page_is_reloaded_or_closed(
    running_import: "sync_api.Page", embedder: OpenAIServer
) -> None:
    screenshot(running_import, "import-running")
    running_import.set_viewport_size(PHONE)
    assert not scrolls_sideways(running_import)
    screenshot(running_import, "import-running-phone")
    running_import.reload()
    see_embedding(running_import)
    running_import.set_viewport_size(DESKTOP)
    source = running_import.url
    running_import.get_by_role("link", name=words.LIBRARY_PAGE).click()
    running_import.get_by_role("heading", name=words.LIBRARY_TITLE).wait_for()
    running_import.get_by_text(words.count(words.LIBRARY_UNDER_WAY, 1)).wait_for()
    running_import.goto(source)
    see_embedding(running_import)
    embedder.release()
    see_end(running_import)
    see_document_count(running_import, DOCUMENTS)


def test_the_stored_documents_are_counted_while_the_import_continues(
    running_import: "sync_api.Page",
) -> None:
    see_document_count(running_import, 64)
    sync_api.expect(import_box(running_import)).to_contain_text("of 100 passages")


def test_a_paused_import_waits_until_it_is_resumed(
    running_import: "sync_api.Page", embedder: OpenAIServer
) -> None:
    press(import_box(running_import), words.PAUSE_RUN)
    sync_api.expect(import_box(running_import).locator(".fn-state")).to_have_text(
        words.IMPORT_STATES["paused"]
    )
    embedder.release()
    running_import.reload()
    settle(running_import)
    sync_api.expect(import_box(running_import)).to_contain_text(words.RUN_PAUSED)
    see_document_count(running_import, 64)
    screenshot(running_import, "import-paused")
    press(import_box(running_import), words.RESUME_RUN)
    see_end(running_import)
    see_document_count(running_import, DOCUMENTS)


def test_a_canceled_import_keeps_its_finished_documents(running_import: "sync_api.Page") -> None:
    press(import_box(running_import), words.CANCEL_RUN)  # the model is still holding
    see_end(running_import, ImportState.CANCELLED)
    see_document_count(running_import, 64)
    screenshot(running_import, "import-cancelled")


def test_an_import_resumes_automatically_after_its_worker_is_killed(
    running_import: "sync_api.Page", program: Program, embedder: OpenAIServer
) -> None:
    program.kill_worker()
    sync_api.expect(import_box(running_import).locator(".fn-state")).to_have_text(
        words.IMPORT_STATES["interrupted"]
    )
    sync_api.expect(import_box(running_import)).to_contain_text(words.RUN_INTERRUPTED)
    screenshot(running_import, "import-interrupted")
    embedder.release()
    see_end(running_import)
    see_document_count(running_import, DOCUMENTS)
    history = running_import.locator(".fn-table tbody tr")
    sync_api.expect(history).to_have_count(1)  # one import, not two
