"""What is left of an import that was stopped, and how its record goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from domain import ImportItem, Outcome
from services.import_plan import Plan, is_current
from storage.documents import KnownVersion

_CHANGES_NOTHING = {Outcome.UNCHANGED, Outcome.KEPT, Outcome.SKIPPED}
_READ = {Outcome.NEW, Outcome.CHANGED}


@dataclass(frozen=True, slots=True)
class Rest:
    """The plan without what is settled already.

    Documents with the keys `again` are gone through once more, so that their items before no
    longer hold; of these `new` were new to the library when the import began.
    """

    plan: Plan
    again: frozenset[str]
    new: frozenset[str]


def rest_of(
    plan: Plan,
    items: Sequence[ImportItem],
    known: Mapping[str, KnownVersion],
    formats_version: int,
) -> Rest:
    """What a plan made now has left to do, given the items of the import so far.

    Documents that are to be read even if nothing has changed are read once: those that it has
    read, and that the library has as they are now, are not read again.
    """
    before = {item.key: item.outcome for item in items}
    read = {key for key, outcome in before.items() if outcome in _READ}
    to_read = [
        ref
        for ref in plan.to_read
        if ref.key not in read or not is_current(ref, known.get(ref.key), formats_version)
    ]
    plan = replace(plan, to_read=to_read)
    settled = [item for item in plan.settled if _is_news(item, before.get(item.key))]
    keys = {item.key for item in settled} | {ref.key for ref in plan.to_read}
    again = (keys | {item.key for _, item in plan.gone}) & before.keys()
    new = frozenset(key for key in again if before[key] is Outcome.NEW)
    return Rest(replace(plan, settled=settled), frozenset(again), new)


def _is_news(item: ImportItem, before: Outcome | None) -> bool:
    if before is None:
        return True
    return item.outcome is not before and item.outcome not in _CHANGES_NOTHING
