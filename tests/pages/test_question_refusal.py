"""A question that is refused, for example because it is too long, is not lost."""

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER
from domain.errors import InputError, ModelError
from services.texts import MAX_QUESTION_CHARS
from tests.pages.conftest import APP, Services, ask, install_services, page_text
from tests.pages.double import Script
from ui.text import words

LONG = "Why? " * (MAX_QUESTION_CHARS // 5 + 1)
REASON = "The question is refused."


def text_for_the_input(page: AppTest) -> str | None:
    """The text that the last run put into the input, None if it left the input alone."""
    proto = page.chat_input[0].proto
    return proto.value if proto.set_value else None


def refuse(services: Services) -> None:
    services.chat.script = Script(error=InputError(REASON))


def attach_buttons(page: AppTest) -> list[str]:
    return [one.label for one in page.button if one.key == "attach-question"]


def test_the_text_returns_to_the_input_with_the_reason(page: AppTest, services: Services) -> None:
    refuse(services)
    assert REASON in ask(page, "Why?")
    assert text_for_the_input(page) == "Why?"
    assert attach_buttons(page) == []
    assert REASON in page_text(page.run())
    assert text_for_the_input(page) is None  # what the reader has typed since stays


def test_the_reason_disappears_with_the_next_question(page: AppTest, services: Services) -> None:
    refuse(services)
    ask(page, "Why?")
    services.chat.script = Script()
    html = ask(page, "Why not?")
    assert REASON not in html
    assert text_for_the_input(page) is None


def test_a_failure_of_a_stored_question_leaves_the_input_empty(
    page: AppTest, services: Services
) -> None:
    services.chat.script = Script(error=ModelError("It broke off."))
    assert "It broke off." in ask(page, "Why?")
    assert text_for_the_input(page) is None


@pytest.fixture
def real_page(monkeypatch, imported):
    services = imported(embed=True)
    for _ in install_services(services, monkeypatch):
        yield AppTest.from_file(str(APP), default_timeout=30).run(), services


def test_a_too_long_question_states_the_limit_and_can_become_a_file(real_page) -> None:
    page, services = real_page
    html = ask(page, LONG)
    assert f"{len(LONG.strip()):,} characters; the limit is {MAX_QUESTION_CHARS:,}" in html
    assert text_for_the_input(page) == LONG.strip()
    assert attach_buttons(page) == [words.ATTACH_QUESTION]
    page.button(key="attach-question").click().run()
    assert "the limit is" not in page_text(page)
    box = services.uploads.box_of(LOCAL_USER, page.query_params["conversation"])
    [name] = services.uploads.keys(LOCAL_USER, box.id)
    assert name.startswith("Why-Why")
    assert name.endswith(".txt")
