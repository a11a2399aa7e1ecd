"""Shows what imports did or would do: totals, the history, and the outcome per document."""

from collections.abc import Mapping, Sequence

import streamlit as st

from bootstrap import Services
from domain import (
    ImportItem,
    ImportKind,
    ImportRun,
    ImportState,
    Outcome,
    Progress,
    Stage,
    is_on_web,
)
from domain.errors import NotFoundError
from services.sources.import_reports import ImportSummary
from services.sources.source_service import SourceStatus
from ui.documents.highlight import link_html
from ui.imports.source_question import show_ask_button
from ui.shared.frame import offset_of, principal, show_errors, show_pages, show_problem
from ui.shared.safe_html import escape, spans_html
from ui.text import words
from ui.text.reader_language import ago, day_and_time, duration, number

HERE = ("directory", "catalogue", "upload")
"""The kinds of sources whose files are on this machine."""
POLLED = (ImportState.QUEUED, ImportState.RUNNING, ImportState.INTERRUPTED)
NOTES = {
    ImportState.QUEUED: "RUN_QUEUED",
    ImportState.INTERRUPTED: "RUN_INTERRUPTED",
    ImportState.PAUSED: "RUN_PAUSED",
}


def show_import_run(services: Services, status: SourceStatus) -> None:
    """Show the current import of a source, if any, refreshed every second while it can progress.

    This only reads the queue, so a reload, another page, or a server restart does not affect it.
    """
    if status.run is None:
        return
    every = "1s" if status.run.state in POLLED else None
    st.fragment(_show_import_run, run_every=every)(services, status.run.id, status.run.state)


@show_errors()
def _show_import_run(services: Services, import_id: str, displayed_state: ImportState) -> None:
    try:
        run = services.queue.get(principal(), import_id)
    except NotFoundError:  # the source was removed along with its imports
        st.rerun()
    with st.container(border=True, key="import-run"):
        kind = escape(words.RUN_KINDS[run.kind])
        st.html(f'<div class="fn-import-run">{badge(run.state)}{kind}</div>')
        st.progress(run.progress.share if run.progress else 0.0, _headline(run))
        st.html(f'<div class="fn-source-row">{_details(run)}</div>')
        _show_buttons(services, run)
    if run.state is not displayed_state:  # the head of the page shows the state too
        st.rerun()  # after the buttons, or a click would be lost


def _headline(run: ImportRun) -> str:
    if run.stop_request in words.RUN_STOPPING:
        return str(words.RUN_STOPPING[run.stop_request])
    if run.state is ImportState.INTERRUPTED and run.retry_at is not None:
        return str(words.RUN_WAITS.format(ago=ago(run.retry_at)))
    if run.state is ImportState.QUEUED and run.progress is not None:
        return str(words.RUN_GAVE_WAY)
    if run.state in NOTES:
        return str(getattr(words, NOTES[run.state]))
    progress = run.progress
    if progress is None:
        return str(words.RUN_STARTING)
    if progress.stage is Stage.LISTING or not progress.total:
        return words.count(words.RUN_LISTED, progress.done)
    return _passages(progress) or _documents(progress, words.RUN_DONE_OF)


def _details(run: ImportRun) -> str:
    progress = run.progress
    if run.state is ImportState.INTERRUPTED and run.retry_at is not None:
        return spans_html([words.translated(run.message)])
    if run.state is not ImportState.RUNNING or progress is None:
        return ""
    parts = [words.RUN_STAGES[progress.stage]]
    waits = progress.stage is Stage.WAITING
    parts.append(words.translated(progress.key) if waits else progress.key)
    if progress.expected:
        parts.append(_documents(progress, words.RUN_READ_OF))
    return spans_html([*parts, _time_left(progress)])


def _passages(progress: Progress) -> str:
    if not progress.expected:
        return ""
    done, expected = number(progress.passages), number(progress.expected)
    is_certain = progress.read == progress.expected
    text = words.RUN_PASSAGES if is_certain else words.RUN_PASSAGES_ABOUT
    return str(text.format(done=done, expected=expected))


def _documents(progress: Progress, template: str) -> str:
    return template.format(done=number(progress.done), total=number(progress.total))


def _time_left(progress: Progress) -> str:
    seconds = progress.rounded_seconds_left
    if seconds is None:
        return ""
    return str(words.TIME_LEFT.format(time=duration(seconds)) if seconds else words.ALMOST_DONE)


