"""Imports and removes the sample documents."""

import streamlit as st

from bootstrap import Services
from domain import Progress
from domain.errors import AppError
from ui.shared.frame import may_edit, principal, show_error, show_errors
from ui.text import words


def show_sample_import(services: Services) -> None:
    """Offer editors to import the sample documents; a click imports them and reruns the page."""
    if may_edit() and st.button(
        words.EMPTY_SAMPLES, key="import-samples", icon=":material/school:"
    ):
        _import_samples(services)


def _import_samples(services: Services) -> None:
    bar = st.progress(0.0, words.SAMPLES_LISTING)

    def show(progress: Progress) -> None:
        if progress.total:
            text = words.SAMPLES_IMPORTING.format(done=progress.done, total=progress.total)
            bar.progress(progress.share, text)

    try:
        services.directories.import_samples(principal(), on_progress=show)
    except AppError as error:
        bar.empty()
        show_error(error)
    else:
        st.rerun()


def show_sample_removal(services: Services) -> None:
    """Offer editors to remove the sample documents; first, the effects are shown."""
    if not may_edit():
        return
    with st.popover(words.SAMPLES_REMOVE, icon=":material/delete:", type="tertiary"):
        st.write(words.SAMPLES_REMOVE_EFFECT)
        if st.button(
            words.SAMPLES_REMOVE_NOW,
            key="remove-samples",
            icon=":material/delete_forever:",
            type="primary",
        ):
            _remove_samples(services)


@show_errors()
def _remove_samples(services: Services) -> None:
    place = st.empty()

    def show(_progress: Progress) -> None:  # drawing lets another click end the wait
        place.caption(words.SAMPLES_REMOVING)

    source = services.directories.samples(principal())
    if source is not None:  # otherwise, another window has just removed them
        run = services.sources.delete(principal(), source.id)
        services.worker.wait(principal(), run.id, show)
    st.rerun()
