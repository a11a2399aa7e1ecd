"""Long lists, page by page."""

import streamlit as st


def offset_of(key: str, rows: int) -> int:
    """How many rows stand before the page that is shown, of so many rows a page."""
    return rows * (int(st.session_state.get(key, 1)) - 1)


def show_pages(total: int, rows: int, key: str) -> None:
    """Show the choice of a page, where there is more than one."""
    if total > rows:
        st.pagination(-(-total // rows), key=key)