def _show_buttons(services: Services, run: ImportRun) -> None:
    queue = services.queue
    rests = run.state is ImportState.PAUSED
    label, do = (words.RESUME_RUN, queue.resume) if rests else (words.PAUSE_RUN, queue.pause)
    with st.container(horizontal=True):
        if st.button(label, key=f"rest-{run.id}", disabled=bool(run.stop_request)):
            do(principal(), run.id)
            st.rerun()
        is_cancelling = run.stop_request == "cancel"
        if st.button(words.CANCEL_RUN, key=f"cancel-{run.id}", disabled=is_cancelling):
            queue.cancel(principal(), run.id)
            st.rerun()


ROWS, HISTORY_ROWS = 50, 10
ADDED = {Outcome.NEW, Outcome.CHANGED}
COUNTED = (Outcome.NEW, Outcome.CHANGED, Outcome.REMOVED, Outcome.FAILED)
SMALLEST = 0.001
"""The smallest displayed price, in currency units; `number` would display less as zero."""


def show_findings(services: Services, status: SourceStatus) -> None:
    """Show the latest dry run of a source, or else its removals that await confirmation."""
    if status.run is not None:
        return
    summary = services.import_reports.dry_run(principal(), status.source.id)
    if summary is not None:
        _show_dry_run(services, status, summary)
    elif status.last and status.last.state is ImportState.NEEDS_CONFIRMATION:
        last = services.import_reports.summary(principal(), status.last.id)
        _show_withheld(services, status, last.withheld)


def _show_dry_run(services: Services, status: SourceStatus, summary: ImportSummary) -> None:
    with st.container(border=True, key="dry-run"):
        st.html(f"<h4>{escape(words.DRY_RUN)}</h4>{_dry_run_age(summary)}")
        if summary.run.state in (ImportState.CANCELLED, ImportState.FAILED):
            show_problem(summary.run.message)
            return
        st.html(counts_html(summary.counts) + _figures(summary))
        if summary.withheld:
            _show_withheld(services, status, summary.withheld)
        if not summary.changes:
            st.caption(words.DRY_RUN_NO_CHANGES)
        elif st.button(words.count(words.IMPORT_CHANGES, summary.changes), type="primary"):
            services.sources.refresh(principal(), status.source.id)
            st.rerun()
        show_items(services, summary)


def _show_withheld(services: Services, status: SourceStatus, withheld: int) -> None:
    source = status.source
    is_here = source.kind in HERE
    hint = words.CHECK_FOLDER if is_here else words.CHECK_ACCOUNT
    with st.container(key=f"held-back-{source.id}"):
        show_problem(words.count(words.REMOVALS_WITHHELD, withheld), hint=hint, severe=False)
        if st.button(words.count(words.CONFIRM_REMOVALS, withheld), icon=":material/delete:"):
            services.sources.refresh(principal(), source.id, confirm_removals=True)
            st.rerun()


def show_history(services: Services, status: SourceStatus) -> None:
    """Show the imports of a source, latest first, and the report of the selected one."""
    source_id = status.source.id
    key = f"history-{source_id}"
    offset = offset_of(key, HISTORY_ROWS)
    runs = services.import_reports.history(
        principal(), source_id, limit=HISTORY_ROWS + 1, offset=offset
    )
    if not runs and not offset:
        st.caption(words.NO_HISTORY)
        return
    rows = runs[:HISTORY_ROWS]
    st.html(_history_html(rows))
    show_pages(offset + len(runs), HISTORY_ROWS, key)  # one more page if there is one
    names = {run.id: _entry(run) for run in rows}
    chosen = st.selectbox(
        words.HISTORY_CHOOSE,
        names,
        index=None,
        format_func=names.__getitem__,
        placeholder=words.HISTORY_HINT,
    )
    if chosen:
        _show_report(services, status, services.import_reports.summary(principal(), chosen))


def _show_report(services: Services, status: SourceStatus, summary: ImportSummary) -> None:
    run = summary.run
    if run.message:
        show_problem(run.message, severe=run.state is ImportState.FAILED)
    st.html(counts_html(summary.counts))
    if run.kind is ImportKind.IMPORT and not ADDED.isdisjoint(summary.counts):
        show_ask_button(status, import_id=run.id)
    show_items(services, summary)


def show_items(services: Services, summary: ImportSummary) -> None:
    """Show the documents of an import, all or those with one outcome, page by page."""
    total = sum(summary.counts.values())
    if not total:
        return
    outcome: Outcome | None = st.pills(
        words.REPORT_SHOW,
        [one for one in Outcome if summary.counts.get(one)],
        default=Outcome.FAILED if summary.counts.get(Outcome.FAILED) else None,
        format_func=lambda one: _outcome_label(one, summary.counts),
        key=f"outcome-{summary.run.id}",
    )
    outcomes = [outcome] if outcome else []
    total = summary.counts.get(outcome, 0) if outcome else total
    key = f"items-{summary.run.id}-{outcome}"
    offset = offset_of(key, ROWS)
    items = services.import_reports.items(
        principal(), summary.run.id, outcomes, limit=ROWS, offset=offset
    )
    named = [one for one in items if one.key]
    st.html(_items_html(named))
    if len(named) < len(items):
        st.caption(words.count(words.REPORT_UNNAMED, len(items) - len(named)))
    last = number(offset + len(items))
    st.caption(words.REPORT_ROWS.format(first=number(offset + 1), last=last, total=number(total)))
    show_pages(total, ROWS, key)


