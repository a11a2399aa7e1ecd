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
from services.reader import Cited, DocumentView, Freshness, Shown, Span
from tests.pages.conftest import APP, Services, shown
from ui import words

BEFORE, FOCUS, AFTER = "Before it. ", "<b>Ten</b> days of leave. ", "After it."
TEXT = BEFORE + FOCUS + AFTER
STORED = Freshness("v1", 12, datetime.now(UTC) - timedelta(days=34, minutes=5))


def view(**changes: object) -> DocumentView:
    """The middle passage of three, with a quote marked; the text begins at character 100."""
    start = 100 + len(BEFORE)
    plain = {
        "document_id": "d1",
        "title": "Leave <policy>",
        "location": "/files/leave.md",
        "format": "md",
        "shown": Shown.STORED,
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
def _no_pictures_kept() -> Iterator[None]:
    st.cache_data.clear()
    yield
    st.cache_data.clear()


def opened(services: Services, **address: str) -> AppTest:
    page = AppTest.from_file(str(APP), default_timeout=20)
    page.query_params.update(address or {"id": "d1"})
    page.switch_page("pages/document.py")
    return page.run()


def test_a_document_is_shown_around_the_passage_with_the_quote_marked(services: Services) -> None:
    services.reader.shown = view()
    html = shown(opened(services, id="d1", start="111", end="121"))
    assert "Leave &lt;policy&gt;" in html
    assert "Leave policy › Annual leave" in html
    assert "imported 34 days ago, version 12" in html
    assert "/files/leave.md" in html
    assert "How many days?" in html
    assert "<mark>&lt;b&gt;Ten&lt;/b&gt;</mark>" in html
    assert f'<span class="fn-around">{BEFORE}</span>' in html
    assert "<b>" not in html
    assert services.reader.asked == [("d1", 111, 121, None)]


def test_the_answer_that_cites_it_is_named_in_the_address(services: Services) -> None:
    services.reader.shown = view()
    opened(services, id="d1", start="111", end="121", conversation="c1", turn="t1", n="2")
    assert services.reader.asked == [("d1", 111, 121, Cited("c1", "t1", 2))]


def test_one_goes_from_passage_to_passage(services: Services) -> None:
    services.reader.shown = view()
    page = opened(services, id="d1", start="111", end="121", conversation="c1", turn="t1", n="2")
    assert words.PASSAGE_OF.format(ordinal=2, passages=3) in shown(page)
    button(page, words.NEXT_PASSAGE).click().run()
    assert services.reader.asked[-1] == ("d1", *view().next, Cited("c1", "t1", 2))  # type: ignore[misc]
    button(page, words.PREVIOUS_PASSAGE).click().run()
    assert services.reader.asked[-1] == ("d1", *view().previous, Cited("c1", "t1", 2))  # type: ignore[misc]


def test_there_is_nothing_before_the_first_and_after_the_last(services: Services) -> None:
    services.reader.shown = view(previous=None, next=None)
    page = opened(services)
    assert button(page, words.PREVIOUS_PASSAGE).disabled
    assert button(page, words.NEXT_PASSAGE).disabled


def test_a_changed_document_shows_what_was_kept_and_leads_to_today(services: Services) -> None:
    services.reader.shown = view(shown=Shown.KEPT_CHANGED, passages=0, now=Span(300, 320))
    page = opened(services, id="d1", start="111", end="121", conversation="c1", turn="t1", n="2")
    assert words.KEPT_CHANGED in shown(page)
    button(page, words.SHOW_NOW).click().run()
    assert services.reader.asked[-1] == ("d1", 300, 320, None)


def test_a_document_that_is_gone_shows_what_was_kept(services: Services) -> None:
    services.reader.shown = view(shown=Shown.KEPT_GONE, passages=0, stored=None)
    page = opened(services)
    html = shown(page)
    assert words.KEPT_GONE in html
    assert words.GONE in html
    assert "<mark>" in html
    assert not page.button


@pytest.mark.parametrize(
    "address",
    [{"start": "1"}, {"id": "d1", "start": "x"}, {"id": "d1", "end": "-5"}, {"id": "d1", "n": "²"}],
)
def test_a_broken_link_says_so(services: Services, address: dict[str, str]) -> None:
    html = shown(opened(services, **address))
    assert words.BROKEN_LINK in html
    assert services.reader.asked == []


def test_what_is_not_there_is_told_without_a_traceback(services: Services) -> None:
    assert "This document is not in the library." in shown(opened(services))


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
    services.reader.shown = view(location=location)
    html = shown(opened(services))
    assert link in html
    assert html.count("href=") == bool(link)


def test_a_pdf_shows_the_original_page_beside_the_text(services: Services) -> None:
    drawn = io.BytesIO()
    Image.new("RGB", (20, 20), "white").save(drawn, "PNG")
    services.reader.shown = view(format="pdf", location="/files/leave.pdf", page=7)
    services.reader.picture = drawn.getvalue()
    page = opened(services)
    assert len(page.get("image")) == 1
    assert "page 7" in shown(page)


def test_a_picture_that_can_not_be_drawn_says_why(services: Services) -> None:
    services.reader.shown = view(format="pdf", location="/files/leave.pdf", page=7)
    services.reader.picture = UnreadableError("The original file has changed.")
    html = shown(opened(services))
    assert "The original file has changed." in html
    assert "<mark>" in html


def button(page: AppTest, label: str) -> Button:
    return next(one for one in page.button if one.label == label)
