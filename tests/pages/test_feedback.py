"""The thumbs under an answer."""

import pytest
from streamlit.testing.v1 import AppTest

from domain import CitationState
from errors import BusyError, ModelError
from tests.pages.conftest import APP, Services, ask, shown
from tests.pages.double import Script, citation
from ui import words

ASKED = "How many days? (standalone)"


@pytest.mark.parametrize(("grade", "says"), [(1, words.RATED_RIGHT), (0, words.RATED_WRONG)])
def test_a_thumb_is_kept_and_stays_after_a_reload(
    page: AppTest, services: Services, grade: int, says: str
) -> None:
    assert words.RATE in ask(page)
    page.feedback[0].set_value(grade).run()
    assert services.labels.ratings == {ASKED: grade}
    assert says in shown(page)

    reloaded = AppTest.from_file(str(APP), default_timeout=20)
    reloaded.query_params["conversation"] = "c1"
    assert says in shown(reloaded.run())
    assert reloaded.feedback[0].value == grade


def test_a_thumb_can_be_changed_and_taken_back(page: AppTest, services: Services) -> None:
    ask(page)
    page.feedback[0].set_value(1).run()
    page.feedback[0].set_value(0).run()
    assert services.labels.ratings == {ASKED: 0}
    page.feedback[0].set_value(None).run()
    assert services.labels.ratings == {}
    assert words.RATE in shown(page)


def test_each_answer_has_thumbs_of_its_own(page: AppTest, services: Services) -> None:
    ask(page, "First?")
    ask(page, "Second?")
    page.feedback[1].set_value(0).run()
    assert services.labels.ratings == {"Second? (standalone)": 0}
    assert [thumbs.value for thumbs in page.feedback] == [None, 0]


@pytest.mark.parametrize(
    "script",
    [
        Script(pieces=("I believe it is ten.",), citations=()),
        Script(citations=(citation(1, CitationState.NOT_FOUND),)),
        Script(error=ModelError("The model broke off.")),
    ],
    ids=["cites nothing", "cites what is not there", "was not finished"],
)
def test_where_no_passage_is_proven_there_are_no_thumbs(
    page: AppTest, services: Services, script: Script
) -> None:
    services.chat.script = script
    ask(page)
    assert len(page.feedback) == 0


def test_a_thumb_that_could_not_be_kept_says_why_and_is_let_go(
    page: AppTest, services: Services
) -> None:
    ask(page)
    services.labels.error = BusyError("The library is being written.")
    page.feedback[0].set_value(1).run()
    html = shown(page)
    assert "The library is being written." in html
    assert words.RATE in html
    assert page.feedback[0].value is None
