"""Entry point of the browser pages: `streamlit run app.py`."""

import streamlit as st

import ui
from ui import words

ui.show_frame()
page = st.navigation(
    [st.Page("pages/chat.py", title=words.ASK_PAGE, icon=":material/forum:", default=True)],
    position="hidden",  # one page so far
)
with ui.errors_shown():
    page.run()
