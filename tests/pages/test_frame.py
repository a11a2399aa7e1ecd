"""Pages run only inside the frame."""

import ast
from pathlib import Path

import pytest
import streamlit as st
from streamlit.navigation.page import StreamlitPage
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import APP, Services, page_text
from ui.text import words

PAGES = sorted((Path(__file__).parents[2] / "pages").glob("*.py"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_each_page_first_requires_the_frame(path: Path) -> None:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    statements = [
        node
        for node in body
        if not isinstance(node, ast.Import | ast.ImportFrom)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    assert ast.unparse(statements[0]) == f"frame.require_frame('pages/{path.name}')"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_each_page_script_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 80


def test_the_frame_uses_the_readers_language_and_sets_it_in_the_browser(
    services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_LANGUAGE", "ja")
    html = page_text(AppTest.from_file(str(APP), default_timeout=20).run())
    assert '<script data-language="ja">' in html
    assert "手元の文書から" in html


def visible_pages(
    monkeypatch: pytest.MonkeyPatch, user: dict[str, object] | None = None
) -> list[str]:
    """The titles in the menu of the opened pages, for the user with these claims."""
    menus = []
    navigation = st.navigation

    def recorded(pages: list[StreamlitPage], **options: str) -> StreamlitPage:
        menus.append([page.title for page in pages if page.visibility == "visible"])
        return navigation(pages, **options)

    monkeypatch.setattr(st, "navigation", recorded)
    page = AppTest.from_file(str(APP), default_timeout=20)
    page.user = user or {}
    page_text(page.run())
    return menus[0]


@pytest.mark.parametrize(("catalogs", "is_listed"), [(0, False), (1, True)])
def test_the_menu_lists_places_only_if_there_is_a_catalog(
    services: Services, monkeypatch: pytest.MonkeyPatch, catalogs: int, is_listed: bool
) -> None:
    services.library.catalogs = catalogs
    assert (words.PLACES_PAGE in visible_pages(monkeypatch)) is is_listed
