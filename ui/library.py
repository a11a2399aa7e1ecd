"""The frame of the library page: how much there is, which view of it, what was asked for."""

from collections.abc import Sequence

import streamlit as st

from bootstrap import Services
from ui import words
from ui.errors import show_problem
from ui.frame import show_title
from ui.html import escape
from ui.language import number
from ui.services import principal

VIEW, TOLD, DOCUMENT = "library_view", "library_told", "id"
DOCUMENTS, FAILURES, LEFT_OUT, FIGURES = "documents", "failures", "left out", "figures"


def show_library_status(services: Services) -> None:
    """Show how much the library holds, what is to be known about it, and what was asked for."""
    status = services.library.status(principal())
    documents = words.count(words.DOCUMENTS, status.documents)
    passages = words.count(words.PASSAGES, status.passages)
    holds = words.LIBRARY_STATUS.format(documents=documents, passages=passages)
    show_title(words.LIBRARY_TITLE, holds)
    for notice in status.notices:
        show_problem(notice, severe=False)
    if not status.documents:
        show_problem(words.LIBRARY_NOTHING, severe=False)
    _show_told(services)


def library_view(services: Services) -> str:
    """Show the choice between the views; the one chosen."""
    failures = services.failures.count(principal())
    left_out = len(services.documents.left_out(principal()))
    counts = {FAILURES: failures, LEFT_OUT: left_out}
    shown = [DOCUMENTS, *(view for view, n in counts.items() if n or _is_open(view)), FIGURES]
    chosen: str | None = st.segmented_control(
        words.LIBRARY_VIEW,
        shown,
        default=DOCUMENTS,
        required=True,
        key=VIEW,
        format_func=lambda view: _view_name(view, counts.get(view, 0)),
        label_visibility="collapsed",
    )
    return chosen or DOCUMENTS


def opened_document() -> str:
    """The id of the document whose passages the address asks for, or nothing."""
    return st.query_params.get(DOCUMENT, "")


def open_document(document_id: str) -> None:
    """Show the passages of this document from the next run on; of none, the list again."""
    if document_id:
        st.query_params[DOCUMENT] = document_id
    else:
        st.query_params.pop(DOCUMENT, None)


def tell(text: str) -> None:
    """Say this at the top of the page, which runs again for it."""
    st.session_state[TOLD] = text
    st.rerun()


def source_names(services: Services) -> dict[str, str]:
    """By id, what the sources are called."""
    return {one.id: one.name for one in services.documents.contents(principal()).sources}


def marked_rows(selected: Sequence[int], total: int) -> list[int]:
    """The rows a person marked that are there: a table may have grown shorter since."""
    return [row for row in selected if row < total]


def _is_open(view: str) -> bool:
    return bool(st.session_state.get(VIEW) == view)


def _view_name(view: str, n: int) -> str:
    name: str = words.LIBRARY_VIEWS[view]
    return words.VIEW_COUNTED.format(view=name, n=number(n)) if n else name


def _show_told(services: Services) -> None:
    told = st.session_state.pop(TOLD, "")
    under_way = len(services.queue.current(principal()))
    if not told and not under_way:
        return
    parts = [told, words.count(words.LIBRARY_UNDER_WAY, under_way) if under_way else ""]
    if under_way and not services.queue.expects_worker():
        parts.append(words.LIBRARY_NO_WORKER)
    with st.container(horizontal=True, vertical_alignment="center"):
        text = " ".join(part for part in parts if part)
        st.html(f'<p class="fn-told" role="status">{escape(text)}</p>')
        st.button(words.LOOK_AGAIN, icon=":material/refresh:", type="tertiary")
