"""Entry point of the browser pages, run by `commands/pages_process.py`.

The server imports this file for `app`, whose middleware guards everything it serves. For each
reader it then runs the file as a script that shows the pages.
"""

import streamlit as st

from ui.shared import frame
from ui.shared.server_middleware import server_middleware
from ui.text import words


def show_pages() -> None:
    """Show the navigation and the opened page."""
    frame.show_frame()
    page = st.navigation(
        [
            st.Page("pages/chat.py", title=words.ASK_PAGE, icon=":material/forum:", default=True),
            st.Page(
                "pages/catalogue.py",
                title=words.PLACES_PAGE,
                icon=":material/location_on:",
                visibility="visible" if frame.has_catalogs() else "hidden",
            ),
            st.Page("pages/library.py", title=words.LIBRARY_PAGE, icon=":material/local_library:"),
            st.Page("pages/imports.py", title=words.IMPORT_PAGE, icon=":material/sync:"),
            st.Page("pages/retrieval_lab.py", title=words.LAB_PAGE, icon=":material/science:"),
            st.Page("pages/app_settings.py", title=words.SETTINGS_PAGE, icon=":material/settings:"),
            st.Page("pages/status.py", title=words.STATUS_PAGE, visibility="hidden"),
            st.Page("pages/document.py", title=words.DOCUMENT_PAGE, visibility="hidden"),
        ],
        position="top",
    )
    frame.return_to_opened_page()
    with frame.show_errors():
        page.run()


if __name__ == "__main__":
    show_pages()
else:
    app = st.App(__file__, middleware=server_middleware())
