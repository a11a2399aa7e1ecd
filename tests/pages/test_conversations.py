"""The sidebar over real services: find, open, rename, export, delete, undo, import."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bootstrap import Services
from domain import LOCAL_USER, TurnState
from services.conversations import LISTED
from settings import load_settings
from storage.conversations import Conversations
from storage.database import open_database
from tests.pages.conftest import APP, served, shown
from ui import words

Begin = Callable[..., str]


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Services]:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path))
    yield from served(Services(load_settings()), monkeypatch)


@pytest.fixture
def begin(services: Services, tmp_path: Path) -> Begin:
    """Keep a conversation of one answered question; its id."""
    conversations = Conversations(open_database(tmp_path))

    def begin(question: str, answer: str = "Because.") -> str:
        begun = conversations.create(LOCAL_USER, question)
        turn = conversations.start_turn(LOCAL_USER, begun.id, question)
        answered = replace(turn, answer=answer, state=TurnState.COMPLETE)
        conversations.finish_turn(LOCAL_USER, answered)
        return begun.id

    return begin


@pytest.fixture
def page(services: Services) -> AppTest:
    return AppTest.from_file(str(APP), default_timeout=20)


def listed(page: AppTest) -> list[str]:
    """The titles in the sidebar, from above."""
    assert not page.exception
    return [
        button.label for button in page.button if (button.key or "").startswith("conversation-")
    ]


def press(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def choose(page: AppTest, conversation_id: str, action: str) -> AppTest:
    return page.menu_button(key=f"menu-{conversation_id}").click(action).run()


def test_conversations_are_listed_by_age_with_the_newest_first(page: AppTest, begin: Begin) -> None:
    begin("First?")
    begin("Second?")
    assert listed(page.run()) == ["Second?", "First?"]
    assert words.AGES["today"] in shown(page)
    assert words.AGES["older"] not in shown(page)


def test_a_library_without_conversations_shows_no_group(page: AppTest) -> None:
    assert listed(page.run()) == []
    assert not {*words.AGES.values()} & {caption.value for caption in page.caption}


def test_pressing_one_opens_it_and_a_new_one_closes_it(page: AppTest, begin: Begin) -> None:
    opened = begin("Why?", "For this reason.")
    page.run().button(key=f"conversation-{opened}").click().run()
    assert page.query_params["conversation"] == opened
    assert "For this reason." in shown(page)
    press(page, words.NEW_CONVERSATION)
    assert "conversation" not in page.query_params
    assert "For this reason." not in shown(page)


def test_a_search_shows_what_it_found_and_how_many(page: AppTest, begin: Begin) -> None:
    begin("휴가 규정은?", "연차는 15일입니다.")
    begin("Where is the canteen?")
    page.run().text_input[0].set_value("연차").run()
    assert listed(page) == ["휴가 규정은?"]
    assert words.count(words.CONVERSATIONS_FOUND, 1) in shown(page)
    page.text_input[0].set_value("nowhere").run()
    assert listed(page) == []
    assert words.NO_CONVERSATION_FOUND in shown(page)
    page.text_input[0].set_value("").run()
    assert len(listed(page)) == 2


def test_more_are_shown_when_asked_for(page: AppTest, begin: Begin) -> None:
    for n in range(LISTED + 1):
        begin(f"Number {n}?")
    assert len(listed(page.run())) == LISTED
    press(page, words.MORE_CONVERSATIONS)
    assert len(listed(page)) == LISTED + 1
    assert words.MORE_CONVERSATIONS not in shown(page)


def test_markdown_in_a_title_is_not_followed(page: AppTest, begin: Begin) -> None:
    begin("**bold** :red[x] [link](https://evil.example)\nsecond line")
    [label] = listed(page.run())
    assert label.startswith(r"\*\*bold\*\* \:red\[x\] \[link\](https:color[\:]//evil.example) sec")
    assert "\n" not in label


def test_a_conversation_is_renamed(page: AppTest, begin: Begin) -> None:
    renamed = begin("Why?")
    choose(page.run(), renamed, "rename")
    title = page.text_input(key="conversation-title")
    assert title.value == "Why?"
    title.set_value("  The reason ")
    press(page, words.KEEP_TITLE)
    assert listed(page) == ["The reason"]
    assert words.KEEP_TITLE not in shown(page)


def test_an_empty_title_is_refused_and_the_dialog_stays(page: AppTest, begin: Begin) -> None:
    kept = begin("Why?")
    choose(page.run(), kept, "rename").text_input(key="conversation-title").set_value(" ")
    press(page, words.KEEP_TITLE)
    assert "The title is empty" in shown(page)
    assert listed(page) == ["Why?"]
    assert words.KEEP_TITLE in shown(page)


def test_a_deletion_is_confirmed_and_can_be_undone(page: AppTest, begin: Begin) -> None:
    deleted = begin("Why?", "For this reason.")
    page.query_params["conversation"] = deleted
    choose(page.run(), deleted, "delete")
    assert listed(page) == ["Why?"]
    page.button(key="delete").click().run()
    assert listed(page) == []
    assert "conversation" not in page.query_params
    assert words.DELETED.format(title="Why?") in shown(page)
    press(page, words.UNDO)
    assert listed(page) == ["Why?"]
    assert page.query_params["conversation"] == deleted
    assert "For this reason." in shown(page)
    assert words.UNDO not in shown(page)


def test_a_deletion_that_is_not_confirmed_deletes_nothing(page: AppTest, begin: Begin) -> None:
    kept = begin("Why?")
    choose(page.run(), kept, "delete").button(key="cancel").click().run()
    assert listed(page) == ["Why?"]
    assert words.CANCEL not in shown(page)
    assert words.UNDO not in shown(page)


def test_the_undo_goes_when_the_reader_goes_on(page: AppTest, begin: Begin) -> None:
    deleted = begin("Why?")
    choose(page.run(), deleted, "delete").button(key="delete").click().run()
    press(page, words.NEW_CONVERSATION)
    assert words.UNDO not in shown(page)


def test_what_was_purged_meanwhile_is_told(page: AppTest, begin: Begin, services: Services) -> None:
    gone = begin("Why?")
    choose(page.run(), gone, "rename")
    services.conversations.delete(LOCAL_USER, gone)
    press(page, words.KEEP_TITLE)
    assert "There is no conversation" in shown(page)


def test_three_forms_are_offered_and_made_only_when_wanted(
    page: AppTest, begin: Begin, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(services.conversations, "export", lambda *given: made.append(given[-1]))
    exported = begin("How many days?")
    choose(page.run(), exported, "export")
    labels = [button.label for button in page.download_button]
    assert labels == [*words.EXPORT_FORMS.values()]
    assert made == []


def test_an_exported_conversation_is_imported_and_opened(
    page: AppTest, begin: Begin, services: Services
) -> None:
    exported = begin("Why?", "For this reason.")
    data = services.conversations.export(LOCAL_USER, exported, "json")
    page.run().file_uploader[0].upload("why.json", data, "application/json").run()
    assert listed(page) == ["Why?", "Why?"]
    assert page.query_params["conversation"] != exported
    assert "For this reason." in shown(page)
    assert [toast.value for toast in page.toast] == [
        words.CONVERSATION_IMPORTED.format(title="Why?")
    ]
    assert not page.run().toast
    assert listed(page) == ["Why?", "Why?"]


def test_a_file_that_is_no_conversation_is_refused(page: AppTest) -> None:
    page.run().file_uploader[0].upload("why.json", b"{}", "application/json").run()
    assert "no conversation exported from Footnote" in shown(page)
    assert listed(page) == []
