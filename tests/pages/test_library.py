"""The library page without a browser, over real services and a recording import queue."""

import re
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from domain import LOCAL_USER, DocumentFilter, Principal, Role
from domain.errors import StorageError
from storage.ledger.document_store import document_id
from storage.ledger.source_store import MIRROR_PERMISSIONS
from tests.fakes.library import DictLoader, Library, filled_library
from tests.pages.conftest import install_services, page_in_frame, page_text
from tests.pages.library_double import Services
from ui.library import library_table
from ui.library.library_table import TITLE_IN_ADDRESS, title_address
from ui.shared import row_selection, session
from ui.text import words

PAGE = "library.py"
LONG = "A sentence about the annual leave of new employees. " * 30
TEXTS = {"handbook/leave.md": LONG, "휴가.md": "연차 휴가는 15일입니다.", "<i>vpn.md": "VPN."}


@pytest.fixture
def services(tmp_path, monkeypatch) -> Iterator[Services]:
    yield from install_services(Services(filled_library(tmp_path, TEXTS)), monkeypatch)


@pytest.fixture
def page(services) -> AppTest:
    return page_in_frame(PAGE).run()


@pytest.fixture
def mark(monkeypatch):
    """Selects table rows, which AppTest cannot do."""

    def mark(*rows):
        monkeypatch.setattr(row_selection, "row_numbers", lambda _event: list(rows))

    return mark


def titles(page):
    return [title(address) for address in addresses(page)]


def title(address):
    return unquote(re.match(TITLE_IN_ADDRESS, address)[1])


def addresses(page):
    return list(page.dataframe[0].value["title"])


def button(page, label):
    return next(one for one in page.button if one.label == label)


def open_view(page, view):
    page.segmented_control(key="library_view").set_value(view).run()


def test_every_document_is_a_row_with_its_facts(page):
    rows = page.dataframe[0].value
    rows = rows.assign(title=rows["title"].map(title)).set_index("title")
    assert list(rows.index) == ["<i>vpn.md", "leave.md", "휴가.md"]
    assert rows.loc["휴가.md"]["language"] == words.SCRIPT_NAMES["korean"]
    leave = rows.loc["leave.md"]
    assert (leave["source"], leave["format"], leave["encoding"]) == ("docs", "txt", "utf-8")
    assert (leave["version"], leave["key"]) == (1, "handbook/leave.md")
    assert leave["passages"] > 1
    assert leave["longest"] <= 200
    assert words.count(words.DOCUMENTS, 9) in page_text(page)


@pytest.mark.parametrize("name", ["a & b?id=1#2", "50 % = 5/10", "휴가 규정", "<i>", "x&id=other"])
def test_a_title_opens_its_document_in_the_reader(services, name):
    [document, *_] = services.documents.page(LOCAL_USER, DocumentFilter(), limit=1).documents
    address = title_address(replace(document, title=name))
    assert parse_qs(urlsplit(address).query)["id"] == [document.id]
    assert urlsplit(address).path == "document"
    assert title(address) == name.replace("#", "＃")


def open_filter(page, *, is_open=True):
    page.session_state["library-narrow"] = is_open
    return page.run()


def test_the_list_follows_the_search_the_filter_and_the_order(page):
    page.text_input(key="library_words").set_value("HANDBOOK").run()
    assert titles(page) == ["leave.md"]
    page.text_input(key="library_words").set_value("").run()
    open_filter(page)
    page.multiselect(key="library_scripts").set_value(["korean"]).run()
    assert titles(page) == ["휴가.md"]
    open_filter(page)  # AppTest does not support popovers: it loses the open state
    page.multiselect(key="library_scripts").set_value([]).run()
    page.selectbox(key="library_order").set_value("passages").run()
    assert titles(page)[0] == "leave.md"


def test_the_filter_is_built_when_opened_and_applies_when_closed(page):
    assert not page.multiselect
    open_filter(page)
    page.multiselect(key="library_scripts").set_value(["korean"]).run()
    open_filter(page, is_open=False)
    assert not page.multiselect
    assert titles(page) == ["휴가.md"]
    assert titles(page.run()) == ["휴가.md"]


def test_a_search_without_matches_is_reported(page):
    page.text_input(key="library_words").set_value("%").run()
    assert words.NONE_MATCHES in page_text(page)


def test_documents_are_paged(services, monkeypatch):
    monkeypatch.setattr(library_table, "ROWS", 2)
    page = page_in_frame(PAGE)
    assert len(titles(page.run())) == 2
    page.get("pagination")[0].set_value(2).run()
    assert titles(page) == ["휴가.md"]
    page.text_input(key="library_words").set_value("leave").run()
    assert titles(page) == ["leave.md"]


def test_a_page_that_no_longer_exists_falls_back_to_the_first(services, monkeypatch):
    monkeypatch.setattr(library_table, "ROWS", 2)
    page = page_in_frame(PAGE)
    page.run().get("pagination")[0].set_value(2).run()
    services.fake.load(DictLoader({"vpn.md": "VPN."}), confirm_removals=True)
    assert titles(page.run()) == ["vpn.md"]


