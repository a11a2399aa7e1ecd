"""What imports did or would do: in sum, as a history, and document by document."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from domain import ImportItem, ImportState, Outcome, QueuedImport
from ui import words
from ui.document_links import link_html
from ui.errors import show_problem
from ui.html import escape
from ui.imports import HERE, badge
from ui.language import ago, day_and_time, duration, number
from ui.paging import offset_of, show_pages
from ui.service_text import said
from ui.services import principal
from ui.sources import WEB

if TYPE_CHECKING:
    from services.import_reports import ImportSummary
    from services.source_status import SourceStatus

ROWS, HISTORY_ROWS = 50, 10
COUNTED = (Outcome.NEW, Outcome.CHANGED, Outcome.GONE, Outcome.FAILED)
SMALLEST = 0.001
"""Of a currency; `number` would tell what is less as nothing."""


def show_findings(services: Services, status: "SourceStatus") -> None:
    """Show the latest dry run of a source, or what its last import waits for."""
    if status.job is not None:
        return
    summary = services.import_reports.dry_run(principal(), status.source.id)
    if summary is not None:
        _show_trial(services, status, summary)
    elif status.last and status.last.state is ImportState.NEEDS_CONFIRMATION:
        last = services.import_reports.summary(principal(), status.last.id)
        _show_held_back(services, status, last.held_back)


def _show_trial(services: Services, status: "SourceStatus", summary: "ImportSummary") -> None:
    with st.container(border=True, key="trial"):
        st.html(f"<h4>{escape(words.TRIAL)}</h4>{_made(summary)}")
        if summary.job.state in (ImportState.CANCELLED, ImportState.FAILED):
            show_problem(summary.job.message)
            return
        st.html(counts_html(summary.counts) + _figures(summary))
        if summary.held_back:
            _show_held_back(services, status, summary.held_back)
        if not summary.changes:
            st.caption(words.TRIAL_NO_CHANGES)
        elif st.button(words.count(words.IMPORT_CHANGES, summary.changes), type="primary"):
            services.sources.refresh(principal(), status.source.id)
            st.rerun()
        show_items(services, summary)


def _show_held_back(services: Services, status: "SourceStatus", held_back: int) -> None:
    source = status.source
    is_here = source.kind in HERE
    hint = words.HELD_BACK_CHECK if is_here else words.HELD_BACK_CHECK_ACCOUNT
    with st.container(key=f"held-back-{source.id}"):
        show_problem(words.count(words.HELD_BACK, held_back), hint=hint, severe=False)
        if st.button(words.count(words.CONFIRM_REMOVALS, held_back), icon=":material/delete:"):
            services.sources.refresh(principal(), source.id, confirm_removals=True)
            st.rerun()


def show_history(services: Services, source_id: str) -> None:
    """Show the imports of a source, the latest first, and the report of the chosen one."""
    key = f"history-{source_id}"
    offset = offset_of(key, HISTORY_ROWS)
    jobs = services.import_reports.history(
        principal(), source_id, limit=HISTORY_ROWS + 1, offset=offset
    )
    if not jobs and not offset:
        st.caption(words.NO_HISTORY)
        return
    shown = jobs[:HISTORY_ROWS]
    st.html(_history_html(shown))
    show_pages(offset + len(jobs), HISTORY_ROWS, key)  # as many pages as are known of
    names = {job.id: _entry(job) for job in shown}
    chosen = st.selectbox(
        words.HISTORY_CHOOSE,
        names,
        index=None,
        format_func=names.__getitem__,
        placeholder=words.HISTORY_HINT,
    )
    if chosen:
        summary = services.import_reports.summary(principal(), chosen)
        if summary.job.message:
            show_problem(summary.job.message, severe=summary.job.state is ImportState.FAILED)
        st.html(counts_html(summary.counts))
        show_items(services, summary)


def show_items(services: Services, summary: "ImportSummary") -> None:
    """Show the documents of an import with one outcome or all, page by page."""
    total = sum(summary.counts.values())
    if not total:
        return
    outcome: Outcome | None = st.pills(
        words.REPORT_SHOW,
        [one for one in Outcome if summary.counts.get(one)],
        default=Outcome.FAILED if summary.counts.get(Outcome.FAILED) else None,
        format_func=lambda one: _counted(one, summary.counts),
        key=f"outcome-{summary.job.id}",
    )
    wanted = [outcome] if outcome else []
    total = summary.counts.get(outcome, 0) if outcome else total
    key = f"items-{summary.job.id}-{outcome}"
    offset = offset_of(key, ROWS)
    items = services.import_reports.items(
        principal(), summary.job.id, wanted, limit=ROWS, offset=offset
    )
    st.html(_items_html(items))
    last = number(offset + len(items))
    st.caption(words.REPORT_ROWS.format(first=number(offset + 1), last=last, total=number(total)))
    show_pages(total, ROWS, key)


def counts_html(counts: Mapping[Outcome, int]) -> str:
    """How many documents had which outcome."""
    told = "".join(
        f'<div><dt>{escape(words.OUTCOMES[one])}</dt><dd class="fn-{one.value}">'
        f"{number(counts[one])}</dd></div>"
        for one in Outcome
        if counts.get(one)
    )
    return f'<dl class="fn-counts">{told}</dl>'


def _made(summary: "ImportSummary") -> str:
    job = summary.job
    if job.finished_at is None:
        return ""
    made = words.TRIAL_MADE.format(ago=ago(job.finished_at), time=duration(job.seconds))
    return f'<p class="fn-made">{escape(made)}</p>'


def _figures(summary: "ImportSummary") -> str:
    figures = summary.figures
    if not figures.passages:
        return ""
    parts = [
        words.count(words.PASSAGES, figures.passages),
        words.count(words.TRIAL_PAGES, figures.pages) if figures.pages else "",
        words.count(words.TRIAL_CHARACTERS, figures.characters),
        words.count(words.TRIAL_TOKENS, figures.tokens),
        _price(summary),
    ]
    told = "".join(f"<span>{escape(part)}</span>" for part in parts if part)
    return f'<div class="fn-source-row">{told}</div>'


def _price(summary: "ImportSummary") -> str:
    if not summary.price:
        return str(words.TRIAL_FREE)
    if summary.price < SMALLEST:
        return str(words.COST_LESS.format(currency=summary.currency, amount=SMALLEST))
    price = number(float(f"{summary.price:.2g}"))
    return str(words.TRIAL_PRICE.format(price=price, currency=summary.currency))


def _counted(outcome: Outcome, counts: Mapping[Outcome, int]) -> str:
    name, n = words.OUTCOMES[outcome], number(counts.get(outcome, 0))
    return str(words.REPORT_OUTCOME.format(outcome=name, n=n))


def _history_html(jobs: Sequence[QueuedImport]) -> str:
    heads = [
        words.HISTORY_STARTED,
        words.HISTORY_KIND,
        words.HISTORY_STATE,
        words.HISTORY_DURATION,
        *(words.OUTCOMES[one] for one in COUNTED),
    ]
    return _table(heads, [_history_row(job) for job in jobs])


def _history_row(job: QueuedImport) -> list[str]:
    told = [day_and_time(job.started_at), words.JOB_KINDS[job.kind]]
    counts = [number(job.counts.get(one, 0)) for one in COUNTED]
    rest = [duration(job.seconds), *counts]
    return [*map(escape, told), badge(job.state), *map(escape, rest)]


def _entry(job: QueuedImport) -> str:
    kind, state = words.JOB_KINDS[job.kind], words.IMPORT_STATES[job.state]
    return str(
        words.HISTORY_ENTRY.format(kind=kind, started=day_and_time(job.started_at), state=state)
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
            escape(said(item.reason)),
        ]
        for item in items
    ]
    return _table(heads, rows)


def _name(item: ImportItem) -> str:
    """The key of a file, which is its path; of what lies elsewhere the title, a link to it."""
    if not item.location.startswith(WEB):
        return escape(item.key)
    return link_html(item.location, escape(item.name))


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML already; each knows its head, for narrow windows."""
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
