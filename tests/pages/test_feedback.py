"""Ratings of an answer, and the reason for a negative one."""

import pytest
from streamlit.testing.v1 import AppTest

from domain import CitationState
from domain.errors import BusyError, ModelError
from services.evaluation.rating_service import Reason
from tests.pages.conftest import APP, Services, ask, page_text
from tests.pages.double import Script, citation
from ui.text import words


def saved_rating(services: Services, turn_id: str = "t1") -> tuple[int, Reason | None, str]:
    rating = services.ratings.by_turn[turn_id]
    return rating.grade, rating.reason, rating.comment


def expanders(page: AppTest) -> list[str]:
    return [one.label for one in page.expander]


@pytest.mark.parametrize(("grade", "text_name"), [(1, "RATED_UP"), (0, "RATED_DOWN")])
def test_a_rating_is_saved_and_survives_a_reload(
    page: AppTest, services: Services, grade: int, text_name: str
) -> None:
    assert getattr(words, text_name) not in ask(page)
    page.feedback[0].set_value(grade).run()
    assert saved_rating(services) == (grade, None, "")
    assert getattr(words, text_name) in page_text(page)

    reloaded = AppTest.from_file(str(APP), default_timeout=20)
    reloaded.query_params["conversation"] = "c1"
    assert getattr(words, text_name) in page_text(reloaded.run())
    assert reloaded.feedback[0].value == grade


def test_the_rating_of_each_answer_is_read_once(page: AppTest, services: Services) -> None:
    ask(page, "First?")
    ask(page, "Second?")
    for run in (page, AppTest.from_file(str(APP), default_timeout=20)):
        run.query_params["conversation"] = "c1"
        services.ratings.reads.clear()
        run.run()
        assert services.ratings.reads == ["t1", "t2"]


def test_a_rating_can_be_changed_and_removed(page: AppTest, services: Services) -> None:
    ask(page)
    page.feedback[0].set_value(1).run()
    page.feedback[0].set_value(0).run()
    assert saved_rating(services) == (0, None, "")
    page.feedback[0].set_value(None).run()
    assert services.ratings.by_turn == {}
    assert words.RATED_DOWN not in page_text(page)


def test_each_answer_is_rated_separately(page: AppTest, services: Services) -> None:
    ask(page, "First?")
    ask(page, "Second?")
    page.feedback[1].set_value(0).run()
    assert set(services.ratings.by_turn) == {"t2"}
    assert [thumbs.value for thumbs in page.feedback] == [None, 0]


def test_a_thumb_down_asks_for_the_reason_and_a_comment(page: AppTest, services: Services) -> None:
    ask(page)
    assert words.WHY_NOT not in expanders(page)
    page.feedback[0].set_value(0).run()
    assert words.WHY_NOT in expanders(page)
    page.button_group(key="why-t1-reason").set_value("incomplete")
    page.text_area(key="why-t1-comment").set_value("The days of the second year.")
    page.button(key="FormSubmitter:why-t1-Save the reason").click().run()
    assert saved_rating(services) == (0, Reason.INCOMPLETE, "The days of the second year.")
    assert words.REASONS["incomplete"] in expanders(page)


def test_every_reason_has_its_text() -> None:
    assert list(words.REASONS) == [reason.value for reason in Reason]


@pytest.mark.parametrize(
    "script",
    [
        Script(pieces=("I believe it is ten.",), citations=()),
        Script(citations=(citation(1, CitationState.NOT_FOUND),)),
        Script(error=ModelError("The model broke off.")),
    ],
    ids=["no citation", "quote not found", "incomplete"],
)
def test_any_answer_can_be_rated(page: AppTest, services: Services, script: Script) -> None:
    services.chat.script = script
    ask(page)
    page.run().feedback[0].set_value(0).run()
    assert saved_rating(services) == (0, None, "")


def test_a_turn_without_an_answer_has_no_thumbs(page: AppTest, services: Services) -> None:
    services.chat.script = Script(pieces=(), error=ModelError("It is down."))
    ask(page)
    assert not page.run().feedback


def test_a_rating_that_cannot_be_saved_shows_the_reason_and_is_cleared(
    page: AppTest, services: Services
) -> None:
    ask(page)
    services.ratings.error = BusyError("The library is being written.")
    page.feedback[0].set_value(1).run()
    html = page_text(page)
    assert "The library is being written." in html
    assert words.RATED_UP not in html
    assert page.feedback[0].value is None
