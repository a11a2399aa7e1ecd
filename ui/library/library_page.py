"""The frame of the library page: its status, the filters, the views, and notices."""

from collections.abc import Mapping
from typing import NamedTuple

import streamlit as st

from bootstrap import Services
from domain import DocumentFilter, DocumentOrder
from services.library.document_service import Contents
from ui.shared.frame import (
    Notices,
    in_address,
    principal,
    put_into_address,
    show_errors,
    show_problem,
    show_title,
)
from ui.shared.safe_html import escape
from ui.text import words
from ui.text.reader_language import number

WORDS, ORDER = "library_words", "library_order"
SOURCES, COLLECTIONS = "library_sources", "library_collections"
FORMATS, SCRIPTS, WARNED = "library_formats", "library_scripts", "library_warned"
NARROWING = (SOURCES, COLLECTIONS, FORMATS, SCRIPTS, WARNED)


class Filters(NamedTuple):
    """The filter and the order of the listed documents."""

    filter: DocumentFilter
    order: DocumentOrder


def document_filter(contents: Contents) -> Filters:
    """Show the filters of the list, and return their current values."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="library-filter"):
        text = st.text_input(
            words.FIND_DOCUMENTS,
            key=WORDS,
            placeholder=words.FIND_PLACEHOLDER,
            icon=":material/search:",
        )
        order = st.selectbox(
            words.LIBRARY_ORDER,
            list(DocumentOrder),
            key=ORDER,
            format_func=lambda order: words.LIBRARY_ORDERS[order],
            width=230,
        )
        narrowed = any(st.session_state.get(key) for key in NARROWING)
        label = words.LIBRARY_NARROWED if narrowed else words.LIBRARY_NARROW
        panel = st.popover(
            label, icon=":material/filter_alt:", key="library-narrow", on_change="rerun"
        )
    if panel.open:  # built only when open, so the page opens 0.1 s faster
        with panel:
            _show_choices(contents)
    return Filters(_choose_filter(text), order or DocumentOrder.TITLE)


def _choose_filter(text: str) -> DocumentFilter:
    sources, collections, formats, scripts, warned = map(st.session_state.get, NARROWING)
    return DocumentFilter(
        text,
        tuple(sources or ()) or None,
        tuple(collections or ()),
        tuple(formats or ()),
        tuple(scripts or ()),
        bool(warned),
    )


def _show_choices(contents: Contents) -> None:
    left, right = st.columns(2, gap="medium")
    names = {one.id: one.name for one in contents.sources}
    counts = {one.id: one.documents for one in contents.sources}
    collections: dict[str, int] = {}
    for one in contents.sources:
        collections[one.collection] = collections.get(one.collection, 0) + one.documents
    with left:
        _show_choice(words.BY_SOURCE, SOURCES, counts, names)
        _show_choice(words.BY_FORMAT, FORMATS, contents.formats, {})
    with right:
        _show_choice(words.BY_COLLECTION, COLLECTIONS, collections, {})
        _show_choice(words.BY_LANGUAGE, SCRIPTS, contents.scripts, words.SCRIPT_NAMES)
    st.toggle(words.BY_WARNINGS, key=WARNED, persist_state="page")


def _show_choice(label: str, key: str, counts: Mapping[str, int], names: Mapping[str, str]) -> None:
    st.multiselect(
        label,
        list(counts),
        key=key,
        persist_state="page",  # keeps the choice while the panel is closed
        placeholder=words.LIBRARY_ANY,
        format_func=lambda one: words.OPTION_COUNTED.format(
            name=names.get(one, one), n=number(counts[one])
        ),
    )


VIEW, DOCUMENT = "library_view", "id"
NOTICES = Notices("library_notices")
REFRESH_INTERVAL = "2s"
DOCUMENTS, FAILURES, EXCLUDED, FIGURES = "documents", "failures", "left out", "figures"


def show_library_status(services: Services) -> None:
    """Show the size of the library, its notices, and the imports in progress."""
    status = services.library.status(principal())
    documents = words.count(words.DOCUMENTS, status.documents)
    passages = words.count(words.PASSAGES, status.passages)
    holds = words.LIBRARY_STATUS.format(documents=documents, passages=passages)
    show_title(words.LIBRARY_TITLE, holds)
    for notice in status.notices:
        show_problem(notice, severe=False)
    if not status.documents:
        show_problem(words.LIBRARY_NOTHING, severe=False)
    _show_activity(services)


def library_view(services: Services) -> str:
    """Show the switch between the views, and return the selected one."""
    failures = services.failures.count(principal())
    excluded = len(services.documents.excluded(principal()))
    counts = {FAILURES: failures, EXCLUDED: excluded}
    views = [DOCUMENTS, *(view for view, n in counts.items() if n or _is_open(view)), FIGURES]
    chosen: str | None = st.segmented_control(
        words.LIBRARY_VIEW,
        views,
        default=DOCUMENTS,
        required=True,
        key=VIEW,
        format_func=lambda view: _view_name(view, counts.get(view, 0)),
        label_visibility="collapsed",
    )
    return chosen or DOCUMENTS


def selected_document() -> str:
    """The id of the document in the page's address, or ""."""
    return in_address(DOCUMENT)


def open_document(document_id: str) -> None:
    """Show the passages of this document from the next run on; "" shows the list again."""
    put_into_address(DOCUMENT, document_id)


def tell(text: str) -> None:
    """Show a notice at the top of the page, which is rerun."""
    NOTICES.say(text)
    st.rerun()


def source_names(services: Services) -> dict[str, str]:
    """The names of the sources by id."""
    return {one.id: one.name for one in services.documents.contents(principal()).sources}


def _is_open(view: str) -> bool:
    return bool(st.session_state.get(VIEW) == view)


def _view_name(view: str, n: int) -> str:
    name: str = words.LIBRARY_VIEWS[view]
    return words.VIEW_COUNTED.format(view=name, n=number(n)) if n else name


def _show_activity(services: Services) -> None:
    running = _under_way(services)
    if running or NOTICES.lines():
        every = REFRESH_INTERVAL if running else None
        st.fragment(_show_running, run_every=every)(services, running, selected_document())


@show_errors()
def _show_running(services: Services, running: frozenset[str], document_id: str) -> None:
    """Show the notices and imports in progress; rerun the page when one of the imports ends.

    Until then, only this part is refreshed, so the user's selection of rows is kept.
    """
    now = _under_way(services)
    if running - now:
        NOTICES.forget()  # the announced work is done
        open_document(document_id)  # the address of this run may be outdated
        st.rerun()
    lines = [escape(line) for line in NOTICES.lines()]
    if now:
        under_way = words.count(words.LIBRARY_UNDER_WAY, len(now))
        lines.append(f'<span class="fn-under-way">{escape(under_way)}</span>')
        lines += [] if services.queue.expects_worker() else [escape(words.LIBRARY_NO_WORKER)]
    st.html(f'<p class="fn-status" role="status">{" ".join(lines)}</p>')


def _under_way(services: Services) -> frozenset[str]:
    return frozenset(job.id for job in services.queue.current(principal()))
