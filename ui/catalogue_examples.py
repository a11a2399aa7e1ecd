"""Questions to begin with that fit the catalogue."""

from collections.abc import Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from ui import words
from ui.catalogue_words import field_name, type_name

if TYPE_CHECKING:
    from catalog.catalogues import CatalogueSummary

MOST = 3
NAMED = {"italian_restaurant", "ramen_restaurant", "Brooklyn", "Queens"}
"""What the written examples speak of: a catalogue that does not know it gets others."""


def examples_of(catalogue: "CatalogueSummary") -> Sequence[str]:
    """The written examples where they fit, else what the catalogue's own words give, if any."""
    if _fits(catalogue):
        return words.PLACES_EXAMPLES
    types = [type_name(catalogue.description, one) for one in catalogue.types]
    pairs = list(zip_longest(types, _values(catalogue)))[:MOST]
    return [", ".join(filter(None, pair)) for pair in pairs]


def placeholder_of(catalogue: "CatalogueSummary") -> str:
    """What stands in the empty field; nothing where the catalogue gives nothing to ask for."""
    return words.PLACES_PLACEHOLDER if _fits(catalogue) else next(iter(examples_of(catalogue)), "")


def _fits(catalogue: "CatalogueSummary") -> bool:
    return {*catalogue.types, *chain(*catalogue.filters.values())} >= NAMED


def _values(catalogue: "CatalogueSummary") -> list[str]:
    """What people call the values of the first filter, if there is one."""
    for name, values in catalogue.filters.items():
        return [field_name(catalogue.description, name, value) for value in values]
    return []
