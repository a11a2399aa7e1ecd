"""The form on the places page, the preferences, and the chips of an analysis."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, NamedTuple

import streamlit as st

from bootstrap import Services
from domain import CatalogDescription, CatalogQuery, any_of, values_of
from domain.errors import NotFoundError
from services.texts import MAX_QUESTION_CHARS
from ui.catalog.catalog_words import aspect_name, field_label, field_name, type_name
from ui.shared.frame import principal
from ui.shared.safe_html import escape, literal
from ui.text import words
from ui.text.reader_language import number, own_language_first

if TYPE_CHECKING:
    from domain import Person
    from services.catalog.catalogs import CatalogSummary


EXAMPLES = 3
EXAMPLE_VALUES = {"italian_restaurant", "ramen_restaurant", "Brooklyn", "Queens"}
"""The values in the fixed examples, which are shown only for catalogs that have them."""


def examples_of(catalog: "CatalogSummary") -> Sequence[str]:
    """The fixed examples if they fit the catalog, else some of its types and filter values."""
    if _fits_examples(catalog):
        return own_language_first(words.PLACES_EXAMPLES)
    types = [type_name(catalog.description, one) for one in catalog.types]
    pairs = list(zip_longest(types, _first_filter_values(catalog)))[:EXAMPLES]
    return [", ".join(filter(None, pair)) for pair in pairs]


def placeholder_of(catalog: "CatalogSummary") -> str:
    """The placeholder of the question field; "" if there are no examples."""
    if _fits_examples(catalog):
        return words.PLACES_PLACEHOLDER
    return next(iter(examples_of(catalog)), "")


def _fits_examples(catalog: "CatalogSummary") -> bool:
    return {*catalog.types, *chain(*catalog.filters.values())} >= EXAMPLE_VALUES


def _first_filter_values(catalog: "CatalogSummary") -> list[str]:
    """The display names of the first filter's values, if there is a filter."""
    for name, values in catalog.filters.items():
        return [field_name(catalog.description, name, value) for value in values]
    return []


ME = "me"
"""The id of the person who uses the page."""

NEUTRAL, MAX, STEP = 2.5, 5.0, 0.5
RESETS = "preference_resets"
"""How often the preferences were deleted in this session; a part of the sliders' keys.

A slider with a new key starts at its default. To set an old one, the session would have to
replace its default, and then the browser shows 0 if it misses the slider's first message.
"""


def me(services: Services) -> "Person | None":
    """The person who uses the page; None if nothing is stored about them."""
    try:
        return services.people.get(principal(), ME)
    except NotFoundError:
        return None


def stored_preferences(services: Services, catalog: "CatalogSummary") -> dict[str, float]:
    """The person's preferences for the catalog's aspects, 0 to 5."""
    preferences = _all_preferences(services)
    return {aspect: preferences[aspect] for aspect in catalog.aspects if aspect in preferences}


def _all_preferences(services: Services) -> Mapping[str, float]:
    person = me(services)
    return person.preferences if person else {}


def show_preferences(services: Services, catalog: "CatalogSummary") -> None:
    """Show the sliders; one that was never moved is in the middle, which is neutral."""
    preferences = _all_preferences(services)
    with st.expander(words.PREFERENCES, icon=":material/tune:"):
        st.caption(words.PREFERENCES_NOTE)
        with st.container(key="preferences"):
            for aspect in catalog.aspects:
                name = aspect_name(catalog.description, aspect)
                _show_slider(services, aspect, name, preferences.get(aspect))
        st.button(
            words.PREFERENCES_FORGET,
            icon=":material/undo:",
            type="tertiary",
            disabled=not preferences,
            on_click=_delete_preferences,
            args=(services, preferences),
        )


def _show_slider(services: Services, aspect: str, name: str, value: float | None) -> None:
    label = literal(name) if value is not None else f"{literal(name)} ({words.PREFERENCES_UNSET})"
    st.slider(
        label,
        0.0,
        MAX,
        NEUTRAL if value is None else value,
        step=STEP,
        format="%.1f",
        key=_slider_key(aspect),
        on_change=_save_preference,
        args=(services, aspect),
    )


def _slider_key(aspect: str) -> str:
    return f"preference-{st.session_state.get(RESETS, 0)}-{aspect}"


def _save_preference(services: Services, aspect: str) -> None:
    preference = {aspect: st.session_state[_slider_key(aspect)]}
    services.people.patch(principal(), ME, preferences=preference)


