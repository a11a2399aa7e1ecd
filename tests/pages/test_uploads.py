"""Files dropped on the chat, over real services."""

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER, Scope, SearchChoice
from tests.pages.conftest import APP, install_services
from tests.pages.question_pages import drop_page
from ui.text import words


@pytest.fixture
def services(monkeypatch, build_services):
    yield from install_services(build_services(embed=True), monkeypatch)


def drop(files, conversation="", text="About the VPN"):
    page = AppTest.from_function(drop_page, default_timeout=30)
    if conversation:
        page.query_params["conversation"] = conversation
    page.run()
    for name, data in files:
        page.chat_input[0].upload(name, data, "application/octet-stream")
    page.chat_input[0].set_value(text).run()
    assert not page.exception
    return page


def lines(page):
    return next(one.value for one in page.html if "fn-files" in one.value)


def test_dropped_files_start_a_conversation_and_can_be_searched_immediately(services):
    page = drop([("vpn.md", b"# VPN\n\nChoose Bristol."), ("a.txt", b"Lunch is at noon.")])
    assert page.query_params["conversation"] == page.session_state["conversation_id"]
    assert page.status[0].label == words.FILES_READY
    assert page.status[0].state == "complete"
    assert "ready: 1 passage" in lines(page)
    conversation = services.conversations.get(LOCAL_USER, page.session_state["conversation_id"])
    assert conversation.title == "About the VPN"
    turn = services.chat.ask(LOCAL_USER, "Which gateway is it, Bristol?", conversation.id)
    assert "vpn.md" in [source.location.rpartition("/")[2] for source in turn.sources]
    outside = services.chat.ask(LOCAL_USER, "Which gateway is it, Bristol?")
    assert not outside.sources


def test_files_of_a_dropped_folder_keep_their_folders(services):
    page = drop([("office/rules.md", b"# Office"), ("office/travel/rules.md", b"# Travel")])
    box = services.uploads.box_of(LOCAL_USER, page.session_state["conversation_id"])
    names = ["office/rules.md", "office/travel/rules.md"]
    assert services.uploads.keys(LOCAL_USER, box.id) == names
    assert lines(page).count("ready: 1 passage") == 2


def test_rejected_and_unreadable_files_are_reported_with_their_reasons(services):
    files = [("a.exe", b"MZ"), ("broken.pdf", b"no pdf"), ("good.md", b"# Good\n\nYes.")]
    page = drop(files)
    assert page.status[0].label == words.FILES_SOME_FAILED
    assert "does not read .exe files" in lines(page)
    assert "could not be read" in lines(page)
    assert "ready: 1 passage" in lines(page)
    page.query_params["conversation"] = page.session_state["conversation_id"]
    page.run()
    html = "".join(one.value for one in page.html)
    assert "a.exe: rejected" in html
    assert "broken.pdf: could not be read" in html
    next(one for one in page.button if one.label == words.FILES_DISMISS).click().run()
    assert "broken.pdf" not in "".join(one.value for one in page.html)


def test_without_accepted_files_nothing_is_imported(services):
    page = drop([("a.exe", b"MZ")])
    assert page.status[0].state == "error"
    assert services.uploads.boxes(LOCAL_USER) == []


def test_a_file_dropped_twice_is_reported_as_present(services):
    conversation_id = drop([("vpn.md", b"# VPN\n\nBristol.")]).session_state["conversation_id"]
    page = drop([("vpn.md", b"# VPN\n\nBristol.")], conversation_id)
    assert page.session_state["conversation_id"] == conversation_id
    assert words.FILE_UNCHANGED in lines(page)


def test_files_of_a_conversation_are_listed_and_can_be_removed(services):
    files = [("vpn.md", b"# VPN\n\nBristol."), ("a.txt", b"Lunch.")]
    conversation_id = drop(files).session_state["conversation_id"]
    page = AppTest.from_function(drop_page, default_timeout=30)
    page.query_params["conversation"] = conversation_id
    page.run()
    assert [one.value for one in page.text] == ["a.txt", "vpn.md"]
    box = services.uploads.box_of(LOCAL_USER, conversation_id)
    button = page.button(key=f"take-out-{box.id}-vpn.md")
    assert button.label == "Remove vpn.md from this conversation"
    button.click().run()
    assert not page.exception
    assert [one.value for one in page.text] == ["a.txt"]
    assert [one.key for one in services.library.documents.list(box.id)] == ["a.txt"]
    assert services.uploads.keys(LOCAL_USER, box.id) == ["a.txt"]


def test_a_conversation_with_a_scope_also_searches_its_dropped_files(services, handbook):
    services.directories.import_directory(LOCAL_USER, handbook)
    narrow = SearchChoice(Scope(collections=("handbook",), formats=("pdf",)))
    conversation_id = services.conversations.begin(LOCAL_USER, "Leave", narrow).id
    drop([("lunch.md", b"# Lunch\n\nAt noon, in Bristol.")], conversation_id)
    assert services.conversations.get(LOCAL_USER, conversation_id).search == narrow
    turn = services.chat.ask(LOCAL_USER, "When is lunch?", conversation_id)
    assert "lunch.md" in [source.location.rpartition("/")[2] for source in turn.sources]


def test_a_reload_shows_that_files_are_still_being_imported(services):
    conversation_id = drop([("vpn.md", b"# VPN")]).session_state["conversation_id"]
    services.queue.enqueue(LOCAL_USER, services.uploads.box_of(LOCAL_USER, conversation_id).id)
    page = AppTest.from_function(drop_page, default_timeout=30)
    page.query_params["conversation"] = conversation_id
    assert page.run().caption[0].value == words.FILES_UNDER_WAY
    import_run = services.queue.current(LOCAL_USER)[0]
    services.worker.wait(LOCAL_USER, import_run.id)
    page.button(key="check-files").click().run()
    assert words.FILES_UNDER_WAY not in [one.value for one in page.caption]


@pytest.mark.parametrize("data", [b"# VPN\n\nChoose the Bristol gateway for the VPN.", b""])
def test_the_first_file_of_a_library_can_be_dropped_with_a_question(services, data):
    page = AppTest.from_file(str(APP), default_timeout=30).run()
    page.chat_input[0].upload("vpn.md", data, "text/markdown")
    page.chat_input[0].set_value("Which gateway do I choose for the VPN?").run()
    assert not page.exception
    html = "".join(one.value for one in page.html)
    assert ("Bristol gateway" in html) is bool(data)
    assert (words.EMPTY_LIBRARY in html) is (not data)
