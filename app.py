"""Entry point of the browser pages, run by `commands/pages_process.py`.

The server imports this file for `app`, whose middleware guards everything it serves. For each
reader it then runs the file as a script that shows the pages.
"""

from typing import Literal

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from ui.shared import frame, sign_in_page
from ui.shared.server_middleware import server_middleware
from ui.text import words


def show_pages() -> None:
    """Show the navigation and the opened page, or only the sign-in."""
    frame.show_frame()
    if frame.needs_sign_in():
        st.navigation(_pages(has_catalogs=False), position="hidden")
        sign_in_page.show_sign_in()
        return
    sign_in_page.use_administrator_link()
    page = st.navigation(_pages(has_catalogs=frame.has_catalogs()), position="top")
    frame.return_to_opened_page()
    with frame.show_errors():
        sign_in_page.show_person()
        page.run()


def _pages(*, has_catalogs: bool) -> list[StreamlitPage]:
    return [
        st.Page("pages/chat.py", title=words.ASK_PAGE, icon=":material/forum:", default=True),
        st.Page(
            "pages/catalogue.py",
            title=words.PLACES_PAGE,
            icon=":material/location_on:",
            visibility=_visibility(is_visible=has_catalogs),
        ),
        st.Page("pages/library.py", title=words.LIBRARY_PAGE, icon=":material/local_library:"),
        _page_for_some("pages/imports.py", words.IMPORT_PAGE, ":material/sync:"),
        st.Page("pages/retrieval_lab.py", title=words.LAB_PAGE, icon=":material/science:"),
        _page_for_some("pages/app_settings.py", words.SETTINGS_PAGE, ":material/settings:"),
        st.Page(
            frame.ADMINISTRATION_PAGE,
            title=words.ADMINISTRATION_PAGE,
            icon=":material/group:",
            visibility=_visibility(
                is_visible=frame.has_sign_in() and frame.may_open(frame.ADMINISTRATION_PAGE)
            ),
        ),
        st.Page("pages/status.py", title=words.STATUS_PAGE, visibility="hidden"),
        st.Page("pages/document.py", title=words.DOCUMENT_PAGE, visibility="hidden"),
    ]


def _page_for_some(path: str, title: str, icon: str) -> StreamlitPage:
    """A page that is listed only for people whose role permits it."""
    return st.Page(
        path, title=title, icon=icon, visibility=_visibility(is_visible=frame.may_open(path))
    )


def _visibility(*, is_visible: bool) -> Literal["visible", "hidden"]:
    return "visible" if is_visible else "hidden"


if __name__ == "__main__":
    show_pages()
else:
    app = st.App(__file__, middleware=server_middleware())
