"""Compares places with what a question asks for, besides the filters that all results match."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain import CatalogQuery, Place, PlaceHit
from services.catalog.place_scores import type_match
from services.catalog.preferences import NEUTRAL

TYPE = ""
"""The request for one of the desired types; other requests are names of aspects."""

MAX_GROUPS = 3


def is_recognized(query: CatalogQuery) -> bool:
    """Whether the analysis found a filter, a type, or an aspect in the question."""
    return recognized_kinds(query) > 0


def recognized_kinds(query: CatalogQuery) -> int:
    """The number of kinds of requests that the analysis found: values, types, ratings, aspects."""
    filters = query.filters
    has_type = bool(filters.desired_types or filters.declined_types)
    has_aspect = any(weight is not None for weight in query.aspect_weights.values())
    return sum((bool(filters.fields), has_type, filters.min_rating is not None, has_aspect))


def requests_of(query: CatalogQuery) -> tuple[str, ...]:
    """`TYPE` if types are desired, then the aspects that the question calls important."""
    types = (TYPE,) if query.filters.desired_types else ()
    weights = query.aspect_weights.items()
    return (*types, *(name for name, weight in weights if weight is not None and weight > NEUTRAL))


def unmet_requests(place: Place, query: CatalogQuery) -> tuple[str, ...]:
    """The requests that the place does not meet.

    It meets that for an aspect if more of its reviews praise the aspect than criticize it.
    """
    return tuple(one for one in requests_of(query) if not _is_met(one, place, query))


def _is_met(request: str, place: Place, query: CatalogQuery) -> bool:
    if request == TYPE:
        return bool(type_match(place.types, query.filters.desired_types))
    praise, criticism = place.aspects.get(request, (0, 0))
    return praise > criticism


@dataclass(frozen=True, slots=True)
class MatchGroup:
    """Results with the same unmet requests, each with its rank from 1.

    In the last group, which collects the rest, they can differ, and `is_mixed` is True.
    """

    unmet: tuple[str, ...]
    hits: tuple[tuple[int, PlaceHit], ...]
    is_mixed: bool = False


def match_groups(hits: Sequence[PlaceHit], query: CatalogQuery) -> list[MatchGroup]:
    """At most `MAX_GROUPS` groups: those with the fewest unmet requests first, then larger ones.

    Within a group, places are in the order of their ranks.
    """
    by_unmet: dict[tuple[str, ...], list[tuple[int, PlaceHit]]] = {}
    for ranked in enumerate(hits, start=1):
        by_unmet.setdefault(unmet_requests(ranked[1].place, query), []).append(ranked)
    ordered = sorted(by_unmet, key=lambda unmet: (len(unmet), -len(by_unmet[unmet])))
    separate = ordered if len(ordered) <= MAX_GROUPS else ordered[: MAX_GROUPS - 1]
    groups = [MatchGroup(unmet, tuple(by_unmet[unmet])) for unmet in separate]
    rest = sorted((hit for unmet in ordered[len(separate) :] for hit in by_unmet[unmet]), key=_rank)
    return [*groups, *([MatchGroup((), tuple(rest), is_mixed=True)] if rest else [])]


def _rank(ranked: tuple[int, PlaceHit]) -> int:
    return ranked[0]
