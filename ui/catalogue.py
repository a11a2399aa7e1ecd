"""The page of places: which catalogue is searched, and how to begin where there is none."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from ui import words
from ui.errors import show_problem
from ui.frame import show_title
from ui.html import escape
from ui.import_progress import share, show_job
from ui.services import principal
from ui.welcome import IMPORT_PAGE

if TYPE_CHECKING:
    from catalog.catalogues import CatalogueSummary
    from domain import Progress

CHOSEN, LAST_CHOSEN = "places_catalogue", "places_catalogue_last"


def show_places_title() -> None:
    """Say what the page is for."""
    show_title(words.PLACES_TITLE, words.PLACES_INTRO)


def chosen_catalogue(services: Services) -> "CatalogueSummary | None":
    """The catalogue that is searched; None where none has places, with what to do on the page."""
    known = services.catalogue.catalogues(principal())
    if not known:
        _show_none(services)
        return None
    chosen = _choose(known) if len(known) > 1 else known[0]
    if chosen.places and len(known) == 1:
        st.html(f'<p class="fn-model">{escape(_label(chosen))}</p>')
    _show_import(services, chosen)
    return chosen if chosen.places else None


def _choose(known: Sequence["CatalogueSummary"]) -> "CatalogueSummary":
    """The one that is chosen, which stays so while another page is looked at."""
    by_id = {one.id: one for one in known}
    if st.session_state.get(CHOSEN) not in by_id:
        last = st.session_state.get(LAST_CHOSEN)
        st.session_state[CHOSEN] = last if last in by_id else known[0].id
    st.selectbox(
        words.PLACES_CATALOGUE, by_id, format_func=lambda one: _label(by_id[one]), key=CHOSEN
    )
    st.session_state[LAST_CHOSEN] = st.session_state[CHOSEN]
    return by_id[st.session_state[CHOSEN]]


def _label(catalogue: "CatalogueSummary") -> str:
    return words.count(words.PLACES_COUNT, catalogue.places, name=catalogue.name)


def _show_none(services: Services) -> None:
    st.subheader(words.PLACES_NONE, anchor=False)
    st.write(words.PLACES_NONE_HOW)
    with st.container(horizontal=True, vertical_alignment="center"):
        wanted = st.button(
            words.PLACES_ADD_SAMPLE,
            key="add-sample-catalogue",
            type="primary",
            icon=":material/restaurant:",
        )
        st.page_link(IMPORT_PAGE, label=words.PLACES_ADD_OWN, icon=":material/upload_file:")
    if wanted:
        _add_sample(services)
        st.rerun()


def _add_sample(services: Services) -> None:
    job = services.catalogue_imports.queue_sample(principal())
    if services.queue.expects_worker():
        return
    bar = st.progress(0.0, words.JOB_STARTING)

    def show(progress: "Progress") -> None:
        text = words.JOB_DONE_OF.format(done=progress.done, total=progress.total)
        bar.progress(share(progress), text)

    services.queue.wait(principal(), job.id, show)  # it is done here, for nobody else does it


def _show_import(services: Services, catalogue: "CatalogueSummary") -> None:
    """Show an import that is at work; of a catalogue without places why it has none."""
    status = services.sources.get(principal(), catalogue.id)
    if status.job is not None:
        st.caption(words.PLACES_IMPORTING)
        show_job(services, status)
    elif not catalogue.places:
        show_problem(words.PLACES_EMPTY.format(name=catalogue.name), severe=False)
        st.page_link(IMPORT_PAGE, label=words.PLACES_SOURCES, icon=":material/sync:")
