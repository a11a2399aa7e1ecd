"""The form for each kind of source; the input is tested before anything is stored."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from bootstrap import Services
from errors import AppError
from ui.shared.frame import Notices, principal, put_into_address, show_error, show_problem
from ui.shared.safe_html import escape, literal
from ui.text import words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from services.sources.source_kinds import AddedSource, Field, SameSourceError, SourcePreview
    from services.sources.source_service import SourceSettings


FieldValues = dict[str, Any]
CHOSEN = "source"
NOTICES = Notices("imports_told")


def show_choices(
    services: Services, kind: str, key: str, before: FieldValues | None = None
) -> FieldValues:
    """Show the choices that other fields depend on, and return all values.

    They are outside the form, because each change reruns the page. If there are values from
    `before`, fixed fields are not shown and keep their values.
    """
    from services.sources.source_kinds import deciding

    values = dict(before or {})
    choices = deciding(services.source_kinds.get(kind).fields)
    visible = [one for one in choices if before is None or not one.fixed]
    for one, place in zip(visible, _places(len(visible), in_two=True), strict=True):
        with place:
            values[one.name] = _choose(kind, one, values.get(one.name), f"choice-{one.name}-{key}")
    return values


def show_fields(
    services: Services, kind: str, chosen: FieldValues, before: FieldValues | None = None
) -> FieldValues:
    """Show the fields that apply to the `chosen` values; returns the input and those values."""
    from services.sources.source_kinds import deciding

    every = services.source_kinds.get(kind).fields
    others = [one for one in every if one not in deciding(every) and one.applies(chosen)]
    visible = [one for one in others if before is None or not one.fixed]
    switches = [one for one in visible if one.type == "switch"]
    inputs = [one for one in visible if one not in switches]
    values = dict(chosen)
    for one, place in zip(inputs, _places(len(inputs), in_two=bool(chosen)), strict=True):
        with place:
            values[one.name] = _widget(services, kind, one, (before or {}).get(one.name))
    return values | _switches(kind, switches, before or {})


def _places(n: int, *, in_two: bool) -> "list[DeltaGenerator]":
    """Containers for `n` fields: one below the other, or in pairs side by side."""
    pairs = n // 2 if in_two else 0
    places = [column for _ in range(pairs) for column in st.columns(2)]
    return places + [st.container() for _ in range(n - 2 * pairs)]


def uploaded_files(services: Services, label: str) -> list[tuple[str, bytes]]:
    """Show a file uploader; returns the names and contents of the uploaded files."""
    kinds = [f".{extension}" for extension in services.uploads.extensions]
    most = services.uploads.max_file_mb
    files = st.file_uploader(label, kinds, accept_multiple_files=True, max_upload_size=most)
    return [(file.name, file.getvalue()) for file in files]


class _Texts(NamedTuple):
    label: str
    hint: str
    help: str | None


def _texts(kind: str, field: "Field") -> _Texts:
    """The texts of a field; those of this kind take precedence over the general ones."""
    own = f"{kind}.{field.name}"
    name = own if own in words.SOURCE_FIELDS else field.name
    hint, about = words.SOURCE_FIELD_HINTS.get(name, ""), words.SOURCE_FIELD_HELP.get(name)
    return _Texts(words.SOURCE_FIELDS[name], hint, about)


def _switches(kind: str, switches: "Sequence[Field]", before: FieldValues) -> FieldValues:
    if not switches:
        return {}
    with st.container(horizontal=True, key="field-switches"):
        labels = {one.name: _texts(kind, one) for one in switches}
        return {
            name: st.toggle(texts.label, bool(before.get(name)), help=texts.help)
            for name, texts in labels.items()
        }


def _widget(services: Services, kind: str, field: "Field", before: Any) -> Any:
    label, hint, about = _texts(kind, field)
    if field.type == "files":
        return uploaded_files(services, label)
    if field.type == "choice":
        return _choose(kind, field, before, None)
    if field.type == "lines":
        return st.text_area(label, "\n".join(before or ()), placeholder=hint, height=68, help=about)
    if field.secret:
        return _secret(label, hint, before)
    return st.text_input(label, before or field.default, placeholder=hint, help=about)


def _secret(label: str, hint: str, before: str | None) -> str:
    """The input for a secret; a stored one is never shown, at most the name of its variable."""
    stored = words.EMPTY_KEEPS_NAME.format(name=before) if before else words.STAYS_AS_IT_IS
    return st.text_input(
        label,
        type="password",
        placeholder=hint if before is None else stored,
        autocomplete="off",
        help=words.CREDENTIAL_HELP,
    )


def _choose(kind: str, field: "Field", before: Any, key: str | None) -> str:
    label, _, about = _texts(kind, field)
    options = list(field.options)
    chosen = st.selectbox(
        label,
        options,
        index=options.index(before) if before in options else 0,
        format_func=lambda one: words.SOURCE_CHOICES[field.name][one],
        key=key,
        help=about,
    )
    return chosen or options[0]


KIND, ROUND = "add_source_kind", "source_forms_round"
FORM, OPENED = "add_source", "add_source_opened"
SHOWN_SKIPPED = 5
IMPORT, TRY, TEST = "import", "try", "test"


def choose_source(source_id: str | None) -> None:
    """Show this source from the next run on; None shows the list."""
    put_into_address(CHOSEN, source_id or "")


def add_source(services: Services) -> None:
    """Show the form of the selected kind, and perform the action of the clicked button."""
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
    chosen = show_choices(services, kind, key)
    with st.form(key, border=False):
        values = show_fields(services, kind, chosen)
        settings = settings_fields(services)
        pressed = _buttons(is_upload=_takes_files(services, kind))
    if pressed:
        _do(services, kind, pressed, values, settings)


def form_key(name: str) -> str:
    """The key of a form, which changes when the forms are renewed."""
    return f"{name}-{st.session_state.get(ROUND, 0)}"


def renew_forms() -> None:
    """Reset all forms, because their input has been stored."""
    st.session_state[ROUND] = st.session_state.get(ROUND, 0) + 1


def settings_fields(services: Services, before: "SourceSettings | None" = None) -> "SourceSettings":
    """Show the settings that all kinds of sources share, and return their values."""
    from services.sources.source_service import Schedule, SourceSettings

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
    """Show which files were rejected, and why, in the next run of the page."""
    if refused:
        lines = [_skipped_line(name, reason) for name, reason in refused[:SHOWN_SKIPPED]]
        NOTICES.say(words.count(words.FILES_REFUSED, len(refused)), *lines)


def _collections(services: Services, now: str) -> list[str]:
    others = [one for one in services.sources.collections(principal()) if one != now]
    return [now, *others] if now else others


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


def _do(
    services: Services, kind: str, pressed: str, values: FieldValues, settings: "SourceSettings"
) -> None:
    from services.sources.source_kinds import SameSourceError

    try:
        if pressed == TEST:
            _show_preview(services.sources.test(principal(), kind, values))
            return
        added = services.sources.add(principal(), kind, values, settings)
    except SameSourceError as error:
        _show_same(error)
        return
    except AppError as error:
        show_error(error)
        return
    queue = services.sources.dry_run if pressed == TRY else services.sources.refresh
    _go_on(added, lambda: queue(principal(), added.source.id))


def _go_on(added: "AddedSource", queue: Callable[[], object]) -> None:
    queue()
    NOTICES.say(words.SOURCE_ADDED.format(name=added.source.name))
    NOTICES.say(*map(words.translated, added.warnings))
    tell_refused([(one.key, one.reason) for one in added.refused])
    renew_forms()
    choose_source(added.source.id)
    st.rerun()


def _show_preview(preview: "SourcePreview") -> None:
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


def _show_same(error: "SameSourceError") -> None:
    show_problem(str(error))
    label = words.OPEN_EXISTING.format(name=literal(error.source.name))
    st.button(label, on_click=choose_source, args=(error.source.id,))


def _skipped_line(name: str, reason: str) -> str:
    return str(words.SKIPPED_FILE.format(name=name, reason=words.translated(reason)))
