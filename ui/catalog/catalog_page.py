"""Selects the catalog on the places page, or shows how to add the first one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from ui.imports.import_report import show_import_run
from ui.shared.frame import (
    link_to_new_source,
    may_edit,
    principal,
    show_import_link,
    show_problem,
)
from ui.shared.safe_html import escape
from ui.text import words

if TYPE_CHECKING:
    from domain import Progress
    from services.catalog.catalogs import CatalogSummary

SELECTED, LAST_SELECTED = "places_catalog", "places_catalog_last"


def selected_catalog(services: Services) -> "CatalogSummary | None":
    """The catalog to search; None if there are no places, and the page says what to do."""
    catalogs = services.catalog.catalogs(principal())
    if not catalogs:
        _show_no_catalog(services)
        return None
    catalog = _select(catalogs) if len(catalogs) > 1 else catalogs[0]
    if catalog.places and len(catalogs) == 1:
        st.html(f'<p class="fn-model">{escape(_label(catalog))}</p>')
    _show_import(services, catalog)
    return catalog if catalog.places else None


def _select(catalogs: Sequence["CatalogSummary"]) -> "CatalogSummary":
    """The selection, which is kept while the person visits another page."""
    by_id = {one.id: one for one in catalogs}
    if st.session_state.get(SELECTED) not in by_id:
        last = st.session_state.get(LAST_SELECTED)
        st.session_state[SELECTED] = last if last in by_id else catalogs[0].id
    st.selectbox(
        words.PLACES_CATALOG, by_id, format_func=lambda one: _label(by_id[one]), key=SELECTED
    )
    st.session_state[LAST_SELECTED] = st.session_state[SELECTED]
    return by_id[st.session_state[SELECTED]]


def _label(catalog: "CatalogSummary") -> str:
    return words.count(words.PLACES_COUNT, catalog.places, name=catalog.name)


def _show_no_catalog(services: Services) -> None:
    st.subheader(words.PLACES_NONE, anchor=False)
    if not may_edit():
        st.write(words.EMPTY_FOR_READERS)
        return
    st.write(words.PLACES_NONE_HOW)
    with st.container(horizontal=True, vertical_alignment="center"):
        is_clicked = st.button(
            words.PLACES_ADD_SAMPLE,
            key="add-sample-catalog",
            type="primary",
            icon=":material/restaurant:",
        )
        link_to_new_source(words.PLACES_ADD_OWN)
    if is_clicked:
        _add_sample(services)
        st.rerun()


def _add_sample(services: Services) -> None:
    run = services.catalog_imports.queue_sample(principal())
    if services.queue.expects_worker():
        return
    bar = st.progress(0.0, words.RUN_STARTING)

    def show(progress: "Progress") -> None:
        text = words.RUN_DONE_OF.format(done=progress.done, total=progress.total)
        bar.progress(progress.share, text)

    services.worker.wait(principal(), run.id, show)  # without a worker, the page runs the import


def _show_import(services: Services, catalog: "CatalogSummary") -> None:
    """Show a running import, or why the catalog has no places."""
    status = services.sources.get(principal(), catalog.id)
    if status.run is not None:
        st.caption(words.PLACES_IMPORTING)
        show_import_run(services, status)
    elif not catalog.places:
        show_problem(words.PLACES_EMPTY.format(name=catalog.name), severe=False)
        show_import_link(words.PLACES_SOURCES)
