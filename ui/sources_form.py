"""The form of each kind of source: tested before anything is kept."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import streamlit as st

from bootstrap import Services
from errors import AppError
from ui import words
from ui.errors import show_error, show_problem
from ui.html import escape
from ui.imports import TOLD, choose_source
from ui.literal import literal
from ui.service_text import said
from ui.services import principal
from ui.source_fields import Given, show_choices, show_fields

if TYPE_CHECKING:
    from services.source_kinds import Added, SameSourceError, Seen
    from services.source_status import SourceSettings

KIND, ROUND = "add_source_kind", "source_forms_round"
FORM, OPENED = "add_source", "add_source_opened"
SHOWN_SKIPPED = 5
IMPORT, TRY, TEST = "import", "try", "test"


def add_source(services: Services) -> None:
    """Show the form of the chosen kind, and do what its buttons say."""
    form = st.expander(words.ADD_SOURCE, icon=":material/add:", key=FORM, on_change="rerun")
    if form.open:
        st.session_state[OPENED] = True
    if st.session_state.get(OPENED):  # what was typed stays when the form is folded
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
    chosen = show_choices(services, kind, key)
    with st.form(key, border=False):
        given = show_fields(services, kind, chosen)
        settings = settings_fields(services)
        pressed = _buttons(is_upload=_takes_files(services, kind))
    if pressed:
        _do(services, kind, pressed, given, settings)


def form_key(name: str) -> str:
    """The key of a form, until the forms are renewed."""
    return f"{name}-{st.session_state.get(ROUND, 0)}"


def renew_forms() -> None:
    """Let forms show what is kept: what was typed or dropped into them has been taken."""
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def settings_fields(services: Services, before: "SourceSettings | None" = None) -> "SourceSettings":
    """Show what can be set of a source of any kind."""
    from services.source_status import Schedule, SourceSettings

    now = before or SourceSettings()
    left, right = st.columns(2)
    name = left.text_input(words.SOURCE_NAME, now.name, placeholder=words.SOURCE_NAME_HINT)
    collection = right.selectbox(
        words.SOURCE_COLLECTION,
        _collections(services, now.collection),
        index=0 if now.collection else None,
        placeholder=words.SOURCE_COLLECTION_HINT,
        accept_new_options=True,
        help=words.SOURCE_COLLECTION_HELP,
    )
    labels = left.text_input(words.SOURCE_LABELS, ", ".join(now.labels))
    schedule = right.selectbox(
        words.SOURCE_SCHEDULE,
        list(Schedule),
        index=list(Schedule).index(now.schedule),
        format_func=lambda one: words.SCHEDULES[one],
    )
    chosen = schedule or now.schedule
    return SourceSettings(name, collection or "", tuple(labels.split(",")), chosen)


def tell_refused(refused: Sequence[tuple[str, str]]) -> None:
    """Say which files were not taken, and why, when the page runs next."""
    if refused:
        lines = [_skipped_line(name, reason) for name, reason in refused[:SHOWN_SKIPPED]]
        TOLD.say(words.count(words.FILES_REFUSED, len(refused)), *lines)


def _collections(services: Services, now: str) -> list[str]:
    others = [one for one in services.sources.collections(principal()) if one != now]
    return [now, *others] if now else others


def _takes_files(services: Services, kind: str) -> bool:
    return any(field.type == "files" for field in services.source_kinds.get(kind).fields)


def _buttons(*, is_upload: bool) -> str:
    """The button that was pressed, or nothing."""
    with st.container(horizontal=True):
        if is_upload:
            sent = st.form_submit_button(words.UPLOAD_AND_IMPORT, type="primary")
            return IMPORT if sent else ""
        pressed = {
            IMPORT: st.form_submit_button(words.ADD_AND_IMPORT, type="primary"),
            TRY: st.form_submit_button(words.ADD_AND_TRY, help=words.ADD_AND_TRY_HELP),
            TEST: st.form_submit_button(words.TEST_SOURCE, icon=":material/network_check:"),
        }
    return next((name for name, was in pressed.items() if was), "")


def _do(
    services: Services, kind: str, pressed: str, given: Given, settings: "SourceSettings"
) -> None:
    from services.source_kinds import SameSourceError

    try:
        if pressed == TEST:
            _show_seen(services.sources.test(principal(), kind, given))
            return
        added = services.sources.add(principal(), kind, given, settings)
    except SameSourceError as error:
        _show_same(error)
        return
    except AppError as error:
        show_error(error)
        return
    queue = services.sources.dry_run if pressed == TRY else services.sources.refresh
    _go_on(added, lambda: queue(principal(), added.source.id))


def _go_on(added: "Added", queue: Callable[[], object]) -> None:
    queue()
    TOLD.say(words.SOURCE_ADDED.format(name=added.source.name))
    TOLD.say(*map(said, added.warnings))
    tell_refused([(one.key, one.reason) for one in added.refused])
    renew_forms()
    choose_source(added.source.id)
    st.rerun()


def _show_seen(seen: "Seen") -> None:
    if seen.is_all:
        st.success(words.count(words.TEST_PASSED, seen.documents))
    else:
        st.success(words.TEST_PASSED_MORE.format(n=seen.documents))
    lines = [f"<p>{escape(said(note))}</p>" for note in seen.notes]
    titles = escape(words.TEST_FIRST.format(titles=", ".join(seen.titles)))
    lines += [f"<p>{titles}</p>"] if seen.titles else []
    if seen.skipped:
        lines.append(f"<p>{escape(words.count(words.TEST_SKIPPED, len(seen.skipped)))}</p>")
        shown = seen.skipped[:SHOWN_SKIPPED]
        items = (f"<li>{escape(_skipped_line(one.name, one.reason))}</li>" for one in shown)
        lines.append(f"<ul>{''.join(items)}</ul>")
    st.html(f'<div class="fn-seen">{"".join(lines)}</div>')
    for warning in seen.warnings:
        show_problem(warning, severe=False)


def _show_same(error: "SameSourceError") -> None:
    show_problem(str(error))
    label = words.OPEN_EXISTING.format(name=literal(error.source.name))
    st.button(label, on_click=choose_source, args=(error.source.id,))


def _skipped_line(name: str, reason: str) -> str:
    return str(words.SKIPPED_FILE.format(name=name, reason=said(reason)))
