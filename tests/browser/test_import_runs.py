"""Imports at work, in a real browser and real processes: watched, paused, cancelled, killed.

The embedding model holds one of the documents, so that an import is at work for as long as a
test wants it to be.
"""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from domain import ImportState
from tests.browser.actions import DESKTOP, PHONE, screenshot, scrolls_sideways, settle
from tests.browser.importing import add_folder, make_files, press, see_held, see_state
from tests.browser.program import Program
from tests.fakes.openai import OpenAIServer
from ui import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

NUMBERS = count(1)
DOCUMENTS, HELD = 100, 80  # of more than one batch; the document that is held is not in the first


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Many small documents, in a folder of a name of its own."""
    name = f"notes{next(NUMBERS):02}"
    texts = {f"{n:03}.md": f"# Note {n}\n\nOf {name}: {n}.\n" for n in range(DOCUMENTS)}
    return make_files(tmp_path / name, texts)


@pytest.fixture
def held(
    page: "sync_api.Page", program: Program, embedder: OpenAIServer, folder: Path
) -> Iterator["sync_api.Page"]:
    """The page of a source whose import is at work, and stays so until the model goes on."""
    embedder.hold(f"Of {folder.name}: {HELD}.")
    add_folder(page, program, folder, words.ADD_AND_IMPORT)
    assert embedder.holds.wait(60)
    see_embedding(page)
    yield page
    embedder.go_on()


def job(page: "sync_api.Page") -> "sync_api.Locator":
    return page.locator(".st-key-job")


def see_embedding(page: "sync_api.Page") -> None:
    """Wait until the import is seen at the document that is held."""
    shown = job(page).locator(".fn-source-row")
    sync_api.expect(shown).to_contain_text(words.JOB_STAGES["embedding"])
    sync_api.expect(shown).to_contain_text(".md")
    total = words.JOB_DONE_OF.format(done="", total=DOCUMENTS).strip()
    sync_api.expect(job(page)).to_contain_text(total)
    sync_api.expect(job(page).locator(".fn-state")).to_have_text(words.IMPORT_STATES["running"])


def see_end(page: "sync_api.Page", state: ImportState = ImportState.COMPLETED) -> None:
    sync_api.expect(job(page)).to_have_count(0)
    see_state(page, state)


def test_an_import_goes_on_whatever_is_done_with_the_page(
    held: "sync_api.Page", embedder: OpenAIServer
) -> None:
    screenshot(held, "import-running")
    held.set_viewport_size(PHONE)
    assert not scrolls_sideways(held)
    screenshot(held, "import-running-phone")
    held.reload()
    see_embedding(held)
    held.set_viewport_size(DESKTOP)
    source = held.url
    held.get_by_role("link", name=words.LIBRARY_PAGE).click()
    held.get_by_role("heading", name=words.LIBRARY_TITLE).wait_for()
    held.get_by_text(words.count(words.LIBRARY_UNDER_WAY, 1)).wait_for()
    held.goto(source)
    see_embedding(held)
    embedder.go_on()
    see_end(held)
    see_held(held, DOCUMENTS)


def test_a_paused_import_rests_until_it_may_go_on(
    held: "sync_api.Page", embedder: OpenAIServer
) -> None:
    press(job(held), words.PAUSE_JOB)
    sync_api.expect(job(held).locator(".fn-state")).to_have_text(words.IMPORT_STATES["paused"])
    embedder.go_on()
    held.reload()
    settle(held)
    sync_api.expect(job(held)).to_contain_text(words.JOB_PAUSED)
    see_held(held, 64)
    screenshot(held, "import-paused")
    press(job(held), words.RESUME_JOB)
    see_end(held)
    see_held(held, DOCUMENTS)


def test_a_cancelled_import_keeps_what_it_has_done(held: "sync_api.Page") -> None:
    press(job(held), words.CANCEL_JOB)  # the model does not answer even now
    see_end(held, ImportState.CANCELLED)
    see_held(held, 64)
    screenshot(held, "import-cancelled")


def test_an_import_whose_worker_is_killed_goes_on_by_itself(
    held: "sync_api.Page", program: Program, embedder: OpenAIServer
) -> None:
    program.kill_worker()
    sync_api.expect(job(held).locator(".fn-state")).to_have_text(words.IMPORT_STATES["interrupted"])
    sync_api.expect(job(held)).to_contain_text(words.JOB_INTERRUPTED)
    screenshot(held, "import-interrupted")
    embedder.go_on()
    see_end(held)
    see_held(held, DOCUMENTS)
    sync_api.expect(held.locator(".fn-table tbody tr")).to_have_count(1)  # one import, not two