def badge(state: str) -> str:
    """The state of an import as HTML; "" means that there was none yet."""
    kind = (state or "never").replace(" ", "-")
    return f'<span class="fn-badge fn-state fn-{kind}">{escape(words.IMPORT_STATES[state])}</span>'


def counts_html(counts: Mapping[Outcome, int]) -> str:
    """The number of documents with each outcome, as HTML."""
    parts = "".join(
        f'<div><dt>{escape(words.OUTCOMES[one])}</dt><dd class="fn-{one.value}">'
        f"{number(counts[one])}</dd></div>"
        for one in Outcome
        if counts.get(one)
    )
    return f'<dl class="fn-counts">{parts}</dl>'


def _dry_run_age(summary: ImportSummary) -> str:
    run = summary.run
    if run.finished_at is None:
        return ""
    age = words.DRY_RUN_AGE.format(ago=ago(run.finished_at), time=duration(run.seconds))
    return f'<p class="fn-made">{escape(age)}</p>'


def _figures(summary: ImportSummary) -> str:
    figures = summary.figures
    if not figures.passages:
        return ""
    parts = [
        words.count(words.PASSAGES, figures.passages),
        words.count(words.DRY_RUN_PAGES, figures.pages) if figures.pages else "",
        words.count(words.DRY_RUN_CHARACTERS, figures.characters),
        words.count(words.DRY_RUN_TOKENS, figures.tokens),
        _price(summary),
    ]
    return f'<div class="fn-source-row">{spans_html(parts)}</div>'


def _price(summary: ImportSummary) -> str:
    if not summary.price:
        return str(words.DRY_RUN_FREE)
    if summary.price < SMALLEST:
        return str(words.COST_LESS.format(currency=summary.currency, amount=SMALLEST))
    price = number(float(f"{summary.price:.2g}"))
    return str(words.DRY_RUN_PRICE.format(price=price, currency=summary.currency))


def _outcome_label(outcome: Outcome, counts: Mapping[Outcome, int]) -> str:
    name, n = words.OUTCOMES[outcome], number(counts.get(outcome, 0))
    return str(words.REPORT_OUTCOME.format(outcome=name, n=n))


def _history_html(runs: Sequence[ImportRun]) -> str:
    heads = [
        words.HISTORY_STARTED,
        words.HISTORY_KIND,
        words.HISTORY_STATE,
        words.HISTORY_DURATION,
        *(words.OUTCOMES[one] for one in COUNTED),
    ]
    return _table(heads, [_history_row(run) for run in runs])


def _history_row(run: ImportRun) -> list[str]:
    parts = [day_and_time(run.started_at), words.RUN_KINDS[run.kind]]
    counts = [number(run.counts.get(one, 0)) for one in COUNTED]
    rest = [duration(run.seconds), *counts]
    return [*map(escape, parts), badge(run.state), *map(escape, rest)]


def _entry(run: ImportRun) -> str:
    kind, state = words.RUN_KINDS[run.kind], words.IMPORT_STATES[run.state]
    return str(
        words.HISTORY_ENTRY.format(kind=kind, started=day_and_time(run.started_at), state=state)
    )


def _items_html(items: Sequence[ImportItem]) -> str:
    heads = [
        words.REPORT_DOCUMENT,
        words.REPORT_OUTCOME_COLUMN,
        words.REPORT_FIGURES,
        words.REPORT_REASON,
    ]
    rows = [
        [
            _name(item),
            f'<span class="fn-{item.outcome.value}">{escape(words.OUTCOMES[item.outcome])}</span>',
            number(item.passages) if item.passages else "",
            escape(words.translated(item.reason)),
        ]
        for item in items
    ]
    return _table(heads, rows)


def _name(item: ImportItem) -> str:
    """The path of a local file, or the title of a web document as a link to it."""
    if not is_on_web(item.location):
        return escape(item.key)
    return link_html(item.location, escape(item.name))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of HTML cells; each cell also carries its column name, for narrow windows."""
    head = "".join(f'<th scope="col">{escape(one)}</th>' for one in heads)
    body = "".join(
        "<tr>"
        + "".join(
            f'<td data-head="{escape(name)}">{cell}</td>'
            for name, cell in zip(heads, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="fn-table"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