def _delete_preferences(services: Services, preferences: Mapping[str, float]) -> None:
    services.people.patch(principal(), ME, preferences=dict.fromkeys(preferences))
    st.session_state[RESETS] = st.session_state.get(RESETS, 0) + 1


QUESTION, LAST_QUESTION = "places_question", "places_question_last"
PENDING = "places_pending"


@dataclass(frozen=True, slots=True)
class PlaceRequest:
    """A question to search for; if it has an `analysis`, it is not analyzed again."""

    question: str
    analysis: CatalogQuery | None = None


def places_form(services: Services, catalog: "CatalogSummary") -> PlaceRequest | None:
    """Show the question field and the preferences; returns the submitted or pending request.

    The last question stays in its field while the person visits another page.
    """
    st.session_state.setdefault(QUESTION, st.session_state.get(LAST_QUESTION, ""))
    with (
        st.form("places", border=False),
        st.container(key="places-question", horizontal=True, vertical_alignment="bottom"),
    ):
        question = st.text_input(
            words.PLACES_QUESTION,
            key=QUESTION,
            placeholder=placeholder_of(catalog),
            max_chars=MAX_QUESTION_CHARS,
        )
        is_submitted = st.form_submit_button(
            words.PLACES_ASK, type="primary", icon=":material/search:"
        )
    show_preferences(services, catalog)
    pending: PlaceRequest | None = st.session_state.pop(PENDING, None)
    request = PlaceRequest(question) if is_submitted else pending
    if request:
        st.session_state[LAST_QUESTION] = request.question
    return request


def show_examples(catalog: "CatalogSummary") -> None:
    """Show buttons with example questions, if there are any."""
    examples = examples_of(catalog)
    if not examples:
        return
    st.caption(words.PLACES_FOR_EXAMPLE)
    with st.container(horizontal=True, key="places-examples"):
        for question in examples:
            st.button(literal(question), key=f"places-{question}", on_click=_ask, args=(question,))


def search_again(analysis: CatalogQuery) -> None:
    """Repeat the search with another analysis on the next run of the page."""
    ask_next(PlaceRequest(analysis.question, analysis))


def ask_next(request: PlaceRequest) -> None:
    """Submit the request on the next run of the page."""
    st.session_state[PENDING] = request


def _ask(question: str) -> None:
    st.session_state[QUESTION] = question
    ask_next(PlaceRequest(question))


NEUTRAL_WEIGHT = 0.5
"""An aspect with a lower weight matters less than one that was not mentioned."""


class Chip(NamedTuple):
    """A part of an analysis that can be removed, and the query without it."""

    key: str
    label: str
    without: CatalogQuery


def show_analysis(query: CatalogQuery, description: CatalogDescription) -> None:
    """Show the chips."""
    chips = list(chips_of(query, description))
    with st.container(key="understood", horizontal=True, vertical_alignment="center", gap="small"):
        label = words.UNDERSTOOD if chips else f"{words.UNDERSTOOD} {words.UNDERSTOOD_NOTHING}"
        st.html(f'<span class="fn-status">{escape(label)}</span>', width="content")
        for chip in chips:
            st.button(
                # The style sheet shows the help to screen readers only.
                f"{literal(chip.label)} *{words.CHIP_HELP}*",
                key=f"chip-{chip.key}",
                icon=":material/close:",
                help=words.CHIP_HELP,
                on_click=search_again,
                args=(chip.without,),
            )


def chips_of(query: CatalogQuery, description: CatalogDescription) -> Iterator[Chip]:
    """A chip for each filter value, type, and aspect that the question mentions."""
    filters = query.filters
    for name, filter_value in filters.fields.items():
        for value in (values := values_of(filter_value)):
            other_values = [one for one in values if one != value]
            fields, key = dict(filters.fields), f"field-{name}"
            if other_values:
                fields[name], key = any_of(other_values), f"{key}={value}"
            else:
                del fields[name]
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
            label = _aspect_label(aspect_name(description, aspect), weight)
            yield Chip(f"aspect-{aspect}", label, replace(query, aspect_weights=weights))


def _with(query: CatalogQuery, **changes: object) -> CatalogQuery:
    return replace(query, filters=replace(query.filters, **changes))  # type: ignore[arg-type]


def _aspect_label(aspect: str, weight: float) -> str:
    template = words.CHIP_MATTERS if weight >= NEUTRAL_WEIGHT else words.CHIP_MATTERS_LITTLE
    return str(template.format(aspect=aspect, weight=f"{weight:g}"))
