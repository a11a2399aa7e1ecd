"""From what people say a search shall look at to the filter it becomes."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from typing import Any
from unicodedata import normalize

from domain import FILTER_FIELDS, Filter, Scope
from errors import ConflictError, InputError
from storage.filing import utc_text
from storage.filters import EITHER, checks_of
from storage.sources import StoredSource

_DAY_CHARS = len("2026-11-21")
_LAST_SECOND = time(23, 59, 59)


def condition_of(scope: Scope, known: Iterable[StoredSource]) -> Filter:
    """The filter that a scope stands for; empty where it narrows nothing.

    Raises:
        ConflictError: A source is not among the `known` ones, or `since` lies after `until`.
        InputError: A date can't be read.
    """
    found = {
        "source_id": _any_of(_source_ids(scope.sources, list(known))),
        "collection": _any_of(_composed(scope.collections)),
        "format": _any_of([name.lower().lstrip(".") for name in scope.formats]),
        "labels": {"$contains_any": _composed(scope.labels)} if scope.labels else {},
        "modified_at": _period(scope),
    }
    return {name: condition for name, condition in found.items() if condition}


def together(scoped: Filter, further: Filter) -> Filter:
    """Both conditions in one.

    Raises:
        ConflictError: Both are on one field: what should hold then can't be said in a filter.
    """
    if both := sorted(scoped.keys() & further.keys()):
        raise ConflictError(
            f"The scope and the filter both narrow {' and '.join(both)}: say in one of them what"
            " it is to be."
        )
    return {**scoped, **further}


def searchable(
    condition: Filter, known: Iterable[StoredSource], conversation_id: str = ""
) -> Filter:
    """The condition, made one of what may be searched in that conversation, "" for outside of any.

    What was dropped into another conversation is private to it. What was dropped into this one
    is searched however narrow the condition is: the person has just given it to be asked.
    """
    boxes = {one.id: one.conversation_id for one in known if one.conversation_id}
    own = [id_ for id_, of in boxes.items() if of == conversation_id]
    narrowed = _without(condition, [id_ for id_ in boxes if id_ not in own])
    return {EITHER: [narrowed, {"source_id": {"$in": own}}]} if own and condition else narrowed


def _without(condition: Filter, sources: Sequence[str]) -> Filter:
    if not sources:
        return condition
    told = condition.get("source_id", {})
    operators = told if isinstance(told, Mapping) else {"$in": [told]}
    narrowed = {**operators, "$nin": [*operators.get("$nin", ()), *sources]}
    return {**condition, "source_id": narrowed}


def _period(scope: Scope) -> dict[str, str]:
    limits = {}
    if scope.since:
        limits["$gte"] = utc_text(_moment("since", scope.since, time()))
    if scope.until:
        limits["$lte"] = utc_text(_moment("until", scope.until, _LAST_SECOND))
    if len(limits) == 2 and limits["$gte"] > limits["$lte"]:
        raise ConflictError(
            f"since ({scope.since}) lies after until ({scope.until}): swap the two dates."
        )
    return limits


def require_known_fields(condition: Filter) -> None:
    """Refuse a filter that no passage could be asked.

    Raises:
        InputError: A field is unknown, and is named with the nearest one that is known; or an
            operator is unknown, or is given something it can't compare with.
    """
    for name in condition:
        if name not in FILTER_FIELDS:
            known = ", ".join(FILTER_FIELDS)
            raise InputError(
                f"There is no filter field {name!r}.{_nearest(str(name), FILTER_FIELDS)}"
                f" The known ones are {known}."
            )
    try:
        checks_of(condition)
    except ValueError as error:
        raise InputError(str(error)) from error


def _any_of(values: Sequence[str]) -> dict[str, Any]:
    return {"$in": list(values)} if values else {}


def _composed(values: Iterable[str]) -> list[str]:
    """Some systems type and store accents and Hangul in pieces; all is kept composed, trimmed."""
    return [normalize("NFC", value).strip() for value in values]


def _source_ids(wanted: Iterable[str], known: Sequence[StoredSource]) -> list[str]:
    ids = []
    for name in wanted:
        same = [one.id for one in known if _is_named(one, name)]
        if not same:
            names = sorted({one.name for one in known})
            listed = f" The sources are {', '.join(names)}." if names else " There is none yet."
            raise ConflictError(f"There is no source {name!r}.{_nearest(name, names)}{listed}")
        ids.extend(same)
    return ids


def _is_named(source: StoredSource, name: str) -> bool:
    names = (source.id, source.name, source.location)
    return normalize("NFC", name) in _composed(names)


def _moment(what: str, told: str, of_day: time) -> datetime:
    """The moment told, or that time of the day told."""
    try:
        if len(told) <= _DAY_CHARS:
            return datetime.combine(date.fromisoformat(told), of_day, UTC)
        moment = datetime.fromisoformat(told)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{what} is not a date: {told[:40]!r}. Write it as 2026-11-21 or 2026-11-21T10:00."
        ) from error


def _nearest(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
