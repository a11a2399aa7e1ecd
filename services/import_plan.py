"""What an import has to do: the listing of a source compared with what the ledger knows."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from domain import DocumentRef, Gone, ImportItem, Listed, Mark, NewOptions, Outcome, Skipped
from errors import NothingToReadError, UnreadableError
from storage.documents import KnownVersion
from storage.imports import Failure

_BRAKE_ABOVE = 10
TO_CONFIRM = "its removal waits for confirmation"
STILL_ANSWERS = "the version imported earlier still answers"


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of an import, settled before anything is read.

    `settled` are outcomes that need no work; `gone` are (document id, item) to remove, without
    the `held_back` documents that wait for a confirmation. `failures` are, by key, of what could
    not even be listed; `forgotten` are the keys of remembered failures that no longer hold.
    `mark` is where the next listing may begin, None where the loader told none. `options` are what
    the source says of itself by now.
    """

    to_read: list[DocumentRef] = field(default_factory=list)
    settled: list[ImportItem] = field(default_factory=list)
    gone: list[tuple[str, ImportItem]] = field(default_factory=list)
    held_back: int = 0
    failures: dict[str, Failure] = field(default_factory=dict)
    forgotten: list[str] = field(default_factory=list)
    mark: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def plan(
    listing: Iterable[Listed],
    known: Mapping[str, KnownVersion],
    failures: Mapping[str, Failure],
    *,
    formats_version: int,
    confirm_removals: bool,
    keys: Collection[str] = (),
    left_out: Collection[str] = (),
) -> Plan:
    """Compare a source's whole listing with the ledger.

    A document is unchanged if it was imported from these bytes by this reader. More than half
    of a source of more than 10 documents is removed only with `confirm_removals`: an unmounted
    folder looks like an emptied one. So is what its loader is not certain of.

    Args:
        listing: All that the source holds.
        known: By key, what the ledger has of it.
        failures: By key, what could not be read before.
        formats_version: Of the readers.
        confirm_removals: Remove even most of the source, and what nobody is certain of.
        keys: If there are any, nothing is done about other documents, and these are read even
            if nothing about them has changed.
        left_out: Keys of documents that count as no longer in the source. A person said so, and
            thus their removal waits for no confirmation.
    """
    asked, left_out = frozenset(keys), frozenset(left_out)
    seen = _look(listing, asked, left_out)
    twins = [_twin(ref) for ref in seen.twins]
    result = Plan(settled=twins, mark=seen.mark, options=seen.options)
    for ref in seen.documents:
        if asked:
            result.to_read.append(ref)
        else:
            _sort(ref, result, known.get(ref.key), failures.get(ref.key), formats_version)
    _tell_skipped(seen, result, known, failures, asked)
    missing = [key for key in known if key not in seen.listed and (not asked or key in asked)]
    gone = _without_skipped(missing, seen.skipped, known, result)
    return _with_removals(
        result, gone, known, left_out, seen.gone, confirm_removals=confirm_removals
    )


@dataclass(slots=True)
class _Seen:
    """What a source lists: the keys of all documents; those asked about, and second ones of a key.

    `skipped` are all that it skips, `gone` by key what it says of documents that are gone.
    """

    listed: set[str] = field(default_factory=set)
    documents: list[DocumentRef] = field(default_factory=list)
    twins: list[DocumentRef] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    gone: dict[str, Gone] = field(default_factory=dict)
    mark: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def _look(listing: Iterable[Listed], asked: Collection[str], left_out: Collection[str]) -> _Seen:
    seen = _Seen()
    for entry in listing:
        if isinstance(entry, Mark):
            seen.mark = entry.values
        elif isinstance(entry, NewOptions):
            seen.options = entry.values
        elif isinstance(entry, Gone):
            seen.gone[entry.key] = entry
        elif entry.key in left_out:
            continue
        elif isinstance(entry, Skipped):
            seen.skipped.append(entry)
        else:
            if not asked or entry.key in asked:
                (seen.twins if entry.key in seen.listed else seen.documents).append(entry)
            seen.listed.add(entry.key)
    return seen


def _tell_skipped(
    seen: _Seen,
    result: Plan,
    known: Mapping[str, KnownVersion],
    failures: Mapping[str, Failure],
    asked: Collection[str],
) -> None:
    told = [entry for entry in seen.skipped if not asked or entry.key in asked]
    result.settled.extend(_not_listed(entry, known) for entry in told)
    result.failures.update(_not_to_be_listed(told, seen.listed))
    here = seen.listed | result.failures.keys()
    result.forgotten.extend(
        key for key in failures if key not in here and (not asked or key in asked)
    )