def test_dismissing_the_last_page_of_failures_shows_the_first(page, services, mark, monkeypatch):
    monkeypatch.setattr(library_table, "ROWS", 2)
    services.fail("a.pdf", "b.pdf", "c.pdf")
    open_view(page.run(), "failures")
    page.get("pagination")[0].set_value(2).run()
    mark(0)
    button(page.run(), words.count(words.DISMISS_CHOSEN, 1)).click().run()
    assert list(page.dataframe[0].value[words.COLUMN_KEY]) == ["a.pdf", "b.pdf"]


def test_selected_documents_are_reimported(page, services, mark):
    mark(1, 2)
    page.run()
    assert words.count(words.DOCUMENTS_CHOSEN, 2) in page_text(page)
    button(page, words.READ_AGAIN).click().run()
    assert services.queue.requests == [
        (services.fake.source.id, ["handbook/leave.md", "휴가.md"], False)
    ]
    assert words.count(words.WILL_IMPORT, 2) in page_text(page)


def test_a_reader_sees_why_the_buttons_for_changes_are_disabled(page, mark, monkeypatch):
    monkeypatch.setattr(session, "principal", lambda services: Principal("ada"))
    mark(1, 2)
    page.run()
    for label in (words.READ_AGAIN, words.LIBRARY_REMOVE):
        assert (button(page, label).disabled, button(page, label).help) == (True, words.FOR_EDITORS)


def test_an_import_in_progress_is_shown(page, services, mark):
    mark(1)
    button(page.run(), words.READ_AGAIN).click().run()
    assert words.count(words.WILL_IMPORT, 1) in page_text(page)
    assert words.count(words.LIBRARY_UNDER_WAY, 1) in page_text(page)


def test_the_page_reruns_when_the_import_ends_and_stops_mentioning_it(
    page, services, mark, monkeypatch
):
    answers = [["i1"], []]

    def current(principal):
        return [SimpleNamespace(id=id_) for id_ in (answers.pop(0) if answers else [])]

    mark(1)
    page.run()
    monkeypatch.setattr(services.queue, "current", current)
    button(page, words.READ_AGAIN).click().run()
    assert not answers
    assert "fn-status" not in page_text(page)


def test_selected_documents_stay_selected_when_others_disappear(page, services, mark, monkeypatch):
    mark(2)
    page.run()
    services.fake.load(DictLoader({"휴가.md": TEXTS["휴가.md"]}), confirm_removals=True)
    monkeypatch.setattr(row_selection, "row_numbers", lambda event: event["selection"]["rows"])
    page.run()
    assert titles(page) == ["휴가.md"]
    assert words.count(words.DOCUMENTS_CHOSEN, 1) in page_text(page)


def test_import_times_use_the_readers_time_zone(page):
    page.session_state["timezone"] = "Asia/Seoul"
    imported = page.run().dataframe[0].value["imported"]
    assert str(imported.dt.tz) == "Asia/Seoul"


def test_nothing_is_removed_without_confirmation(page, services, mark):
    mark(1)
    page.run()
    button(page, words.LIBRARY_REMOVE).click().run()
    assert words.LIBRARY_REMOVE_MEANS.split("“")[0] in page_text(page)
    button(page, words.KEEP_THEM).click().run()
    assert services.queue.requests == []
    assert words.count(words.LIBRARY_REMOVE_NOW, 1) not in page_text(page)


def test_clearing_the_selection_dismisses_the_removal_confirmation(page, mark):
    mark(1)
    page.run()
    button(page, words.LIBRARY_REMOVE).click().run()
    mark()
    page.run()
    mark(2)
    assert words.count(words.LIBRARY_REMOVE_NOW, 1) not in [one.label for one in page.run().button]


def test_documents_of_a_folder_can_be_excluded_and_restored(page, services, mark):
    page.toggle[-1].set_value(True).run()
    button(page, words.LIBRARY_REMOVE).click().run()
    button(page, words.count(words.LIBRARY_REMOVE_NOW, 3)).click().run()
    source = services.fake.source.id
    assert services.queue.requests == [(source, sorted(TEXTS), True)]
    assert services.fake.sources.get(source).options["left_out"] == sorted(TEXTS)
    assert words.count(words.WILL_REMOVE, 3) in page_text(page)

    open_view(page, "left out")
    button(page, words.count(words.TAKE_BACK_ALL, 3)).click().run()
    assert services.fake.sources.get(source).options["left_out"] == []
    assert services.queue.requests[-1] == (source, sorted(TEXTS), False)
    assert words.NOTHING_EXCLUDED in page_text(page)


