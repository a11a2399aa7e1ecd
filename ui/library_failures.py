"""What could not be read, and what is left out: two lists from which rows can be chosen."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import streamlit as st

from bootstrap import Services
from ui import words
from ui.english.plural import Plural
from ui.errors import errors_shown
from ui.language import day_and_time
from ui.library import marked_rows, source_names, tell
from ui.services import principal

if TYPE_CHECKING:
    from services.own_sources import Named

ROWS = 50
WIDTHS = ("medium", "large")  # of the first columns
FAILURE_PAGE, LEFT_OUT_PAGE = "failures_page", "left_out_page"


def show_failures(services: Services) -> None:
    """Show what could not be read and why; it can be tried again, or dismissed."""
    paged = f"{FAILURE_PAGE}-{services.failures.count(principal())}"
    offset = ROWS * (st.session_state.get(paged, 1) - 1)
    page = services.failures.page(principal(), limit=ROWS, offset=offset)
    if not page.total:
        st.caption(words.NO_FAILURES)
        return
    st.caption(words.FAILURES_NOTE)
    names = source_names(services)
    columns = {
        words.COLUMN_KEY: [one.key for one in page.failures],
        words.COLUMN_REASON: [one.reason for one in page.failures],
        words.COLUMN_SOURCE: [names.get(one.source_id, "") for one in page.failures],
        words.COLUMN_TRIED: [
            day_and_time(one.failed_at) if one.failed_at else "" for one in page.failures
        ],
    }
    listed = [(one.source_id, one.key) for one in page.failures]
    marked = _marked(columns, listed, f"failures-{offset}", words.TABLE_OF_FAILURES)
    _show_pages(page.total, paged)
    _show_failure_buttons(services, marked, page.total)


def _show_failure_buttons(services: Services, marked: "Sequence[Named]", total: int) -> None:
    retry = words.RETRY_CHOSEN if marked else words.RETRY_ALL
    dismiss = words.DISMISS_CHOSEN if marked else words.DISMISS_ALL
    with st.container(horizontal=True):
        retried = _button(retry, len(marked) or total, ":material/sync:", "retry-failed")
        dismissed = _button(dismiss, len(marked) or total, ":material/done_all:", "dismiss-failed")
    if not (retried or dismissed):
        return
    chosen = marked or services.failures.named(principal())
    with errors_shown():
        if retried:
            services.failures.retry(principal(), chosen)
            tell(words.count(words.WILL_IMPORT, len(chosen)))
        services.failures.dismiss(principal(), chosen)
        tell(words.count(words.FAILURES_DISMISSED, len(chosen)))


def show_left_out(services: Services) -> None:
    """Show what imports pass by because a person said so; it can be taken back in."""
    left_out = services.documents.left_out(principal())
    if not left_out:
        st.caption(words.NOTHING_LEFT_OUT)
        return
    st.caption(words.LEFT_OUT_NOTE)
    names = source_names(services)
    paged = f"{LEFT_OUT_PAGE}-{len(left_out)}"
    start = ROWS * (st.session_state.get(paged, 1) - 1)
    listed = left_out[start : start + ROWS]
    columns = {
        words.COLUMN_KEY: [key for _, key in listed],
        words.COLUMN_SOURCE: [names.get(source_id, "") for source_id, _ in listed],
    }
    marked = _marked(columns, listed, f"left-out-{start}", words.TABLE_OF_LEFT_OUT)
    _show_pages(len(left_out), paged)
    chosen = marked or left_out
    label = words.TAKE_BACK_CHOSEN if marked else words.TAKE_BACK_ALL
    if _button(label, len(chosen), ":material/undo:", "take-back"):
        with errors_shown():
            services.documents.take_back(principal(), chosen)
            tell(words.count(words.WILL_TAKE_BACK, len(chosen)))


def _button(label: Plural, n: int, icon: str, key: str) -> bool:
    return st.button(words.count(label, n), icon=icon, key=key)


def _marked(
    columns: Mapping[str, Sequence[str]], listed: "Sequence[Named]", key: str, alt: str
) -> "list[Named]":
    """Show the rows; what is listed in those that a person has marked."""
    text: Callable[..., Any] = st.column_config.TextColumn
    event = st.dataframe(
        dict(columns),
        column_config={
            name: text(name, width=width) for name, width in zip(columns, WIDTHS, strict=False)
        },
        hide_index=True,
        on_select="rerun",
        selection_mode="multi-row",
        key=f"library-{key}-{len(listed)}",
        alt=alt,
    )
    return [listed[row] for row in marked_rows(event["selection"]["rows"], len(listed))]


def _show_pages(total: int, key: str) -> None:
    """The pages; their key holds the total, so that fewer rows begin with the first page."""
    if total > ROWS:
        st.pagination(-(-total // ROWS), key=key)
