"""Imports and removes the sample documents."""

import streamlit as st

from bootstrap import Services
from domain import Progress
from domain.errors import AppError
from ui.shared.frame import principal, show_error
from ui.text import words


def show_sample_import(services: Services) -> None:
    """Offer to import the sample documents; a click imports them and reruns the page."""
    pressed = st.button(words.EMPTY_SAMPLES, key="import-samples", icon=":material/school:")
    if pressed and _import_samples(services):
        st.rerun()


def _import_samples(services: Services) -> bool:
    """Import the samples; returns False, after showing the error, if that failed."""
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
        return False
    return True


def show_sample_removal(services: Services) -> None:
    """Offer to remove the sample documents; the effects are shown before it is confirmed."""
    with st.popover(words.SAMPLES_REMOVE, icon=":material/delete:", type="tertiary"):
        st.write(words.SAMPLES_REMOVE_EFFECT)
        pressed = st.button(
            words.SAMPLES_REMOVE_NOW,
            key="remove-samples",
            icon=":material/delete_forever:",
            type="primary",
        )
        if pressed and _remove_samples(services):
            st.rerun()


def _remove_samples(services: Services) -> bool:
    """Remove the samples; returns False, after showing the error, if that failed."""
    try:
        source = services.directories.samples(principal())
        if source is None:  # another window has just removed them
            return True
        run = services.sources.delete(principal(), source.id)
        place = st.empty()

        def show(_progress: Progress) -> None:  # drawing lets another click end the wait
            place.caption(words.SAMPLES_REMOVING)

        services.worker.wait(principal(), run.id, show)
    except AppError as error:
        show_error(error)
        return False
    return True
