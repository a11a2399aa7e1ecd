"""The fields of a kind of source as widgets: some are there only with certain choices."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import streamlit as st

from bootstrap import Services
from ui import words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

    from services.source_fields import Field

Given = dict[str, Any]


def show_choices(services: Services, kind: str, key: str, before: Given | None = None) -> Given:
    """Show the choices that other fields depend on: outside of a form, as each runs the page.

    Of what there was `before` only what can be changed is shown; the rest is given back as it is.
    """
    from services.source_fields import deciding

    given = dict(before or {})
    choices = deciding(services.source_kinds.get(kind).fields)
    shown = [one for one in choices if before is None or not one.fixed]
    for one, place in zip(shown, _places(len(shown), in_two=True), strict=True):
        with place:
            given[one.name] = _choose(kind, one, given.get(one.name), f"choice-{one.name}-{key}")
    return given


def show_fields(services: Services, kind: str, chosen: Given, before: Given | None = None) -> Given:
    """Show the fields that are there with what was `chosen`; what was filled in, and chosen."""
    from services.source_fields import deciding

    every = services.source_kinds.get(kind).fields
    others = [one for one in every if one not in deciding(every) and one.applies(chosen)]
    shown = [one for one in others if before is None or not one.fixed]
    switches = [one for one in shown if one.type == "switch"]
    told = [one for one in shown if one not in switches]
    given = dict(chosen)
    for one, place in zip(told, _places(len(told), in_two=bool(chosen)), strict=True):
        with place:
            given[one.name] = _widget(services, kind, one, (before or {}).get(one.name))
    return given | _switches(kind, switches, before or {})


def _places(n: int, *, in_two: bool) -> "list[DeltaGenerator]":
    """Where so many fields are shown: below each other, or two by two where there is room."""
    pairs = n // 2 if in_two else 0
    places = [column for _ in range(pairs) for column in st.columns(2)]
    return places + [st.container() for _ in range(n - 2 * pairs)]


def files_given(services: Services, label: str) -> list[tuple[str, bytes]]:
    """Show where files are dropped; the names and contents of those that were."""
    kinds = [f".{extension}" for extension in services.uploads.extensions]
    most = services.uploads.max_file_mb
    files = st.file_uploader(label, kinds, accept_multiple_files=True, max_upload_size=most)
    return [(file.name, file.getvalue()) for file in files]


class _Texts(NamedTuple):
    label: str
    hint: str
    help: str | None


def _texts(kind: str, field: "Field") -> _Texts:
    """What is said of a field: its own texts where it is another thing in this kind."""
    own = f"{kind}.{field.name}"
    name = own if own in words.SOURCE_FIELDS else field.name
    hint, about = words.SOURCE_FIELD_HINTS.get(name, ""), words.SOURCE_FIELD_HELP.get(name)
    return _Texts(words.SOURCE_FIELDS[name], hint, about)


def _switches(kind: str, switches: "Sequence[Field]", before: Given) -> Given:
    if not switches:
        return {}
    with st.container(horizontal=True, key="field-switches"):
        told = {one.name: _texts(kind, one) for one in switches}
        return {
            name: st.toggle(texts.label, bool(before.get(name)), help=texts.help)
            for name, texts in told.items()
        }


def _widget(services: Services, kind: str, field: "Field", before: Any) -> Any:
    label, hint, about = _texts(kind, field)
    if field.type == "files":
        return files_given(services, label)
    if field.type == "choice":
        return _choose(kind, field, before, None)
    if field.type == "lines":
        return st.text_area(label, "\n".join(before or ()), placeholder=hint, height=68, help=about)
    if field.secret:
        return _secret(label, hint, before)
    return st.text_input(label, before or field.default, placeholder=hint, help=about)


def _secret(label: str, hint: str, before: str | None) -> str:
    """What is kept is not shown: at most the name of the variable that it is in."""
    kept = words.STAYS_AS_NAMED.format(name=before) if before else words.STAYS_AS_IT_IS
    return st.text_input(
        label,
        type="password",
        placeholder=hint if before is None else kept,
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
