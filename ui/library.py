"""The frame of the library page: how much there is, which view of it, what was asked for."""

import streamlit as st

from bootstrap import Services
from ui import words
from ui.address import in_address, put_into_address
from ui.errors import errors_shown, show_problem
from ui.frame import show_title
from ui.html import escape
from ui.language import number
from ui.services import principal
from ui.told import Told

VIEW, DOCUMENT = "library_view", "id"
TOLD = Told("library_told")
LOOKED_AGAIN = "2s"
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
    return in_address(DOCUMENT)


def open_document(document_id: str) -> None:
    """Show the passages of this document from the next run on; of none, the list again."""
    put_into_address(DOCUMENT, document_id)


def tell(text: str) -> None:
    """Say this at the top of the page, which runs again for it."""
    TOLD.say(text)
    st.rerun()


def source_names(services: Services) -> dict[str, str]:
    """By id, what the sources are called."""
    return {one.id: one.name for one in services.documents.contents(principal()).sources}


def _is_open(view: str) -> bool:
    return bool(st.session_state.get(VIEW) == view)


def _view_name(view: str, n: int) -> str:
    name: str = words.LIBRARY_VIEWS[view]
    return words.VIEW_COUNTED.format(view=name, n=number(n)) if n else name


def _show_told(services: Services) -> None:
    known = _under_way(services)
    if known or TOLD.lines():
        every = LOOKED_AGAIN if known else None
        st.fragment(_look, run_every=every)(services, known, opened_document())


@errors_shown()
def _look(services: Services, known: frozenset[str], document_id: str) -> None:
    """Say what is under way; run the page again once any of that has ended.

    Meanwhile the page stays as it is, with the rows that a person is marking.
    """
    now = _under_way(services)
    if known - now:
        TOLD.forget()  # it has been done
        open_document(document_id)  # the look may have been asked for with an older address
        st.rerun()
    lines = [escape(line) for line in TOLD.lines()]
    if now:
        under_way = words.count(words.LIBRARY_UNDER_WAY, len(now))
        lines.append(f'<span class="fn-under-way">{escape(under_way)}</span>')
        lines += [] if services.queue.expects_worker() else [escape(words.LIBRARY_NO_WORKER)]
    st.html(f'<p class="fn-told" role="status">{" ".join(lines)}</p>')


def _under_way(services: Services) -> frozenset[str]:
    return frozenset(job.id for job in services.queue.current(principal()))
