"""The sidebar over real services: find, open, rename, export, delete, undo, import."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from bootstrap import Services
from domain import LOCAL_USER, TurnState
from services.chat.conversation_service import LIST_LIMIT
from settings import load_settings
from storage.ledger.conversation_store import Conversations
from storage.ledger.database import open_database
from tests.pages.conftest import APP, install_services, page_text
from ui.text import words

Begin = Callable[..., str]


@pytest.fixture
def services(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Services]:
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", str(tmp_path))
    yield from install_services(Services(load_settings()), monkeypatch)


@pytest.fixture
def begin(services: Services, tmp_path: Path) -> Begin:
    """Store a conversation with one answered question; returns its id."""
    conversations = Conversations(open_database(tmp_path))

    def begin(question: str, answer: str = "Because.") -> str:
        conversation = conversations.create(LOCAL_USER, question)
        turn = conversations.start_turn(LOCAL_USER, conversation.id, question)
        answered_turn = replace(turn, answer=answer, state=TurnState.COMPLETE)
        conversations.finish_turn(LOCAL_USER, answered_turn)
        return conversation.id

    return begin


@pytest.fixture
def page(services: Services) -> AppTest:
    return AppTest.from_file(str(APP), default_timeout=20)


def titles(page: AppTest) -> list[str]:
    """The titles in the sidebar, from top to bottom."""
    assert not page.exception
    return [
        button.label for button in page.button if (button.key or "").startswith("conversation-")
    ]


def press(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def choose(page: AppTest, conversation_id: str, action: str) -> AppTest:
    return page.menu_button(key=f"menu-{conversation_id}").click(action).run()


def test_conversations_are_grouped_by_age_newest_first(page: AppTest, begin: Begin) -> None:
    begin("First?")
    begin("Second?")
    assert titles(page.run()) == ["Second?", "First?"]
    assert words.AGES["today"] in page_text(page)
    assert words.AGES["older"] not in page_text(page)


def test_a_library_without_conversations_shows_no_group(page: AppTest) -> None:
    assert titles(page.run()) == []
    assert not {*words.AGES.values()} & {caption.value for caption in page.caption}


def test_selecting_a_conversation_opens_it_and_new_closes_it(page: AppTest, begin: Begin) -> None:
    current = begin("Why?", "For this reason.")
    page.run().button(key=f"conversation-{current}").click().run()
    assert page.query_params["conversation"] == current
    assert "For this reason." in page_text(page)
    press(page, words.NEW_CONVERSATION)
    assert "conversation" not in page.query_params
    assert "For this reason." not in page_text(page)


def test_a_search_shows_its_matches_and_their_count(page: AppTest, begin: Begin) -> None:
    begin("휴가 규정은?", "연차는 15일입니다.")
    begin("Where is the canteen?")
    page.run().text_input[0].set_value("연차").run()
    assert titles(page) == ["휴가 규정은?"]
    assert words.count(words.CONVERSATIONS_FOUND, 1) in page_text(page)
    page.text_input[0].set_value("nowhere").run()
    assert titles(page) == []
    assert words.NO_CONVERSATION_FOUND in page_text(page)
    page.text_input[0].set_value("").run()
    assert len(titles(page)) == 2


def test_more_conversations_are_shown_on_request(page: AppTest, begin: Begin) -> None:
    for n in range(LIST_LIMIT + 1):
        begin(f"Number {n}?")
    assert len(titles(page.run())) == LIST_LIMIT
    press(page, words.MORE_CONVERSATIONS)
    assert len(titles(page)) == LIST_LIMIT + 1
    assert words.MORE_CONVERSATIONS not in page_text(page)


def test_the_list_says_how_long_conversations_are_kept(
    page: AppTest, services: Services, begin: Begin
) -> None:
    begin("Why?")
    note = words.count(words.CONVERSATION_RETENTION, 90)
    assert note not in page_text(page.run())
    with_retention = replace(services.conversations, inactive_retention=timedelta(days=90))
    services.__dict__["conversations"] = with_retention
    assert note in page_text(page.run())


def test_markdown_in_a_title_is_not_rendered(page: AppTest, begin: Begin) -> None:
    begin("**bold** :red[x] [link](https://evil.example)\nsecond line")
    [label] = titles(page.run())
    assert label.startswith(r"\*\*bold\*\* \:red\[x\] \[link\](https:color[\:]//evil.example) sec")
    assert "\n" not in label


def test_a_conversation_can_be_renamed(page: AppTest, begin: Begin) -> None:
    conversation_id = begin("Why?")
    choose(page.run(), conversation_id, "rename")
    title = page.text_input(key="conversation-title")
    assert title.value == "Why?"
    title.set_value("  The reason ")
    press(page, words.KEEP_TITLE)
    assert titles(page) == ["The reason"]
    assert words.KEEP_TITLE not in page_text(page)


def test_an_empty_title_is_rejected_and_the_dialog_stays_open(page: AppTest, begin: Begin) -> None:
    conversation_id = begin("Why?")
    choose(page.run(), conversation_id, "rename").text_input(key="conversation-title").set_value(
        " "
    )
    press(page, words.KEEP_TITLE)
    assert "The title is empty" in page_text(page)
    assert titles(page) == ["Why?"]
    assert words.KEEP_TITLE in page_text(page)


def test_a_deletion_requires_confirmation_and_can_be_undone(page: AppTest, begin: Begin) -> None:
    conversation_id = begin("Why?", "For this reason.")
    page.query_params["conversation"] = conversation_id
    choose(page.run(), conversation_id, "delete")
    assert titles(page) == ["Why?"]
    page.button(key="delete").click().run()
    assert titles(page) == []
    assert "conversation" not in page.query_params
    assert words.DELETED.format(title="Why?") in page_text(page)
    press(page, words.UNDO)
    assert titles(page) == ["Why?"]
    assert page.query_params["conversation"] == conversation_id
    assert "For this reason." in page_text(page)
    assert words.UNDO not in page_text(page)


def test_an_unconfirmed_deletion_deletes_nothing(page: AppTest, begin: Begin) -> None:
    conversation_id = begin("Why?")
    choose(page.run(), conversation_id, "delete").button(key="cancel").click().run()
    assert titles(page) == ["Why?"]
    assert words.CANCEL not in page_text(page)
    assert words.UNDO not in page_text(page)


def test_undo_disappears_with_the_next_action(page: AppTest, begin: Begin) -> None:
    conversation_id = begin("Why?")
    choose(page.run(), conversation_id, "delete").button(key="delete").click().run()
    press(page, words.NEW_CONVERSATION)
    assert words.UNDO not in page_text(page)


def test_a_conversation_purged_in_the_meantime_is_reported(
    page: AppTest, begin: Begin, services: Services
) -> None:
    conversation_id = begin("Why?")
    choose(page.run(), conversation_id, "rename")
    services.conversations.delete(LOCAL_USER, conversation_id)
    press(page, words.KEEP_TITLE)
    assert "There is no conversation" in page_text(page)


def test_exports_have_three_formats_and_are_built_on_request(page: AppTest, begin: Begin) -> None:
    conversation_id = begin("How many days?")
    choose(page.run(), conversation_id, "export")
    labels = [button.label for button in page.download_button]
    assert labels == [*words.EXPORT_FORMS.values()]
    for button in page.download_button:  # a file that is already built has an address
        assert button.proto.deferred_file_id
        assert not button.proto.url


@pytest.mark.parametrize(("action", "note"), [("share", "SHARE_NOTE"), ("export", "EXPORT_NOTE")])
def test_a_dialog_for_files_lists_what_they_contain(
    page: AppTest, begin: Begin, action: str, note: str
) -> None:
    conversation_id = begin("How many days?")
    choose(page.run(), conversation_id, action)
    [text] = [one.value for one in page.markdown if getattr(words, note) in one.value]
    assert text.splitlines()[2:] == [f"- {one}" for one in words.FILE_CONTENTS]


def test_an_exported_conversation_is_imported_and_opened(
    page: AppTest, begin: Begin, services: Services
) -> None:
    conversation_id = begin("Why?", "For this reason.")
    data = services.conversations.export(LOCAL_USER, conversation_id, "json")
    page.run().file_uploader[0].upload("why.json", data, "application/json").run()
    first, second = titles(page)
    assert first != second
    assert {title.split()[0] for title in (first, second)} == {"Why?"}
    assert page.query_params["conversation"] != conversation_id
    assert "For this reason." in page_text(page)
    assert [toast.value for toast in page.toast] == [
        words.CONVERSATION_IMPORTED.format(title="Why?")
    ]
    assert not page.run().toast
    assert titles(page) == [first, second]


def test_a_file_without_a_conversation_is_rejected(page: AppTest) -> None:
    page.run().file_uploader[0].upload("why.json", b"{}", "application/json").run()
    assert "not a conversation that Footnote exported" in page_text(page)
    assert titles(page) == []
