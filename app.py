"""Entry point of the browser pages, run by `commands/pages_process.py`.

The server imports this file for `app`, whose middleware guards everything it serves. For each
reader it then runs the file as a script that shows the pages.
"""

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
        _page("pages/catalogue.py", words.PLACES_PAGE, "location_on", is_listed=has_catalogs),
        _page("pages/library.py", words.LIBRARY_PAGE, "local_library"),
        _page("pages/imports.py", words.IMPORT_PAGE, "sync"),
        _page("pages/retrieval_lab.py", words.LAB_PAGE, "science"),
        _page("pages/app_settings.py", words.SETTINGS_PAGE, "settings"),
        _page(
            frame.ADMINISTRATION_PAGE,
            words.ADMINISTRATION_PAGE,
            "group",
            is_listed=frame.has_sign_in(),
        ),
        _page("pages/status.py", words.STATUS_PAGE, is_listed=False),
        _page("pages/document.py", words.DOCUMENT_PAGE, is_listed=False),
    ]


def _page(path: str, title: str, icon: str = "", *, is_listed: bool = True) -> StreamlitPage:
    """A page, which is listed at most for people whose role permits it."""
    is_visible = is_listed and frame.may_open(path)
    return st.Page(
        path,
        title=title,
        icon=f":material/{icon}:" if icon else None,
        visibility="visible" if is_visible else "hidden",
    )


if __name__ == "__main__":
    show_pages()
else:
    app = st.App(__file__, middleware=server_middleware())
