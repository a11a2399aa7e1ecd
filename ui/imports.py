"""The import page: the sources with their states, and the one that is chosen."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from domain import ImportState
from errors import NotFoundError
from ui import words
from ui.address import in_address, put_into_address
from ui.errors import errors_shown, show_error, show_problem
from ui.frame import show_title
from ui.html import escape, lang
from ui.language import ago
from ui.literal import literal
from ui.paging import offset_of, show_pages
from ui.services import principal
from ui.told import Told

if TYPE_CHECKING:
    from services.source_status import SourceStatus

CHOSEN, BOXES_PAGE = "source", "imports_boxes_page"
TOLD = Told("imports_told")
BOXES_SHOWN = 20
HERE = ("directory", "catalogue", "upload")
"""The kinds of sources whose files are on this machine."""

ICONS = {
    "directory": ":material/folder:",
    "confluence": ":material/menu_book:",
    "google_drive": ":material/add_to_drive:",
    "catalogue": ":material/storefront:",
    "upload": ":material/upload_file:",
}
POLLED = (ImportState.QUEUED, ImportState.RUNNING, ImportState.INTERRUPTED)


def show_imports_title(services: Services) -> None:
    """Show what the page is for, what was just done, and whether anybody does imports."""
    show_title(words.IMPORT_TITLE, words.IMPORT_INTRO)
    for text in TOLD.lines():
        st.html(f'<p class="fn-told" role="status">{escape(text)}</p>')
    if not services.queue.expects_worker():
        show_problem(words.NO_IMPORT_WORKER, severe=False)
        # `st.code` would have the browser load every language that it can colour.
        st.html(f'<pre class="fn-command">{escape(words.WORKER_COMMAND)}</pre>')


def choose_source(source_id: str | None) -> None:
    """Show this source from the next run on; None shows none."""
    put_into_address(CHOSEN, source_id or "")


def show_sources(services: Services) -> None:
    """Show every source; what runs is looked at again each two seconds."""
    st.html(f'<h2 class="fn-section">{escape(words.SOURCES_LISTED)}</h2>')
    runs = _something_runs(services)
    st.fragment(_show_list, run_every="2s" if runs else None)(services, polled=runs)


def chosen_source(services: Services) -> "SourceStatus | None":
    """The source that the address names, where the person may see it."""
    source_id = in_address(CHOSEN)
    if not source_id:
        return None
    try:
        return services.sources.get(principal(), source_id)
    except NotFoundError as error:
        choose_source(None)
        show_error(error)
        return None


def _something_runs(services: Services) -> bool:
    return any(job.state in POLLED for job in services.queue.current(principal()))


@errors_shown()
def _show_list(services: Services, *, polled: bool) -> None:
    statuses = services.sources.list(principal())
    if not statuses:
        st.caption(words.NO_SOURCES)
    _show_rows([one for one in statuses if not one.source.conversation_id])
    boxes = [one for one in statuses if one.source.conversation_id]
    if boxes:
        with st.expander(words.count(words.CONVERSATION_BOXES, len(boxes))):
            _show_boxes(boxes)
    if polled and not _something_runs(services):  # after the buttons, or a press would be lost
        st.rerun()  # the whole page, which then looks no more


def _show_boxes(boxes: Sequence["SourceStatus"]) -> None:
    offset = offset_of(BOXES_PAGE, BOXES_SHOWN)
    _show_rows(boxes[offset : offset + BOXES_SHOWN])
    show_pages(len(boxes), BOXES_SHOWN, BOXES_PAGE)


def _show_rows(statuses: Sequence["SourceStatus"]) -> None:
    for status in statuses:
        source = status.source
        with st.container(key=f"source-{source.id}", gap=None):
            key, icon = f"open-{source.id}", ICONS[source.kind]
            if st.button(literal(source.name), key=key, icon=icon, type="tertiary"):
                choose_source(source.id)
                st.rerun()
            st.html(_row_html(status))


def _row_html(status: "SourceStatus") -> str:
    return f'<div class="fn-source-row">{badges(status)}{_holds(status)}</div>'


def _holds(status: "SourceStatus") -> str:
    """What the library has of the source, and when it was and will be imported, as HTML."""
    figures = status.figures
    parts = [
        words.SOURCE_HOLDS.format(
            documents=words.count(words.DOCUMENTS, figures.documents),
            passages=words.count(words.PASSAGES, figures.passages),
        ),
        words.count(words.SOURCE_FAILED, figures.failed) if figures.failed else "",
        *_when(status),
    ]
    return "".join(f"<span>{escape(part)}</span>" for part in parts if part)


def is_box(status: "SourceStatus") -> bool:
    """Whether Footnote keeps the files of this source itself."""
    return status.source.kind == "upload"


def badges(status: "SourceStatus") -> str:
    """How the source stands, as HTML."""
    state = status.state or ""
    html = badge(state)
    if status.source.paused and state != ImportState.PAUSED:
        html += badge(ImportState.PAUSED)
    return html


def badge(state: str) -> str:
    """The state of an import as HTML; "" is none yet."""
    kind = (state or "never").replace(" ", "-")
    return f'<span class="fn-badge fn-state fn-{kind}">{escape(words.IMPORT_STATES[state])}</span>'


def _when(status: "SourceStatus") -> list[str]:
    """When the source was imported last, and when it will be by itself."""
    told = []
    if status.last and status.last.finished_at:
        told.append(words.SOURCE_IMPORTED.format(ago=ago(status.last.finished_at)))
    if status.next_refresh and not status.job:
        is_due = status.next_refresh <= datetime.now(UTC)
        coming = words.SOURCE_DUE if is_due else words.SOURCE_NEXT
        told.append(coming.format(ago=ago(status.next_refresh)))
    return told


def place_html(status: "SourceStatus") -> str:
    """The heading of a chosen source: its name, where it is, how it stands."""
    source = status.source
    parts = [
        words.SOURCE_KINDS[source.kind],
        source.location,
        words.SOURCE_IN_COLLECTION.format(name=source.collection),
    ]
    if is_box(status):
        parts.remove(source.location)  # a folder of Footnote's own, which tells people nothing
    told = "".join(f"<span>{escape(part)}</span>" for part in parts)
    return (
        f'<div class="fn-source-head"><h3{lang(source.name)}>{escape(source.name)}</h3>'
        f"{badges(status)}</div>"
        f'<div class="fn-source-row">{told}</div>'
        f'<div class="fn-source-row">{_holds(status)}</div>'
    )
