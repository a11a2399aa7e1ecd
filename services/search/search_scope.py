"""Search scopes: the choices for narrowing a search, and their conversion to filters."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from functools import lru_cache
from time import monotonic
from typing import Any, NamedTuple
from unicodedata import normalize

from domain import FILTER_FIELDS, Filter, Principal, Scope, SearchChoice, utc_text
from domain.errors import ConflictError, InputError
from domain.messages import _
from services.access import Access, Readable
from storage.filters import EITHER, checks_of, fields_of
from storage.ledger.document_list_store import DocumentList
from storage.ledger.restriction_store import Denied, Readers
from storage.ledger.source_store import StoredSource

_DAY_CHARS = len("2026-11-21")
_LAST_SECOND = time(23, 59, 59)


def condition_of(scope: Scope, sources: Iterable[StoredSource]) -> Filter:
    """The filter for a scope; empty if the scope does not narrow the search.

    Raises:
        ConflictError: A source is not among `sources`, or `since` is after `until`.
        InputError: A date can't be parsed.
    """
    conditions = {
        "source_id": _any_of(_source_ids(scope.sources, list(sources))),
        "collection": _any_of(_compose(scope.collections)),
        "format": _any_of([name.lower().lstrip(".") for name in scope.formats]),
        "labels": {"$contains_any": _compose(scope.labels)} if scope.labels else {},
        "modified_at": _period(scope),
    }
    return {name: condition for name, condition in conditions.items() if condition}


def together(scoped: Filter, further: Filter) -> Filter:
    """Both conditions combined.

    Raises:
        ConflictError: Both narrow the same field, which a filter can't express.
    """
    if both := sorted(scoped.keys() & further.keys()):
        raise ConflictError(
            _(
                "The scope and the filter both restrict {fields}: use only one of them for this."
            ).format(fields=" and ".join(both))
        )
    return {**scoped, **further}


def searchable(condition: Filter, readable: Readable, conversation_id: str = "") -> Filter:
    """The condition restricted to what may be searched in the conversation ("" for none).

    Files of other conversations are private. Files of this one are always searched, however narrow
    the condition is, because the user uploaded them for its questions. Catalogs have their own
    search, and are searched here only if the condition names them.
    """
    condition, sources = _with_stored_times(condition), readable.sources.values()
    boxes = {one.id: one.conversation_id for one in sources if one.conversation_id}
    own_ids = [id_ for id_, of in boxes.items() if of == conversation_id]
    catalogs = [one.id for one in sources if one.is_catalog and not _names_catalog(condition, one)]
    others = [id_ for id_ in boxes if id_ not in own_ids]
    narrowed = _without(condition, "source_id", [*readable.hidden, *others, *catalogs])
    narrowed = _without(narrowed, "document_id", _in_order(readable.denied.documents))
    return (
        {EITHER: [narrowed, {"source_id": {"$in": own_ids}}]} if own_ids and condition else narrowed
    )


def _with_stored_times(condition: Any) -> Any:
    """The condition, or a part of it, with times as the library stores them."""
    match condition:
        case datetime():
            return utc_text(condition)
        case Mapping():
            return {name: _with_stored_times(part) for name, part in condition.items()}
        case list() | tuple():
            return [_with_stored_times(part) for part in condition]
    return condition


def _names_catalog(condition: Filter, catalog: StoredSource) -> bool:
    """Whether the condition names the catalog, its collection, or individual documents.

    Names within `$and`, `$or`, and `$not` do not count.
    """
    return (
        "document_id" in condition
        or catalog.id in _named_values(condition, "source_id")
        or catalog.collection in _named_values(condition, "collection")
    )


def _named_values(condition: Filter, name: str) -> Sequence[str]:
    """The values of the field that the condition accepts; empty if it names none."""
    value = condition.get(name, ())
    if isinstance(value, Mapping):
        return [*value.get("$in", ()), *([value["$eq"]] if "$eq" in value else ())]
    return [value] if isinstance(value, str) else []


@lru_cache(maxsize=32)
def _in_order(documents: frozenset[str]) -> Sequence[str]:
    """The ids, sorted; cached, because each search of a person has the same ones."""
    return tuple(sorted(documents))


def _without(condition: Filter, name: str, values: Sequence[str]) -> Filter:
    if not values:
        return condition
    value = condition.get(name, {})
    operators = value if isinstance(value, Mapping) else {"$in": [value]}
    return {**condition, name: {**operators, "$nin": [*operators.get("$nin", ()), *values]}}


def _period(scope: Scope) -> dict[str, str]:
    limits = {}
    if scope.since:
        limits["$gte"] = utc_text(_moment(_("since"), scope.since, time()))
    if scope.until:
        limits["$lte"] = utc_text(_moment(_("until"), scope.until, _LAST_SECOND))
    if len(limits) == 2 and limits["$gte"] > limits["$lte"]:
        raise ConflictError(
            _("since ({since}) is after until ({until}): swap the two dates.").format(
                since=scope.since, until=scope.until
            )
        )
    return limits


def require_known_fields(condition: Filter) -> None:
    """Reject an invalid filter.

    Raises:
        InputError: A field is unknown (the message suggests the most similar one), or an operator
            is unknown or can't compare with its value.
    """
    try:
        checks = checks_of(condition)
    except ValueError as error:
        raise InputError(str(error)) from error
    for name in sorted(fields_of(checks)):
        if name not in FILTER_FIELDS:
            fields = ", ".join(FILTER_FIELDS)
            raise InputError(
                _("There is no filter field {name}.{nearest} Available fields: {fields}.").format(
                    name=repr(name), nearest=_nearest(str(name), FILTER_FIELDS), fields=fields
                )
            )


def _any_of(values: Sequence[str]) -> dict[str, Any]:
    return {"$in": list(values)} if values else {}


def _compose(values: Iterable[str]) -> list[str]:
    """The values trimmed and in NFC, as stored; some systems decompose accents and Hangul."""
    return [normalize("NFC", value).strip() for value in values]


def _source_ids(requested: Iterable[str], sources: Sequence[StoredSource]) -> list[str]:
    ids = []
    for name in requested:
        matches = [one.id for one in sources if _has_name(one, name)]
        if not matches:
            names = sorted({one.name for one in sources})
            listed = (
                _(" Available sources: {names}.").format(names=", ".join(names))
                if names
                else _(" There are no sources yet.")
            )
            raise ConflictError(
                _("There is no source {name}.{nearest}{listed}").format(
                    name=repr(name), nearest=_nearest(name, names), listed=listed
                )
            )
        ids.extend(matches)
    return ids


def _has_name(source: StoredSource, name: str) -> bool:
    names = (source.id, source.name, source.location)
    return normalize("NFC", name) in _compose(names)


def _moment(what: str, text: str, default_time: time) -> datetime:
    """The time in the text, in UTC; a bare date gets the default time of day."""
    try:
        if len(text) <= _DAY_CHARS:
            return datetime.combine(date.fromisoformat(text), default_time, UTC)
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InputError(
            _("{what} is not a date: {text}. Use the form 2026-11-21 or 2026-11-21T10:00.").format(
                what=what, text=repr(text[:40])
            )
        ) from error


def _nearest(name: str, names: Iterable[str]) -> str:
    matches = get_close_matches(name, list(names), n=1)
    return _(" Did you mean {near}?").format(near=repr(matches[0])) if matches else ""


CACHE_S = 5.0
"""The time in seconds for which the contents of the library are cached."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The names to choose from.

    `sources` are names by id, and `catalogs` the ids of those that are searched only if they are
    chosen; `own` is the source id of the conversation's files, or "".
    `settings` is the default search, without None values.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    collections: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    own: str = ""
    catalogs: tuple[str, ...] = ()
    settings: SearchChoice = field(default_factory=SearchChoice)