def _sort(
    ref: DocumentRef,
    result: Plan,
    known: KnownVersion | None,
    failure: Failure | None,
    formats_version: int,
) -> None:
    here = (ref.version, formats_version)
    if is_current(ref, known, formats_version):
        title = known.title if known else ""
        result.settled.append(ImportItem(ref.key, ref.location, Outcome.UNCHANGED, title=title))
        if failure is not None:
            result.forgotten.append(ref.key)
    elif failure is not None and _still_holds(failure, here):
        kind = UnreadableError if failure.is_error else NothingToReadError
        item = failed(ref, kind(failure.reason), known)
        if known is not None and item.outcome is Outcome.GONE:  # noted, and not removed yet
            result.gone.append((known.document_id, item))
        else:
            result.settled.append(item)
    else:
        result.to_read.append(ref)


def is_current(ref: DocumentRef, known: KnownVersion | None, formats_version: int) -> bool:
    """Whether the ledger has the document as it is, read by this reader."""
    return known is not None and (known.version, known.formats_version) == (
        ref.version,
        formats_version,
    )


def _still_holds(failure: Failure, here: tuple[str, int]) -> bool:
    return not failure.again and (failure.version, failure.formats_version) == here


def failed(ref: DocumentRef, error: UnreadableError, known: KnownVersion | None) -> ImportItem:
    """The item of a document that could not be read; the version that is known of it stays.

    Where nothing is wrong with having no text it is only skipped, and a text of before is gone.
    """
    title = ref.title or (known.title if known else "")
    if isinstance(error, NothingToReadError):
        outcome = Outcome.SKIPPED if known is None else Outcome.GONE
        return ImportItem(ref.key, ref.location, outcome, str(error), title=title)
    told = f"{error} ({STILL_ANSWERS})" if known is not None else str(error)
    return ImportItem(ref.key, ref.location, Outcome.FAILED, told, title=title)


def _twin(ref: DocumentRef) -> ImportItem:
    reason = "another document of this source has the same name in another Unicode form"
    return ImportItem(ref.key, ref.location, Outcome.FAILED, reason, title=ref.title)


def _not_listed(entry: Skipped, known: Mapping[str, KnownVersion]) -> ImportItem:
    ref = DocumentRef(entry.key, "", entry.location, entry.title)
    item = failed(ref, UnreadableError(entry.reason), known.get(entry.key))
    return item if entry.is_error else replace(item, outcome=Outcome.SKIPPED)


def _not_to_be_listed(skipped: Iterable[Skipped], listed: Collection[str]) -> dict[str, Failure]:
    """The failures of what was skipped; one of a document's name, were it listed, is not its."""
    return {
        entry.key: Failure("", 0, entry.reason, entry.location, again=True, title=entry.title)
        for entry in skipped
        if entry.is_error and entry.key not in listed
    }


def _without_skipped(
    missing: list[str],
    skipped: list[Skipped],
    known: Mapping[str, KnownVersion],
    result: Plan,
) -> list[str]:
    """The missing documents that are really gone; the others are noted as kept."""
    keys = {entry.key for entry in skipped}
    folders = tuple(entry.folder for entry in skipped if entry.folder)
    missing = [key for key in missing if key not in keys]
    hidden = [key for key in missing if key.startswith(folders)]
    reason = f"its folder can't be listed; {STILL_ANSWERS}"
    result.settled.extend(_item(key, known, Outcome.KEPT, reason) for key in hidden)
    return [key for key in missing if not key.startswith(folders)]


def _with_removals(
    result: Plan,
    gone: list[str],
    known: Mapping[str, KnownVersion],
    left_out: Collection[str],
    told: Mapping[str, Gone],
    *,
    confirm_removals: bool,
) -> Plan:
    by_itself = [key for key in gone if key not in left_out]
    many = len(known) > _BRAKE_ABOVE and len(by_itself) * 2 > len(known)
    doubtful = {key for key in by_itself if many or (key in told and not told[key].is_certain)}
    held_back = set() if confirm_removals else doubtful
    for key in gone:
        reason = told[key].reason if key in told else ""
        if key in held_back:
            why = f"{reason or 'no longer in the source'}; {TO_CONFIRM}"
            result.settled.append(_item(key, known, Outcome.KEPT, why))
        else:
            item = _item(key, known, Outcome.GONE, reason)
            result.gone.append((known[key].document_id, item))
    return replace(result, held_back=len(held_back))


def _item(
    key: str, known: Mapping[str, KnownVersion], outcome: Outcome, reason: str = ""
) -> ImportItem:
    return ImportItem(key, known[key].location, outcome, reason, title=known[key].title)
