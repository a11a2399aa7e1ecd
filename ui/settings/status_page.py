"""The status of the installation, for the person who runs it."""

import streamlit as st

from bootstrap import Services
from services.imports.maintenance import IndexStatus
from services.status_service import RunProblem, SystemStatus
from ui.shared.frame import principal, show_problem, show_title
from ui.shared.safe_html import escape
from ui.text import words
from ui.text.reader_language import ago, number

_SHOWN_SIZES = 5
_UNFINISHED = ("running", "queued", "paused", "interrupted")
_MEGABYTE = 1_000_000


def show_status(services: Services) -> None:
    """Show versions, sizes, the index, the queue, and the latest problems."""
    show_title(words.STATUS_PAGE, words.STATUS_NOTE)
    now = services.status.current(principal())
    if now.index.message:
        show_problem(now.index.message, severe=False)
    facts = {
        "version": f"Footnote {now.version}, Python {now.python}",
        "data_dir": str(services.parts.settings.data_dir.resolve()),
        "free": _megabytes(now.free_bytes),
        "sizes": _sizes(services.status.sizes()),
        "library": _library(now.index),
        "index": _index(now.index),
        "worker": words.STATUS_WORKER if now.has_worker else words.STATUS_NO_WORKER,
        "runs": _runs(now),
    }
    rows = [
        f"<tr><th scope='row'>{escape(words.STATUS_FACTS[name])}</th><td>{escape(text)}</td></tr>"
        for name, text in facts.items()
    ]
    st.html(f"<table class='fn-status'>{''.join(rows)}</table>")
    _show_problems(services.status.problems(principal()))


def _megabytes(size: int) -> str:
    return words.MEGABYTES.format(n=number(round(size / _MEGABYTE)))


def _sizes(sizes: dict[str, int]) -> str:
    shown = [(name, size) for name, size in sizes.items() if size >= _MEGABYTE][:_SHOWN_SIZES]
    return ", ".join(f"{name} {_megabytes(size)}" for name, size in shown) or words.STATUS_SMALL


def _library(index: IndexStatus) -> str:
    documents = words.count(words.DOCUMENTS, index.documents)
    passages = words.count(words.PASSAGES, index.passages)
    return words.SOURCE_HOLDS.format(documents=documents, passages=passages)


def _index(index: IndexStatus) -> str:
    if index.active is None:
        return words.STATUS_NO_INDEX
    engine = words.INDEX_ENGINES[index.active.spec.engine]
    return words.STATUS_INDEX.format(fingerprint=index.active.fingerprint, engine=engine)


def _runs(now: SystemStatus) -> str:
    counts = [(words.IMPORT_STATES[state], now.runs[state]) for state in _UNFINISHED]
    counts = [(state, count) for state, count in counts if count]
    return ", ".join(f"{state}: {number(count)}" for state, count in counts) or words.STATUS_NO_RUNS


def _show_problems(problems: list[RunProblem]) -> None:
    st.subheader(words.STATUS_PROBLEMS, anchor=False)
    if not problems:
        st.caption(words.STATUS_NO_PROBLEMS)
    for problem in problems:
        st.html(f"<p class='fn-status-problem'>{_problem_html(problem)}</p>")


def _problem_html(problem: RunProblem) -> str:
    run = problem.run
    state, when = words.IMPORT_STATES[run.state.value], ago(run.finished_at or run.started_at)
    head = f"<strong>{escape(problem.source)}</strong> · {escape(state)} · {escape(when)}"
    failed = run.counts.get("failed", 0)
    lines = [words.count(words.SOURCE_FAILED, failed) if failed else "", run.message]
    return "<br>".join([head, *(escape(words.translated(line)) for line in lines if line)])
