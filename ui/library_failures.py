"""What could not be read, and what is left out: two lists from which rows can be chosen."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from ui import words
from ui.english.plural import Plural
from ui.errors import errors_shown
from ui.language import here, table_format
from ui.library import source_names, tell
from ui.marking import marked
from ui.paging import offset_of, show_pages
from ui.service_text import said
from ui.services import principal

if TYPE_CHECKING:
    from services.own_sources import Named

ROWS = 50
FAILURE_PAGE, LEFT_OUT_PAGE = "failures_page", "left_out_page"


def show_failures(services: Services) -> None:
    """Show what could not be read and why; it can be tried again, or dismissed."""
    paged = f"{FAILURE_PAGE}-{services.failures.count(principal())}"
    offset = offset_of(paged, ROWS)
    page = services.failures.page(principal(), limit=ROWS, offset=offset)
    if not page.total:
        st.caption(words.NO_FAILURES)
        return
    st.caption(words.FAILURES_NOTE)
    names = source_names(services)
    columns: dict[str, Sequence[object]] = {
        words.COLUMN_KEY: [one.name for one in page.failures],
        words.COLUMN_REASON: [said(one.reason) for one in page.failures],
        words.COLUMN_SOURCE: [names.get(one.source_id, "") for one in page.failures],
        words.COLUMN_TRIED: [one.failed_at and here(one.failed_at) for one in page.failures],
    }
    config = {
        words.COLUMN_KEY: st.column_config.TextColumn(width="medium"),
        words.COLUMN_REASON: st.column_config.TextColumn(width="large"),
        words.COLUMN_TRIED: st.column_config.DatetimeColumn(format=table_format()),
    }
    listed = [(one.source_id, one.key) for one in page.failures]
    named = marked(f"{FAILURE_PAGE}-{offset}", listed, columns, config, alt=words.TABLE_OF_FAILURES)
    show_pages(page.total, ROWS, paged)
    _show_failure_buttons(services, named, page.total)


def _show_failure_buttons(services: Services, named: "Sequence[Named]", total: int) -> None:
    retry = words.RETRY_CHOSEN if named else words.RETRY_ALL
    dismiss = words.DISMISS_CHOSEN if named else words.DISMISS_ALL
    with st.container(horizontal=True):
        retried = _button(retry, len(named) or total, ":material/sync:", "retry-failed")
        dismissed = _button(dismiss, len(named) or total, ":material/done_all:", "dismiss-failed")
    if not (retried or dismissed):
        return
    chosen = named or services.failures.named(principal())
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
    start = offset_of(paged, ROWS)
    listed = left_out[start : start + ROWS]
    columns = {
        words.COLUMN_KEY: [key for _, key in listed],
        words.COLUMN_SOURCE: [names.get(source_id, "") for source_id, _ in listed],
    }
    config = {words.COLUMN_KEY: st.column_config.TextColumn(width="medium")}
    named = marked(f"{LEFT_OUT_PAGE}-{start}", listed, columns, config, alt=words.TABLE_OF_LEFT_OUT)
    show_pages(len(left_out), ROWS, paged)
    chosen = named or left_out
    label = words.TAKE_BACK_CHOSEN if named else words.TAKE_BACK_ALL
    if _button(label, len(chosen), ":material/undo:", "take-back"):
        with errors_shown():
            services.documents.take_back(principal(), chosen)
            tell(words.count(words.WILL_TAKE_BACK, len(chosen)))


def _button(label: Plural, n: int, icon: str, key: str) -> bool:
    return st.button(words.count(label, n), icon=icon, key=key)
