"""The import page: the list of sources with their states, and the selected source."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime

import streamlit as st

from bootstrap import Services
from domain import ImportKind, ImportState
from domain.errors import NotFoundError
from services.sources.source_service import SourceStatus
from ui.imports.import_report import (
    HERE,
    POLLED,
    badge,
    show_findings,
    show_history,
    show_import_run,
)
from ui.imports.source_fields import (
    editable_fields,
    settings_fields,
    show_choices,
    show_fields,
    show_sign_in_help,
    uploaded_files,
)
from ui.imports.source_form import (
    CHOSEN,
    NOTICES,
    choose_source,
    show_rejections,
)
from ui.imports.source_question import show_ask_button
from ui.library.sample_documents import show_sample_import, show_sample_removal
from ui.shared.frame import (
    form_key,
    in_address,
    offset_of,
    principal,
    renew_forms,
    show_error,
    show_errors,
    show_pages,
    show_problem,
    show_title,
)
from ui.shared.safe_html import escape, lang, literal, spans_html
from ui.text import words
from ui.text.reader_language import ago

BOXES_PAGE = "imports_boxes_page"
BOXES_SHOWN = 20

ICONS = {
    "directory": ":material/folder:",
    "confluence": ":material/menu_book:",
    "google_drive": ":material/add_to_drive:",
    "catalogue": ":material/storefront:",
    "upload": ":material/upload_file:",
}


def show_imports_title(services: Services) -> None:
    """Show the page's heading, recent notices, and a warning if no worker is running."""
    show_title(words.IMPORT_TITLE, words.IMPORT_INTRO)
    NOTICES.show()
    if not services.queue.expects_worker():
        show_problem(words.NO_IMPORT_WORKER, severe=False)
        # `st.code` would make the browser load the syntax highlighting of every language.
        st.html(f'<pre class="fn-command">{escape(words.WORKER_COMMAND)}</pre>')


def show_sources(services: Services) -> None:
    """Show all sources, refreshed every two seconds while an import is in progress."""
    st.html(f'<h2 class="fn-section">{escape(words.SOURCES_LISTED)}</h2>')
    runs = _something_runs(services)
    st.fragment(_show_list, run_every="2s" if runs else None)(services, polled=runs)
    _show_sample_actions(services)  # outside the fragment, whose refresh would interrupt an import


def chosen_source(services: Services) -> SourceStatus | None:
    """The source in the page's address; None if there is none or the user may not see it."""
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
    return any(run.state in POLLED for run in services.queue.current(principal()))


@show_errors()
def _show_list(services: Services, *, polled: bool) -> None:
    statuses = services.sources.list(principal())
    if not statuses:
        st.caption(words.NO_SOURCES)
    _show_rows([one for one in statuses if not one.source.conversation_id])
    boxes = [one for one in statuses if one.source.conversation_id]
    if boxes:
        with st.expander(words.count(words.CONVERSATION_BOXES, len(boxes))):
            _show_boxes(boxes)
    if polled and not _something_runs(services):  # after the buttons, or a click would be lost
        st.rerun()  # the whole page, which then stops polling


def _show_sample_actions(services: Services) -> None:
    if services.directories.samples(principal()):
        show_sample_removal(services)
    else:
        show_sample_import(services)


def _show_boxes(boxes: Sequence[SourceStatus]) -> None:
    offset = offset_of(BOXES_PAGE, BOXES_SHOWN)
    _show_rows(boxes[offset : offset + BOXES_SHOWN])
    show_pages(len(boxes), BOXES_SHOWN, BOXES_PAGE)


def _show_rows(statuses: Sequence[SourceStatus]) -> None:
    for status in statuses:
        source = status.source
        with st.container(key=f"source-{source.id}", gap=None):
            key, icon = f"open-{source.id}", ICONS[source.kind]
            if st.button(literal(source.name), key=key, icon=icon, type="tertiary"):
                choose_source(source.id)
                st.rerun()
            st.html(f'<div class="fn-source-row">{badges(status)}{_holds(status)}</div>')


def _holds(status: SourceStatus) -> str:
    """The source's documents in the library, and its last and next import, as HTML."""
    figures = status.figures
    parts = [
        words.SOURCE_HOLDS.format(
            documents=words.count(words.DOCUMENTS, figures.documents),
            passages=words.count(words.PASSAGES, figures.passages),
        ),
        words.count(words.SOURCE_FAILED, figures.failed) if figures.failed else "",
        *_when(status),
    ]
    return spans_html(parts)


def is_box(status: SourceStatus) -> bool:
    """Whether the source is an upload box, whose files Footnote stores itself."""
    return status.source.kind == "upload"


def badges(status: SourceStatus) -> str:
    """The state of the source as HTML."""
    state = status.state or ""
    html = badge(state)
    if status.source.paused and state != ImportState.PAUSED:
        html += badge(ImportState.PAUSED)
    return html


def _when(status: SourceStatus) -> list[str]:
    """The time of the last import, and of the next automatic one."""
    parts = []
    if status.last and status.last.finished_at:
        parts.append(words.SOURCE_IMPORTED.format(ago=ago(status.last.finished_at)))
    if status.next_refresh and not status.run:
        is_due = status.next_refresh <= datetime.now(UTC)
        coming = words.SOURCE_DUE if is_due else words.SOURCE_NEXT
        parts.append(coming.format(ago=ago(status.next_refresh)))
    return parts


