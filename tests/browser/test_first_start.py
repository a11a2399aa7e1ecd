"""The first start: questions can be asked before the sample documents are imported."""

from pathlib import Path

import pytest

from tests.browser.actions import answered_turn, typing_box
from tests.browser.program import running
from tests.fakes.openai import EMBEDDING_MODEL, OpenAIServer
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many days of annual leave do new employees get?"
SENTENCE = "New employees get 25 days of annual leave a year"


def test_a_question_is_answered_once_the_samples_are_imported(
    page: "sync_api.Page",
    clean_environment: dict[str, str],
    embedder: OpenAIServer,
    tmp_path: Path,
) -> None:
    environment = clean_environment | {
        "FOOTNOTE_DATA_DIR": str(tmp_path),
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }
    embedder.block(SENTENCE)
    with running(environment, waits_for_imports=False) as program:
        page.goto(program.address)
        page.get_by_role("heading", name=words.FIRST_IMPORT).wait_for()
        typing_box(page).fill(QUESTION)
        page.keyboard.press("Enter")
        page.get_by_text(words.FIRST_IMPORT_WAIT).wait_for()
        embedder.release()
        turn = answered_turn(page, 1)
        sync_api.expect(turn.locator(".fn-answer")).to_contain_text(SENTENCE)
