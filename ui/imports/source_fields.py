"""The fields that describe a source: what its kind asks for, and the settings of every kind."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from bootstrap import Services
from services.sources.source_kinds import Field, deciding
from services.sources.source_service import Schedule, SourceSettings
from ui.documents.highlight import link_html
from ui.shared.frame import principal
from ui.shared.safe_html import escape, run_script
from ui.text import words

FieldValues = dict[str, Any]
ADDRESS = "url"
"""The field that says where a remote source is; it comes first."""


def show_choices(
    services: Services, kind: str, key: str, before: FieldValues | None = None
) -> FieldValues:
    """Show the choices that other fields depend on, and return all values.

    They are outside the form, because each change reruns the page. If there are values from
    `before`, fixed fields are not shown and keep their values.
    """
    values = dict(before or {})
    choices = deciding(services.source_kinds.get(kind).fields)
    visible = [one for one in choices if before is None or not one.fixed]
    for one, place in zip(visible, _places(len(visible), in_two=True), strict=True):
        with place:
            values[one.name] = _choose(kind, one, values.get(one.name), f"choice-{one.name}-{key}")
    return values


class NewFields(NamedTuple):
    """The fields of a new source besides its address and choices."""

    main: list[Field]
    more: list[Field]
    """The fields that most sources leave as they are."""


def show_address(services: Services, kind: str, key: str) -> FieldValues:
    """Show the address of a kind with choices, which it precedes; returns its value.

    Choices are outside the form, so the address has to be outside too.
    """
    fields = services.source_kinds.get(kind).fields
    address = next((one for one in fields if one.name == ADDRESS), None)
    if address is None or not deciding(fields):
        return {}
    label, hint, about = _texts(kind, address)
    return {ADDRESS: st.text_input(label, placeholder=hint, help=about, key=f"address-{key}")}


def new_fields(services: Services, kind: str, chosen: FieldValues) -> NewFields:
    """The fields that a new source with these choices needs."""
    others = [one for one in _applicable(services, kind, chosen) if one.name not in chosen]
    main = [one for one in others if one.required or one.when]
    return NewFields(main, [one for one in others if one not in main])


def editable_fields(services: Services, kind: str, chosen: FieldValues) -> list[Field]:
    """The fields that can be changed later, for these choices."""
    return [one for one in _applicable(services, kind, chosen) if not one.fixed]


def _applicable(services: Services, kind: str, chosen: FieldValues) -> list[Field]:
    every = services.source_kinds.get(kind).fields
    return [one for one in every if one not in deciding(every) and one.applies(chosen)]


def show_fields(
    services: Services,
    kind: str,
    fields: Sequence[Field],
    before: FieldValues | None = None,
    *,
    in_two: bool = False,
) -> FieldValues:
    """Show these fields, optionally in two columns; returns their values."""
    switches = [one for one in fields if one.type == "switch"]
    inputs = [one for one in fields if one not in switches]
    values: FieldValues = {}
    for one, place in zip(inputs, _places(len(inputs), in_two=in_two), strict=True):
        with place:
            values[one.name] = _widget(services, kind, one, (before or {}).get(one.name))
    return values | _switches(kind, switches, before or {})


def show_sign_in_help(chosen: FieldValues) -> None:
    """Show where to get what the chosen way to sign in needs, with a link."""
    if text := words.SIGN_IN_HELP.get(chosen.get("login", "")):
        address = words.SIGN_IN_ADDRESSES[chosen["login"]]
        shown = escape(address.removeprefix("https://"))
        html = escape(text).format(link=link_html(address, shown))
        st.html(f'<p class="fn-sign-in-help">{html}</p>')


def _places(n: int, *, in_two: bool) -> list[DeltaGenerator]:
    """Containers for `n` fields: one below the other, or in pairs side by side."""
    pairs = n // 2 if in_two else 0
    places = [column for _ in range(pairs) for column in st.columns(2)]
    return places + [st.container() for _ in range(n - 2 * pairs)]


def uploaded_files(services: Services, label: str) -> list[tuple[str, bytes]]:
    """Show uploaders for files and for a folder; returns the paths and contents of the files.

    A folder may be dropped on either.
    """
    run_script("folder_paths")
    kinds = [f".{extension}" for extension in services.uploads.extensions]
    most = services.uploads.max_file_mb
    left, right = st.columns(2)
    files = left.file_uploader(label, kinds, accept_multiple_files=True, max_upload_size=most)
    folder = right.file_uploader(
        words.FOLDER, kinds, accept_multiple_files="directory", max_upload_size=most
    )
    return [(file.name, file.getvalue()) for file in (*files, *folder)]


class _Texts(NamedTuple):
    label: str
    hint: str
    help: str | None


def _texts(kind: str, field: Field) -> _Texts:
    """The texts of a field; those of this kind take precedence over the general ones."""
    own = f"{kind}.{field.name}"
    name = own if own in words.SOURCE_FIELDS else field.name
    hint, about = words.SOURCE_FIELD_HINTS.get(name, ""), words.SOURCE_FIELD_HELP.get(name)
    return _Texts(words.SOURCE_FIELDS[name], hint, about)


def _switches(kind: str, switches: Sequence[Field], before: FieldValues) -> FieldValues:
    if not switches:
        return {}
    with st.container(horizontal=True, key="field-switches"):
        labels = {one.name: _texts(kind, one) for one in switches}
        return {
            name: st.toggle(texts.label, bool(before.get(name)), help=texts.help)
            for name, texts in labels.items()
        }


def _widget(services: Services, kind: str, field: Field, before: Any) -> Any:
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


def _choose(kind: str, field: Field, before: Any, key: str | None) -> str:
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


def settings_fields(
    services: Services,
    before: SourceSettings | None = None,
    *,
    has_name: bool = True,
) -> SourceSettings:
    """Show the settings that all kinds of sources share, and return their values.

    Without `has_name`, another field of the form contains the name.
    """
    now = before or SourceSettings()
    left, right = st.columns(2)
    name = now.name
    if has_name:
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


def _collections(services: Services, now: str) -> list[str]:
    others = [one for one in services.sources.collections(principal()) if one != now]
    return [now, *others] if now else others
