"""The first start: questions can be asked before the sample documents are imported."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser.actions import answered_turn, typing_box
from tests.browser.program import Program, running
from tests.fakes.openai import EMBEDDING_MODEL, OpenAIServer
from ui.text import words

sync_api = pytest.importorskip("playwright.sync_api", reason="pip install playwright")

pytestmark = [pytest.mark.browser, pytest.mark.slow]

QUESTION = "How many days of annual leave do new employees get?"
SENTENCE = "New employees get 25 days of annual leave a year"


@pytest.fixture
def first_start(
    clean_environment: dict[str, str], embedder: OpenAIServer, tmp_path: Path
) -> Iterator[Program]:
    """The program at its first start; the import waits until the embedder is released."""
    environment = clean_environment | {
        "FOOTNOTE_DATA_DIR": str(tmp_path),
        "FOOTNOTE_EMBEDDING_PROVIDER": "openai",
        "FOOTNOTE_EMBEDDING_MODEL": EMBEDDING_MODEL,
        "FOOTNOTE_EMBEDDING_BASE_URL": embedder.url,
    }
    embedder.block(SENTENCE)
    with running(environment, waits_for_imports=False) as program:
        yield program


@pytest.fixture
def waiting(page: "sync_api.Page", first_start: Program) -> "sync_api.Page":
    """The chat page with a question that waits for the import."""
    page.goto(first_start.address)
    page.get_by_role("heading", name=words.FIRST_IMPORT).wait_for()
    typing_box(page).fill(QUESTION)
    page.keyboard.press("Enter")
    page.get_by_text(words.FIRST_IMPORT_WAIT).wait_for()
    return page


def see_answer(page: "sync_api.Page") -> None:
    turn = answered_turn(page, 1)
    sync_api.expect(turn.locator(".fn-answer")).to_contain_text(SENTENCE)


def test_a_question_is_answered_once_the_samples_are_imported(
    waiting: "sync_api.Page", embedder: OpenAIServer
) -> None:
    embedder.release()
    see_answer(waiting)


def test_a_stopped_question_returns_to_the_input_and_can_be_sent_again(
    waiting: "sync_api.Page", embedder: OpenAIServer
) -> None:
    waiting.get_by_test_id("stChatInputStopButton").click()
    sync_api.expect(typing_box(waiting)).to_have_value(QUESTION)
    sync_api.expect(waiting.get_by_text(words.FIRST_IMPORT_WAIT)).to_be_hidden()
    embedder.release()
    typing_box(waiting).press("Enter")
    see_answer(waiting)