def place_html(status: SourceStatus) -> str:
    """The heading of the selected source: its name, location, and state."""
    source = status.source
    parts = [
        words.SOURCE_KINDS[source.kind],
        source.location,
        words.SOURCE_IN_COLLECTION.format(name=source.collection),
    ]
    if is_box(status):
        parts.remove(source.location)  # an internal folder, of no interest to users
    return (
        f'<div class="fn-source-head"><h3{lang(source.name)}>{escape(source.name)}</h3>'
        f"{badges(status)}</div>"
        f'<div class="fn-source-row">{spans_html(parts)}</div>'
        f'<div class="fn-source-row">{_holds(status)}</div>'
    )


HISTORY, EDIT, DELETE = "history", "edit", "delete"


def show_source(services: Services, status: SourceStatus) -> None:
    """Show everything about a source, with a button back to the list."""
    st.button(
        words.ALL_SOURCES,
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=choose_source,
        args=(None,),
    )
    with st.container(border=True, key="chosen-source"):
        every = "2s" if status.run is not None and status.run.state in POLLED else None
        st.fragment(_show_head, run_every=every)(services, status.source.id)
        _show_actions(services, status)
        show_import_run(services, status)
        show_findings(services, status)
        _show_view(services, status)


@show_errors()
def _show_head(services: Services, source_id: str) -> None:
    """Show the heading of the selected source, whose documents an import may be adding."""
    with suppress(NotFoundError):  # removed meanwhile; the panel of its run reruns the page
        st.html(place_html(services.sources.get(principal(), source_id)))


def _show_actions(services: Services, status: SourceStatus) -> None:
    sources, source_id = services.sources, status.source.id
    is_leaving = status.run is not None and status.run.kind is ImportKind.REMOVAL
    paused = status.source.paused
    rest, icon = (words.RESUME_SOURCE, "play_arrow") if paused else (words.PAUSE_SOURCE, "pause")
    with st.container(horizontal=True):
        show_ask_button(status)
        if st.button(words.REFRESH_NOW, icon=":material/sync:", disabled=is_leaving):
            sources.refresh(principal(), source_id)
            st.rerun()
        if st.button(
            words.START_DRY_RUN,
            icon=":material/science:",
            help=words.START_DRY_RUN_HELP,
            disabled=is_leaving,
        ):
            sources.dry_run(principal(), source_id)
            st.rerun()
        if st.button(
            rest,
            key=f"pause-{source_id}",
            icon=f":material/{icon}:",
            help=words.PAUSE_SOURCE_HELP,
            disabled=is_leaving,
        ):
            (sources.resume if paused else sources.pause)(principal(), source_id)
            st.rerun()


def _show_view(services: Services, status: SourceStatus) -> None:
    names = {
        HISTORY: words.HISTORY,
        EDIT: words.EDIT_SOURCE,
        DELETE: words.DELETE_SOURCE,
    }
    view = st.segmented_control(
        words.REPORT_SHOW,
        list(names),
        default=HISTORY,
        required=True,
        format_func=names.__getitem__,
        label_visibility="collapsed",
        key=f"view-{status.source.id}",
    )
    if view == EDIT:
        _show_edit(services, status)
    elif view == DELETE:
        _show_delete(services, status)
    else:
        show_history(services, status)


def _show_edit(services: Services, status: SourceStatus) -> None:
    source = status.source
    before = dict(services.source_kinds.get(source.kind).field_values(source))
    key = form_key(f"edit-{source.id}")
    st.caption(words.EDIT_FIXED)
    chosen = show_choices(services, source.kind, key, before)
    show_sign_in_help(chosen)
    fields = editable_fields(services, source.kind, chosen)
    with st.form(key, border=False):
        values = chosen | show_fields(
            services, source.kind, fields, before, in_two="login" in chosen
        )
        settings = settings_fields(services, services.sources.settings(principal(), source.id))
        files = uploaded_files(services, words.ADD_FILES) if is_box(status) else []
        sent = st.form_submit_button(words.EDIT_SAVE, type="primary")
    if not sent:
        return
    with show_errors():
        queued = None
        if files:  # first, so that the settings stay as they are if the files can't be stored
            _add_files(services, status, files)
            queued = services.sources.refresh(principal(), source.id)
        queued = services.sources.edit(principal(), source.id, values, settings) or queued
        renew_forms()
        NOTICES.say(words.EDIT_SAVED_IMPORT if queued else words.EDIT_SAVED)
        st.rerun()


def _add_files(services: Services, status: SourceStatus, files: list[tuple[str, bytes]]) -> None:
    source = status.source
    place = (
        {"conversation_id": source.conversation_id}
        if source.conversation_id
        else {"box": source.id}
    )
    result = services.uploads.add(principal(), files, unpack=True, **place)
    show_rejections(result.rejections)


def _what_stays(status: SourceStatus) -> str:
    if is_box(status):
        return str(words.DELETE_UPLOADS)
    is_here = status.source.kind in HERE
    return str(words.DELETE_KEEPS_FILES if is_here else words.DELETE_KEEPS_PAGES)


def _show_delete(services: Services, status: SourceStatus) -> None:
    source = status.source
    preview = services.sources.preview_removal(principal(), source.id)
    removes = words.DELETE_REMOVES.format(
        documents=words.count(words.DOCUMENTS, preview.documents),
        passages=words.count(words.PASSAGES, preview.passages),
    )
    lines = [removes, _what_stays(status)]
    if preview.conversations:
        lines.append(words.count(words.DELETE_CITED, preview.conversations))
    text = "".join(f"<p>{escape(line)}</p>" for line in lines)
    st.html(f'<div class="fn-notice fn-warning">{text}</div>')
    if st.button(words.DELETE_NOW, icon=":material/delete_forever:", type="primary"):
        services.sources.delete(principal(), source.id)
        NOTICES.say(words.DELETE_QUEUED.format(name=source.name))
        choose_source(None)
        st.rerun()
