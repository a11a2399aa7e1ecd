"""From the filters of a question to the passages that may be found."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from domain import CatalogueFilters, Filter, WantedValue, values_of


class MatchesPlaces(Protocol):
    """The part of `storage.places.Places` that filters need."""

    def matching(
        self,
        catalogue_id: str,
        fields: Mapping[str, WantedValue] | None = None,
        min_rating: float | None = None,
        declined_types: Sequence[str] = (),
        desired_types: Sequence[str] = (),
    ) -> list[str]:
        """The document ids of the places that the filters leave."""
        ...


def narrowed(places: MatchesPlaces, catalogue_id: str, filters: CatalogueFilters) -> Filter | None:
    """The condition on passages; None where the filters leave no place.

    The desired types narrow nothing, but keep places of a declined type that are of them too.
    """
    if not filters.fields and filters.min_rating is None and not filters.declined_types:
        return {"source_id": catalogue_id}
    left = places.matching(
        catalogue_id,
        filters.fields,
        filters.min_rating,
        filters.declined_types,
        filters.desired_types or (),
    )
    return {"source_id": catalogue_id, "document_id": {"$in": left}} if left else None


def why_none(places: MatchesPlaces, catalogue_id: str, filters: CatalogueFilters) -> str:
    """Which filter leaves no place, for the person to remove; all where it is them together."""
    asked = _each(filters)
    alone = [told for told, one in asked.items() if narrowed(places, catalogue_id, one) is None]
    if alone:
        return f"No place of the catalogue fits {', '.join(alone)}: remove that from the filters."
    return f"No place of the catalogue fits all of {', '.join(asked)}: remove one of these filters."


def _each(filters: CatalogueFilters) -> dict[str, CatalogueFilters]:
    """Each filter by itself, by what it is called in any language."""
    found = {
        f"{name} {' / '.join(map(repr, values_of(wanted)))}": CatalogueFilters({name: wanted})
        for name, wanted in filters.fields.items()
    }
    least = filters.min_rating
    if least is not None:
        found[f"rating ≥ {least:g}"] = CatalogueFilters(min_rating=least)
    for type_ in filters.declined_types:
        desired = CatalogueFilters(desired_types=filters.desired_types)
        found[f"type ≠ {type_!r}"] = replace(desired, declined_types=(type_,))
    return found