def test_files_of_an_upload_source_are_deleted(page, services, mark):
    box = services.fake.sources.ensure("upload", "uploads/b", name="Uploads")
    services.fake.load(DictLoader({"mine.md": "My own file."}), source=box)
    page.text_input(key="library_words").set_value("mine").run()
    mark(0)
    button(page.run(), words.LIBRARY_REMOVE).click().run()
    button(page, words.count(words.LIBRARY_REMOVE_NOW, 1)).click().run()
    assert services.boxes.deleted == ["mine.md"]
    assert "left_out" not in services.fake.sources.get(box.id).options


def test_failures_stay_until_they_are_retried_or_dismissed(page, services, mark):
    services.fail("a.pdf", "b.pdf")
    open_view(page.run(), "failures")
    rows = page.dataframe[0].value
    assert list(rows[words.COLUMN_REASON]) == ["a.pdf is damaged", "b.pdf is damaged"]
    button(page, words.count(words.RETRY_ALL, 2)).click().run()
    assert services.queue.requests == [(services.fake.source.id, ["a.pdf", "b.pdf"], False)]
    mark(0)
    button(page.run(), words.count(words.DISMISS_CHOSEN, 1)).click().run()
    assert list(page.dataframe[0].value[words.COLUMN_KEY]) == ["b.pdf"]
    button(page, words.count(words.DISMISS_CHOSEN, 1)).click().run()
    assert words.NO_FAILURES in page_text(page)


def test_failures_that_are_not_listed_are_counted(page, services, mark, monkeypatch):
    editor = Principal("ada", role=Role.EDITOR)
    fake = services.fake
    fake.sources.set_options(fake.source.id, {MIRROR_PERMISSIONS: True})
    services.fail("a.pdf", "b.pdf")
    open_view(page.run(), "failures")
    monkeypatch.setattr(session, "principal", lambda services: editor)
    text = page_text(page.run())
    assert words.count(words.FAILURES_UNNAMED, 2) in text
    assert words.NO_FAILURES not in text


def test_selected_failures_stay_selected_when_another_is_fixed(page, services, mark, monkeypatch):
    services.fail("a.pdf", "b.pdf")
    mark(1)
    open_view(page.run(), "failures")
    services.failures.dismiss(LOCAL_USER, [(services.fake.source.id, "a.pdf")])
    monkeypatch.setattr(row_selection, "row_numbers", lambda event: event["selection"]["rows"])
    page.run()
    assert list(page.dataframe[0].value[words.COLUMN_KEY]) == ["b.pdf"]
    assert button(page, words.count(words.RETRY_CHOSEN, 1))


def test_selecting_one_document_shows_its_passages_and_overlaps(page, services, mark):
    mark(1)
    button(page.run(), words.SHOW_PASSAGES).click().run()
    html = page_text(page)
    assert "handbook/leave.md" in html
    assert html.count('<article class="fn-chunk">') > 1
    assert "<mark>" in html
    id_ = document_id(services.fake.source.id, "handbook/leave.md")
    assert f'href="document?id={id_}&amp;start=0&amp;end=' in html
    button(page, words.BACK_TO_LIBRARY).click().run()
    assert len(page.dataframe) == 1


def test_markup_in_a_document_is_shown_as_text(page, services):
    page.query_params["id"] = document_id(services.fake.source.id, "<i>vpn.md")
    html = page_text(page.run())
    assert "<i>vpn" not in html
    assert "&lt;i&gt;vpn" in html


def test_a_missing_document_is_reported(page):
    page.query_params["id"] = "gone"
    assert "There is no document gone in the library" in page_text(page.run())


def test_charts_show_sources_languages_passages_and_imports(page):
    open_view(page, "figures")
    html = page_text(page)
    for title in (words.SOURCES_CHART, words.LANGUAGES_CHART, words.PASSAGES_CHART):
        assert title in html
    assert words.NO_IMPORTS not in html


def test_an_empty_library_says_how_to_fill_it(tmp_path, monkeypatch):
    services = Services(Library(tmp_path))
    services.library.now.documents = 0
    services.library.now.notices = ("The index was made with other settings.",)
    for _ in install_services(services, monkeypatch):
        page = page_in_frame(PAGE)
        html = page_text(page.run())
        assert words.LIBRARY_NOTHING in html
        assert "The index was made with other settings." in html


def test_without_a_worker_the_page_says_that_the_import_waits(page, services, mark):
    services.queue.working = False
    mark(0)
    button(page.run(), words.READ_AGAIN).click().run()
    assert words.LIBRARY_NO_WORKER in page_text(page)


def test_an_error_of_the_queue_is_shown_unchanged(page, services, mark):
    services.queue.error = StorageError("The data folder has no space left.")
    mark(0)
    button(page.run(), words.READ_AGAIN).click().run()
    assert "The data folder has no space left." in page_text(page)
    button(page, words.LIBRARY_REMOVE).click().run()
    button(page, words.count(words.LIBRARY_REMOVE_NOW, 1)).click().run()
    assert "The data folder has no space left." in page_text(page)
    services.fail("a.pdf")
    open_view(page.run(), "failures")
    button(page, words.count(words.RETRY_CHOSEN, 1)).click().run()
    assert "The data folder has no space left." in page_text(page)
