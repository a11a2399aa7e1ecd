"""The form for a new source; the input is tested before anything is stored."""

from collections.abc import Sequence
from typing import NamedTuple

import streamlit as st

from bootstrap import Services
from domain.errors import AppError
from services.sources.source_kinds import SameSourceError, SourceAddition, SourcePreview
from services.sources.source_service import SourceSettings
from ui.imports.source_fields import (
    FieldValues,
    new_fields,
    settings_fields,
    show_address,
    show_choices,
    show_fields,
    show_sign_in_help,
)
from ui.shared.frame import (
    NEW_SOURCE,
    Notices,
    form_key,
    in_address,
    principal,
    put_into_address,
    renew_forms,
    show_error,
    show_problem,
)
from ui.shared.safe_html import escape, literal
from ui.text import words

CHOSEN = "source"
NOTICES = Notices("imports_notices")
KIND = "add_source_kind"
FORM, OPENED = "add_source", "add_source_opened"
UNFOLDED, ERROR = "add_source_unfolded", "add_source_error"
SHOWN_SKIPPED = 5
IMPORT, TRY, TEST = "import", "try", "test"


def choose_source(source_id: str | None) -> None:
    """Show this source from the next run on; None shows the list."""
    put_into_address(CHOSEN, source_id or "")


def add_source(services: Services) -> None:
    """Show the form of the selected kind, and perform the action of the clicked button."""
    if in_address(NEW_SOURCE):
        put_into_address(NEW_SOURCE, "")
        st.session_state[FORM] = True
    form = st.expander(words.ADD_SOURCE, icon=":material/add:", key=FORM, on_change="rerun")
    if form.open:
        st.session_state[OPENED] = True
    if st.session_state.get(OPENED):  # input is kept while the form is collapsed
        with form:
            _show_form(services)


def _show_form(services: Services) -> None:
    names = services.source_kinds.names()
    kind: str | None = st.segmented_control(
        words.SOURCE_KIND,
        names,
        default=names[0],
        required=True,
        key=KIND,
        format_func=lambda name: words.SOURCE_KINDS[name],
    )
    kind = kind or names[0]
    key = form_key(f"add-{kind}")
    chosen = show_address(services, kind, key)
    chosen |= show_choices(services, kind, key)
    show_sign_in_help(chosen)
    with st.form(key, border=False):
        entry = _show_entry(services, kind, key, chosen)
        pressed = _buttons(is_upload=_takes_files(services, kind))
    if error := st.session_state.pop(ERROR, None):
        show_error(error)
    if pressed:
        _do(services, kind, pressed, entry, key)


class _Entry(NamedTuple):
    """The input of the form; `has_more` is True if folded fields of the kind are filled in."""

    values: FieldValues
    settings: SourceSettings
    has_more: bool


def _show_entry(services: Services, kind: str, key: str, chosen: FieldValues) -> _Entry:
    main, more = new_fields(services, kind, chosen)
    values = chosen | show_fields(services, kind, main, in_two="login" in chosen)
    with st.expander(words.MORE_OPTIONS, expanded=st.session_state.get(UNFOLDED) == key):
        more_values = show_fields(services, kind, more)
        settings = settings_fields(services, has_name=not _takes_files(services, kind))
    has_more = any(more_values[one.name] not in ("", False, *one.options[:1]) for one in more)
    return _Entry(values | more_values, settings, has_more)


def show_rejections(rejections: Sequence[tuple[str, str]]) -> None:
    """Show which files were rejected, and why, in the next run of the page."""
    if rejections:
        lines = [_skipped_line(name, reason) for name, reason in rejections[:SHOWN_SKIPPED]]
        NOTICES.say(words.count(words.FILE_REJECTIONS, len(rejections)), *lines)


def _takes_files(services: Services, kind: str) -> bool:
    return any(field.type == "files" for field in services.source_kinds.get(kind).fields)


def _buttons(*, is_upload: bool) -> str:
    """Show the buttons; returns the clicked one, or ""."""
    with st.container(horizontal=True):
        if is_upload:
            sent = st.form_submit_button(words.UPLOAD_AND_IMPORT, type="primary")
            return IMPORT if sent else ""
        pressed = {
            IMPORT: st.form_submit_button(words.ADD_AND_IMPORT, type="primary"),
            TRY: st.form_submit_button(words.ADD_AND_DRY_RUN, help=words.ADD_AND_DRY_RUN_HELP),
            TEST: st.form_submit_button(words.TEST_SOURCE, icon=":material/network_check:"),
        }
    return next((name for name, was in pressed.items() if was), "")


def _do(services: Services, kind: str, pressed: str, entry: _Entry, key: str) -> None:
    try:
        if pressed == TEST:
            _show_preview(services.sources.test(principal(), kind, entry.values))
            return
        added = services.sources.add(principal(), kind, entry.values, entry.settings)
    except SameSourceError as error:
        _show_same(error)
        return
    except AppError as error:
        _show_cause(error, entry, key)
        return
    queue = services.sources.dry_run if pressed == TRY else services.sources.refresh
    queue(principal(), added.source.id)
    _show_added(added)


def _show_cause(error: AppError, entry: _Entry, key: str) -> None:
    """Show the error; if a folded field may be its cause, unfold these fields first."""
    if not entry.has_more or st.session_state.get(UNFOLDED) == key:
        show_error(error)
        return
    st.session_state[UNFOLDED], st.session_state[ERROR] = key, error
    st.rerun()


def _show_added(added: SourceAddition) -> None:
    """Open the new source in the next run of the page, with what became of its input."""
    NOTICES.say(words.SOURCE_ADDED.format(name=added.source.name))
    NOTICES.say(*map(words.translated, added.warnings))
    show_rejections([(one.key, one.reason) for one in added.rejections])
    renew_forms()
    choose_source(added.source.id)
    st.rerun()


def _show_preview(preview: SourcePreview) -> None:
    if preview.is_all:
        st.success(words.count(words.TEST_PASSED, preview.documents))
    else:
        st.success(words.TEST_PASSED_MORE.format(n=preview.documents))
    lines = [f"<p>{escape(words.translated(note))}</p>" for note in preview.notes]
    titles = escape(words.TEST_FIRST.format(titles=", ".join(preview.titles)))
    lines += [f"<p>{titles}</p>"] if preview.titles else []
    if preview.skipped:
        lines.append(f"<p>{escape(words.count(words.TEST_SKIPPED, len(preview.skipped)))}</p>")
        shown = preview.skipped[:SHOWN_SKIPPED]
        items = (f"<li>{escape(_skipped_line(one.name, one.reason))}</li>" for one in shown)
        lines.append(f"<ul>{''.join(items)}</ul>")
    st.html(f'<div class="fn-seen">{"".join(lines)}</div>')
    for warning in preview.warnings:
        show_problem(warning, severe=False)


def _show_same(error: SameSourceError) -> None:
    show_problem(str(error))
    label = words.OPEN_EXISTING.format(name=literal(error.source.name))
    st.button(label, on_click=choose_source, args=(error.source.id,))


def _skipped_line(name: str, reason: str) -> str:
    return str(words.SKIPPED_FILE.format(name=name, reason=words.translated(reason)))
