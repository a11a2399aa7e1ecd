"""What an import has to do: the listing of a source compared with what the ledger knows."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from domain import DocumentRef, ImportItem, Outcome, Skipped
from storage.documents import KnownVersion
from storage.imports import Failure

_BRAKE_ABOVE = 10
STILL_ANSWERS = "the version imported earlier still answers"


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of an import, settled before anything is read.

    `settled` are outcomes that need no work; `gone` are (document id, item) to remove, empty
    where `held_back` documents wait for a confirmation; `forgotten` are the keys of remembered
    failures that no longer hold.
    """

    to_read: list[DocumentRef] = field(default_factory=list)
    settled: list[ImportItem] = field(default_factory=list)
    gone: list[tuple[str, ImportItem]] = field(default_factory=list)
    held_back: int = 0
    forgotten: list[str] = field(default_factory=list)


def plan(
    listing: Iterable[DocumentRef | Skipped],
    known: Mapping[str, KnownVersion],
    failures: Mapping[str, Failure],
    *,
    formats_version: int,
    confirm_removals: bool,
) -> Plan:
    """Compare a source's whole listing with the ledger.

    A document is unchanged if it was imported from these bytes by this reader. More than half
    of a source of more than 10 documents is removed only with `confirm_removals`: an unmounted
    folder looks like an emptied one.
    """
    result = Plan()
    skipped: list[Skipped] = []
    listed: set[str] = set()
    for entry in listing:
        if isinstance(entry, Skipped):
            skipped.append(entry)
        elif entry.key in listed:
            result.settled.append(_twin(entry))
        else:
            listed.add(entry.key)
            _sort(entry, result, known.get(entry.key), failures.get(entry.key), formats_version)
    result.settled.extend(_not_listed(entry, known) for entry in skipped)
    missing = [key for key in known if key not in listed]
    gone = _without_skipped(missing, skipped, known, result)
    result.forgotten.extend(key for key in failures if key not in listed)
    return _with_removals(result, gone, known, confirm_removals=confirm_removals)


def _sort(
    ref: DocumentRef,
    result: Plan,
    known: KnownVersion | None,
    failure: Failure | None,
    formats_version: int,
) -> None:
    here = (ref.version, formats_version)
    if known is not None and (known.version, known.formats_version) == here:
        result.settled.append(ImportItem(ref.key, ref.location, Outcome.UNCHANGED))
        if failure is not None:
            result.forgotten.append(ref.key)
    elif failure is not None and (failure.version, failure.formats_version) == here:
        result.settled.append(failed(ref, failure.reason, has_older=known is not None))
    else:
        result.to_read.append(ref)


def failed(ref: DocumentRef, reason: str, *, has_older: bool) -> ImportItem:
    """The item of a document that could not be read, an older version of which may stay."""
    told = f"{reason} ({STILL_ANSWERS})" if has_older else reason
    return ImportItem(ref.key, ref.location, Outcome.FAILED, told)


def _twin(ref: DocumentRef) -> ImportItem:
    reason = "another document of this source has the same name in another Unicode form"
    return ImportItem(ref.key, ref.location, Outcome.FAILED, reason)


def _not_listed(entry: Skipped, known: Mapping[str, KnownVersion]) -> ImportItem:
    ref = DocumentRef(entry.key, "", entry.location)
    return failed(ref, entry.reason, has_older=entry.key in known)


def _without_skipped(
    missing: list[str],
    skipped: list[Skipped],
    known: Mapping[str, KnownVersion],
    result: Plan,
) -> list[str]:
    """The missing documents that are really gone; the others are noted as kept."""
    keys = {entry.key for entry in skipped}
    folders = tuple(key for key in keys if key.endswith("/"))
    gone = []
    for key in missing:
        if key in keys:
            continue
        if folders and key.startswith(folders):
            reason = f"its folder can't be listed; {STILL_ANSWERS}"
            result.settled.append(_item(key, known, Outcome.KEPT, reason))
        else:
            gone.append(key)
    return gone


def _with_removals(
    result: Plan, gone: list[str], known: Mapping[str, KnownVersion], *, confirm_removals: bool
) -> Plan:
    many = len(known) > _BRAKE_ABOVE and len(gone) * 2 > len(known)
    if many and not confirm_removals:
        reason = "no longer in the source; its removal waits for confirmation"
        result.settled.extend(_item(key, known, Outcome.KEPT, reason) for key in gone)
        return replace(result, held_back=len(gone))
    items = [(known[key].document_id, _item(key, known, Outcome.GONE)) for key in gone]
    return replace(result, gone=items)


def _item(
    key: str, known: Mapping[str, KnownVersion], outcome: Outcome, reason: str = ""
) -> ImportItem:
    return ImportItem(key, known[key].location, outcome, reason)
