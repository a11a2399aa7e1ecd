"""The chosen source: what it does now, what it would do, its history, changing, deleting."""

from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from domain import ImportKind
from errors import AppError
from ui import words
from ui.errors import show_error
from ui.html import escape
from ui.import_progress import show_job
from ui.import_report import show_findings, show_history
from ui.imports import HERE, TOLD, choose_source, is_box, place_html
from ui.services import principal
from ui.source_fields import files_given, show_choices, show_fields
from ui.sources_form import form_key, renew_forms, settings_fields, tell_refused

if TYPE_CHECKING:
    from services.source_status import SourceStatus

HISTORY, EDIT, DELETE = "history", "edit", "delete"


def show_source(services: Services, status: "SourceStatus") -> None:
    """Show everything about a source, and the way back to the others."""
    st.button(
        words.ALL_SOURCES,
        icon=":material/arrow_back:",
        type="tertiary",
        on_click=choose_source,
        args=(None,),
    )
    with st.container(border=True, key="chosen-source"):
        st.html(place_html(status))
        _show_actions(services, status)
        show_job(services, status)
        show_findings(services, status)
        _show_view(services, status)


def _show_actions(services: Services, status: "SourceStatus") -> None:
    sources, source_id = services.sources, status.source.id
    is_leaving = status.job is not None and status.job.kind is ImportKind.REMOVAL
    paused = status.source.paused
    rest, icon = (words.RESUME_SOURCE, "play_arrow") if paused else (words.PAUSE_SOURCE, "pause")
    with st.container(horizontal=True):
        if st.button(words.REFRESH_NOW, icon=":material/sync:", disabled=is_leaving):
            sources.refresh(principal(), source_id)
            st.rerun()
        if st.button(
            words.TRY_IMPORT,
            icon=":material/science:",
            help=words.TRY_IMPORT_HELP,
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


def _show_view(services: Services, status: "SourceStatus") -> None:
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
        show_history(services, status.source.id)


def _show_edit(services: Services, status: "SourceStatus") -> None:
    source = status.source
    before = dict(services.source_kinds.get(source.kind).given(source))
    key = form_key(f"edit-{source.id}")
    st.caption(words.EDIT_FIXED)
    chosen = show_choices(services, source.kind, key, before)
    with st.form(key, border=False):
        given = show_fields(services, source.kind, chosen, before)
        settings = settings_fields(services, services.sources.settings(principal(), source.id))
        files = files_given(services, words.ADD_FILES) if is_box(status) else []
        sent = st.form_submit_button(words.EDIT_SAVE, type="primary")
    if not sent:
        return
    try:
        queued = services.sources.edit(principal(), source.id, given, settings)
        if files:
            _add_files(services, status, files)
    except AppError as error:
        show_error(error)
        return
    renew_forms()
    TOLD.say(words.EDIT_SAVED_IMPORT if queued else words.EDIT_SAVED)
    st.rerun()


def _add_files(services: Services, status: "SourceStatus", files: list[tuple[str, bytes]]) -> None:
    source = status.source
    place = (
        {"conversation_id": source.conversation_id}
        if source.conversation_id
        else {"box": source.id}
    )
    done = services.uploads.add(principal(), files, **place)
    tell_refused(done.refused)
    services.sources.refresh(principal(), source.id)


def _what_stays(status: "SourceStatus") -> str:
    if is_box(status):
        return str(words.DELETE_UPLOADS)
    is_here = status.source.kind in HERE
    return str(words.DELETE_KEEPS_FILES if is_here else words.DELETE_KEEPS_PAGES)


def _show_delete(services: Services, status: "SourceStatus") -> None:
    source = status.source
    preview = services.sources.preview_removal(principal(), source.id)
    removes = words.DELETE_REMOVES.format(
        documents=words.count(words.DOCUMENTS, preview.documents),
        passages=words.count(words.PASSAGES, preview.passages),
    )
    lines = [removes, _what_stays(status)]
    if preview.conversations:
        lines.append(words.count(words.DELETE_CITED, preview.conversations))
    told = "".join(f"<p>{escape(line)}</p>" for line in lines)
    st.html(f'<div class="fn-notice fn-warning">{told}</div>')
    if st.button(words.DELETE_NOW, icon=":material/delete_forever:", type="primary"):
        services.sources.delete(principal(), source.id)
        TOLD.say(words.DELETE_QUEUED.format(name=source.name))
        choose_source(None)
        st.rerun()