class _Contents(NamedTuple):
    """The formats and labels of each source's readable documents, by source id."""

    read_at: float
    formats: Mapping[str, Set[str]]
    labels: Mapping[str, Set[str]]


@dataclass(eq=False)
class ChoiceService:
    """Lists the sources, collections, formats, and labels by which searches can be narrowed.

    `settings` is the default search, `now` a monotonic clock.
    """

    documents: DocumentList
    access: Access
    settings: SearchChoice
    now: Callable[[], float] = monotonic

    def __post_init__(self) -> None:
        """Start without cached contents."""
        self._contents: dict[tuple[Readers, Denied], _Contents] = {}

    def choices(self, principal: Principal, conversation_id: str | None = None) -> Choices:
        """What the principal may read, at most `CACHE_S` old, without other people's files.

        A catalog is a source to choose, but its format and labels are not.

        Args:
            principal: The user.
            conversation_id: The conversation whose files are included.
        """
        readable = self.access.readable(principal)
        contents = self._current_contents(self.access.readers(principal), readable.denied)
        conversations = ("", conversation_id)
        visible = [
            one
            for one in readable.sources.values()
            if one.conversation_id in conversations and one.id in contents.formats
        ]
        documents = [one for one in visible if not one.is_catalog]
        return Choices(
            sources={one.id: one.name or one.location for one in visible},
            collections=tuple(sorted({one.collection for one in visible})),
            formats=_sort(contents.formats, documents),
            labels=_sort(contents.labels, documents),
            own=next((one.id for one in visible if one.conversation_id), ""),
            catalogs=tuple(one.id for one in visible if one.is_catalog),
            settings=self.settings,
        )

    def check(self, principal: Principal, scope: Scope) -> None:
        """Check that a search can be narrowed to the scope.

        Raises:
            InputError: A source was removed, or the dates contradict each other.
        """
        condition_of(scope, self.access.own_sources(principal).values())

    def _current_contents(self, readers: Readers, denied: Denied) -> _Contents:
        # A page calls this on every click, and it reads every document's row.
        # With `denied` in the key, a change of restrictions counts at once.
        now, own_key = self.now(), (readers, denied)
        latest = self._contents.get(own_key)
        if latest is None or now - latest.read_at > CACHE_S:
            formats: defaultdict[str, set[str]] = defaultdict(set)
            for tally in self.documents.tallies(readers):
                formats[tally.source_id].add(tally.format)
            labels = self.documents.labels_by_source(readers)
            latest = _Contents(now, formats, labels)
            others = self._contents.items()
            current = {key: one for key, one in others if now - one.read_at <= CACHE_S}
            self._contents = current | {own_key: latest}
        return latest


def _sort(by_source: Mapping[str, Set[str]], sources: Iterable[StoredSource]) -> tuple[str, ...]:
    return tuple(sorted({name for one in sources for name in by_source.get(one.id, ())}))
