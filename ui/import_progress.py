"""An import at work: how far it is, how fast, and how it is paused and cancelled."""

from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from domain import ImportState, Progress, QueuedImport, Stage
from errors import NotFoundError
from ui import words
from ui.errors import errors_shown
from ui.html import escape
from ui.imports import POLLED, badge
from ui.language import ago, duration, number
from ui.service_text import said
from ui.services import principal

if TYPE_CHECKING:
    from services.source_status import SourceStatus

NOTES = {
    ImportState.QUEUED: "JOB_QUEUED",
    ImportState.INTERRUPTED: "JOB_INTERRUPTED",
    ImportState.PAUSED: "JOB_PAUSED",
}


def show_job(services: Services, status: "SourceStatus") -> None:
    """Show the job of a source, where there is one; looked at each second while it may move.

    It only reads the queue: a reload, another page or a restart of the server change nothing.
    """
    if status.job is None:
        return
    every = "1s" if status.job.state in POLLED else None
    st.fragment(_show_job, run_every=every)(services, status.job.id, status.job.state)


@errors_shown()
def _show_job(services: Services, import_id: str, known: ImportState) -> None:
    try:
        job = services.queue.get(principal(), import_id)
    except NotFoundError:  # the source is removed, and its imports with it
        st.rerun()
    with st.container(border=True, key="job"):
        st.html(f'<div class="fn-job">{badge(job.state)}{escape(words.JOB_KINDS[job.kind])}</div>')
        st.progress(share(job.progress), _headline(job))
        st.html(f'<div class="fn-source-row">{_details(job)}</div>')
        _show_buttons(services, job)
    if job.state is not known:  # the head of the page tells the state too
        st.rerun()  # after the buttons, or a press would be lost


def share(progress: Progress | None) -> float:
    """How much of what there is to do is done, from 0 to 1."""
    if progress is None or not progress.total:
        return 0.0
    return min(progress.done / progress.total, 1.0)


def _headline(job: QueuedImport) -> str:
    if job.wish in words.JOB_STOPPING:
        return str(words.JOB_STOPPING[job.wish])
    if job.state is ImportState.INTERRUPTED and job.retry_at is not None:
        return str(words.JOB_WAITS.format(ago=ago(job.retry_at)))
    if job.state in NOTES:
        return str(getattr(words, NOTES[job.state]))
    progress = job.progress
    if progress is None:
        return str(words.JOB_STARTING)
    if progress.stage is Stage.LISTING or not progress.total:
        return words.count(words.JOB_LISTED, progress.done)
    done, total = number(progress.done), number(progress.total)
    return str(words.JOB_DONE_OF.format(done=done, total=total))


def _details(job: QueuedImport) -> str:
    progress = job.progress
    if job.state is ImportState.INTERRUPTED and job.retry_at is not None:
        return f"<span>{escape(said(job.message))}</span>"
    if job.state is not ImportState.RUNNING or progress is None:
        return ""
    parts = [words.JOB_STAGES[progress.stage]]
    if progress.parts:
        parts.append(words.JOB_PARTS.format(part=progress.part, parts=progress.parts))
    waits = progress.stage is Stage.WAITING
    parts.append(said(progress.key) if waits else progress.key)
    if progress.passages:
        parts.append(words.count(words.PASSAGES, progress.passages))
    parts += _pace(job)
    return "".join(f"<span>{escape(part)}</span>" for part in parts if part)


def _pace(job: QueuedImport) -> list[str]:
    from services.pace import pace_of

    pace = pace_of(job)
    if pace is None:
        return []
    rate = words.count(words.JOB_RATE, round(pace.per_minute))
    return [rate, words.JOB_LEFT.format(time=duration(pace.left_s))]


def _show_buttons(services: Services, job: QueuedImport) -> None:
    queue = services.queue
    rests = job.state is ImportState.PAUSED
    label, do = (words.RESUME_JOB, queue.resume) if rests else (words.PAUSE_JOB, queue.pause)
    with st.container(horizontal=True):
        if st.button(label, key=f"rest-{job.id}", disabled=bool(job.wish)):
            do(principal(), job.id)
            st.rerun()
        is_cancelling = job.wish == "cancel"
        if st.button(words.CANCEL_JOB, key=f"cancel-{job.id}", disabled=is_cancelling):
            queue.cancel(principal(), job.id)
            st.rerun()
