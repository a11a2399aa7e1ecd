"""How a question was understood, as chips; pressing one searches again without it."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from domain import CatalogueDescription, CatalogueQuery, any_of, values_of
from ui import words
from ui.catalogue_form import ask_again
from ui.catalogue_words import aspect_name, field_label, type_name
from ui.html import escape
from ui.language import number
from ui.literal import literal
from ui.service_text import said

MATTERS = 0.5
"""An aspect of less weight matters less than one that nobody spoke of."""


class Chip(NamedTuple):
    """Something that was understood, and the query without it."""

    key: str
    label: str
    without: CatalogueQuery


def show_understood(query: CatalogueQuery, description: CatalogueDescription) -> None:
    """Show the chips, what was searched for in English, and who read the question."""
    chips = list(chips_of(query, description))
    with st.container(key="understood", horizontal=True, vertical_alignment="center", gap="small"):
        told = words.UNDERSTOOD if chips else f"{words.UNDERSTOOD} {words.UNDERSTOOD_NOTHING}"
        st.html(f'<span class="fn-told">{escape(told)}</span>', width="content")
        for chip in chips:
            st.button(
                # What it does is seen by screen readers alone, as the style sheet says.
                f"{literal(chip.label)} *{words.CHIP_HELP}*",
                key=f"chip-{chip.key}",
                icon=":material/close:",
                help=words.CHIP_HELP,
                on_click=ask_again,
                args=(chip.without,),
            )
    if note := _note(query):
        st.html(f'<div class="fn-where fn-understood">{note}</div>')


def chips_of(query: CatalogueQuery, description: CatalogueDescription) -> Iterator[Chip]:
    """A chip for each value, type and aspect of which the question said something."""
    filters = query.filters
    for name, wanted in filters.fields.items():
        for value in (values := values_of(wanted)):
            left = [one for one in values if one != value]
            others = {one: kept for one, kept in filters.fields.items() if one != name}
            fields = {**filters.fields, name: any_of(left)} if left else others
            key = f"field-{name}={value}" if left else f"field-{name}"
            yield Chip(key, field_label(description, name, value), _with(query, fields=fields))
    for value in filters.desired_types or ():
        types = tuple(one for one in filters.desired_types or () if one != value)
        without = _with(query, desired_types=types or None)
        yield Chip(f"type-{value}", type_name(description, value), without)
    for value in filters.declined_types:
        types = tuple(one for one in filters.declined_types if one != value)
        label = words.CHIP_DECLINED.format(type=type_name(description, value))
        yield Chip(f"declined-{value}", label, _with(query, declined_types=types))
    if filters.min_rating is not None:
        label = words.CHIP_RATING.format(rating=number(filters.min_rating))
        yield Chip("rating", label, _with(query, min_rating=None))
    for aspect, weight in query.aspect_weights.items():
        if weight is not None:
            weights = {**query.aspect_weights, aspect: None}
            label = _wish(aspect_name(description, aspect), weight)
            yield Chip(f"aspect-{aspect}", label, replace(query, aspect_weights=weights))


def _with(query: CatalogueQuery, **changes: object) -> CatalogueQuery:
    return replace(query, filters=replace(query.filters, **changes))  # type: ignore[arg-type]


def _wish(aspect: str, weight: float) -> str:
    template = words.CHIP_MATTERS if weight >= MATTERS else words.CHIP_MATTERS_LITTLE
    return str(template.format(aspect=aspect, weight=f"{weight:g}"))


def _note(query: CatalogueQuery) -> str:
    parts = []
    if query.query_en and query.query_en != query.question:
        parts.append(words.UNDERSTOOD_AS.format(query=query.query_en))
    if query.analysed_by:
        parts.append(words.UNDERSTOOD_BY.format(model=query.analysed_by))
    if query.notice:
        parts.append(said(query.notice))
    return "".join(f"<span>{escape(part)}</span>" for part in parts)
