"""The document page."""

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
import streamlit as st
from PIL import Image
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Button

from errors import UnreadableError
from services.library.reader_service import Cited, DocumentView, Freshness, Span, ViewContent
from tests.pages.conftest import APP, Services, page_text
from ui.text import words

BEFORE, FOCUS, AFTER = "Before it. ", "<b>Ten</b> days of leave. ", "After it."
TEXT = BEFORE + FOCUS + AFTER
STORED = Freshness("v1", 12, datetime.now(UTC) - timedelta(days=34, minutes=5))


def view(**changes: object) -> DocumentView:
    """The middle passage of three, with a highlighted quote; the text starts at character 100."""
    start = 100 + len(BEFORE)
    plain = {
        "document_id": "d1",
        "title": "Leave <policy>",
        "location": "/files/leave.md",
        "format": "md",
        "content": ViewContent.STORED,
        "stored": STORED,
        "text": TEXT,
        "start": 100,
        "focus": Span(start, start + len(FOCUS)),
        "marks": (Span(start, start + 10),),
        "heading_path": ("Leave policy", "Annual leave"),
        "ordinal": 2,
        "passages": 3,
        "previous": Span(100, start),
        "next": Span(start + len(FOCUS), start + len(FOCUS + AFTER)),
        "question": "How many days?",
    }
    return DocumentView(**(plain | changes))  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _no_cached_pictures() -> Iterator[None]:
    st.cache_data.clear()
    yield
    st.cache_data.clear()


def open_document(services: Services, **address: str) -> AppTest:
    page = AppTest.from_file(str(APP), default_timeout=20)
    page.query_params.update(address or {"id": "d1"})
    page.switch_page("pages/document.py")
    return page.run()


def test_a_document_is_shown_around_the_passage_with_the_quote_highlighted(
    services: Services,
) -> None:
    services.reader.document = view()
    html = page_text(open_document(services, id="d1", start="111", end="121"))
    assert "Leave &lt;policy&gt;" in html
    assert "Leave policy › Annual leave" in html
    assert "imported 34 days ago, version 12" in html
    assert "/files/leave.md" in html
    assert "How many days?" in html
    assert "<mark>&lt;b&gt;Ten&lt;/b&gt;</mark>" in html
    assert f'<span class="fn-around">{BEFORE}</span>' in html
    assert "<b>" not in html
    assert services.reader.views == [("d1", 111, 121, None)]


def test_the_url_names_the_answer_that_cites_the_passage(services: Services) -> None:
    services.reader.document = view()
    open_document(services, id="d1", start="111", end="121", conversation="c1", turn="t1", n="2")
    assert services.reader.views == [("d1", 111, 121, Cited("c1", "t1", 2))]


def test_next_and_previous_move_between_passages(services: Services) -> None:
    services.reader.document = view()
    page = open_document(
        services, id="d1", start="111", end="121", conversation="c1", turn="t1", n="2"
    )
    assert words.PASSAGE_OF.format(ordinal=2, passages=3) in page_text(page)
    button(page, words.NEXT_PASSAGE).click().run()
    assert services.reader.views[-1] == ("d1", *view().next, Cited("c1", "t1", 2))  # type: ignore[misc]
    button(page, words.PREVIOUS_PASSAGE).click().run()
    assert services.reader.views[-1] == ("d1", *view().previous, Cited("c1", "t1", 2))  # type: ignore[misc]


def test_the_first_and_last_passage_have_no_further_neighbor(services: Services) -> None:
    services.reader.document = view(previous=None, next=None)
    page = open_document(services)
    assert button(page, words.PREVIOUS_PASSAGE).disabled
    assert button(page, words.NEXT_PASSAGE).disabled


def test_a_changed_document_shows_the_stored_text_and_links_to_the_current_one(
    services: Services,
) -> None:
    services.reader.document = view(
        content=ViewContent.SAVED_CHANGED, passages=0, now=Span(300, 320)
    )
    page = open_document(
        services, id="d1", start="111", end="121", conversation="c1", turn="t1", n="2"
    )
    assert words.DOCUMENT_CHANGED in page_text(page)
    button(page, words.SHOW_NOW).click().run()
    assert services.reader.views[-1] == ("d1", 300, 320, None)


def test_a_removed_document_shows_the_stored_text(services: Services) -> None:
    services.reader.document = view(content=ViewContent.SAVED_REMOVED, passages=0, stored=None)
    page = open_document(services)
    html = page_text(page)
    assert words.DOCUMENT_REMOVED in html
    assert words.GONE in html
    assert "<mark>" in html
    assert not page.button


@pytest.mark.parametrize(
    "address",
    [{"start": "1"}, {"id": "d1", "start": "x"}, {"id": "d1", "end": "-5"}, {"id": "d1", "n": "²"}],
)
def test_a_broken_link_is_reported(services: Services, address: dict[str, str]) -> None:
    html = page_text(open_document(services, **address))
    assert words.BROKEN_LINK in html
    assert services.reader.views == []


def test_a_missing_document_is_reported_without_a_traceback(services: Services) -> None:
    assert "This document is not in the library." in page_text(open_document(services))


@pytest.mark.parametrize(
    ("location", "link"),
    [
        ("https://wiki.example/leave", 'href="https://wiki.example/leave"'),
        ("javascript:alert(1)", ""),
        ("/files/leave.md", ""),
    ],
)
def test_only_an_original_on_the_web_is_a_link(
    services: Services, location: str, link: str
) -> None:
    services.reader.document = view(location=location)
    html = page_text(open_document(services))
    assert link in html
    assert html.count("href=") == bool(link)


def test_a_pdf_shows_the_original_page_next_to_the_text(services: Services) -> None:
    picture = io.BytesIO()
    Image.new("RGB", (20, 20), "white").save(picture, "PNG")
    services.reader.document = view(format="pdf", location="/files/leave.pdf", page=7)
    services.reader.picture = picture.getvalue()
    page = open_document(services)
    assert len(page.get("image")) == 1
    assert "page 7" in page_text(page)


def test_the_reason_is_shown_if_a_page_image_cannot_be_drawn(services: Services) -> None:
    services.reader.document = view(format="pdf", location="/files/leave.pdf", page=7)
    services.reader.picture = UnreadableError("The original file has changed.")
    html = page_text(open_document(services))
    assert "The original file has changed." in html
    assert "<mark>" in html


def button(page: AppTest, label: str) -> Button:
    return next(one for one in page.button if one.label == label)
