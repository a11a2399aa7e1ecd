"""Rebuilds the index on the settings page if the settings have changed since it was built."""

import streamlit as st

from bootstrap import Services
from domain import Progress
from domain.errors import AppError
from ui.shared.frame import Notices, principal, show_error, show_problem
from ui.shared.safe_html import escape
from ui.text import words

NOTICES, PROBLEMS = Notices("index-rebuild-notices"), Notices("index-rebuild-problems")


def offer_rebuild(services: Services) -> None:
    """Show that the index needs a rebuild, with a button, and perform it when it is clicked."""
    for text in NOTICES.lines():
        st.html(f'<p role="status">{escape(text)}</p>')
    for problem in PROBLEMS.lines():
        show_problem(problem, severe=False)
    message = services.maintenance.status(principal()).message
    if not message:
        return
    show_problem(message, severe=False)
    if st.button(words.REBUILD_INDEX, key="rebuild-index", icon=":material/refresh:"):
        st.caption(words.REBUILD_NOTE)
        _rebuild(services)


def _rebuild(services: Services) -> None:
    """Rebuild the index; any click reruns the page, which stops this at the next progress."""
    bar = st.progress(0.0)

    def show(progress: Progress) -> None:
        text = words.REBUILDING.format(done=progress.done, total=progress.total)
        bar.progress(progress.share, text)

    st.button(words.REBUILD_STOP, key="stop-rebuild", icon=":material/stop:")
    try:
        report = services.maintenance.reindex(principal(), on_progress=show)
    except AppError as error:
        show_error(error)
        return
    passages = services.maintenance.status(principal()).passages
    NOTICES.say(words.REBUILT.format(passages=words.count(words.PASSAGES, passages)))
    if report.problem:
        reason = words.translated(report.problem)
        PROBLEMS.say(words.REBUILD_PROBLEM.format(reason=reason))
    st.rerun()
