"""Plans an import: compares the listing of a source with the ledger."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from domain import (
    NEVER_IMPORTED,
    Cursor,
    DocumentRef,
    ImportItem,
    ListingEntry,
    NewOptions,
    Outcome,
    PreviousImport,
    Removed,
    Skipped,
)
from domain.errors import NothingToReadError, UnreadableError
from domain.messages import _
from services.imports.permission_plan import (
    Restrictions,
    changed_restrictions,
    hidden_documents,
    with_permissions,
)
from services.long_work import Cancelled, OnProgress, Progress, Stage, stop_if
from storage.ledger.document_store import StoredVersion
from storage.ledger.import_store import Failure
from storage.ledger.source_store import StoredSource

if TYPE_CHECKING:
    from langchain_core.documents import Document


_GUARD_ABOVE = 10
TO_CONFIRM = "its removal waits for confirmation"  # part of the reason for withheld removals


class Loader(Protocol):
    """Lists the documents of a source and reads them one by one.

    `reads_without_listing` is whether another loader of the source, which has listed nothing, reads
    the same and as fast.
    """

    reads_without_listing: bool

    def list(self, previous: PreviousImport = NEVER_IMPORTED) -> Iterable[ListingEntry]:
        """Yield every document of the source, and everything that could not be listed.

        Documents that have not changed since `previous` are included too, as they were then.

        Raises:
            SourceError: The source can't be listed.
            SourceUnavailableError: The source can't be listed now, but a later retry may succeed.
        """

    def read(self, ref: DocumentRef) -> "Document":
        """Read one document.

        Raises:
            UnreadableError: The document can't be read; the message gives the reason.
            TemporarilyUnreadableError: The next import may be able to read the document.
            SourceUnavailableError: The source as a whole can't be reached now.
        """


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of an import, decided before anything is read.

    `settled` are outcomes that need no work. `removals` are the documents to remove, as (document
    id, item), without those in `withheld`, whose removal needs confirmation. `failures` contains
    the entries that could not be listed, by key; `resolved` are the keys of recorded failures that
    no longer apply. `restrictions` are the sets of readers to replace before anything is read, by
    document id. `cursor` is where the next listing may resume, None if the loader reported no
    position. `options` are source options that the loader has changed.
    """

    to_read: list[DocumentRef] = field(default_factory=list)
    settled: list[ImportItem] = field(default_factory=list)
    removals: list[tuple[str, ImportItem]] = field(default_factory=list)
    withheld: int = 0
    failures: dict[str, Failure] = field(default_factory=dict)
    resolved: list[str] = field(default_factory=list)
    restrictions: Mapping[str, Restrictions] = field(default_factory=dict)
    cursor: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def plan(
    listing: Iterable[ListingEntry],
    stored: Mapping[str, StoredVersion],
    failures: Mapping[str, Failure],
    *,
    formats_version: int,
    confirm_removals: bool,
    keys: Collection[str] = (),
    excluded: Collection[str] = (),
    restrictions: Mapping[str, Restrictions] | None = None,
    mirrors_permissions: bool = False,
) -> Plan:
    """Compare a source's complete listing with the ledger.

    A document is unchanged if it was imported from the same bytes by the same reader version.
    Removal guard: if a source has more than 10 documents, more than half of them are removed only
    with `confirm_removals`, because an unmounted folder looks like an empty one. The same applies
    to documents whose removal is not certain according to the loader.

    Args:
        listing: The source's complete listing.
        stored: Stored versions by key.
        failures: Recorded failures by key.
        formats_version: Version of the readers.
        confirm_removals: Lift the removal guard.
        keys: Restrict the import to these documents and read them even if unchanged; empty for
            all.
        excluded: Documents that a person excluded: they count as removed from the source, and
            their removal needs no confirmation.
        restrictions: The restrictions of stored documents by document id.
        mirrors_permissions: The source restricts its documents; stored ones that it does not list
            are hidden, because their permissions are unknown.
    """
    selected, excluded = frozenset(keys), frozenset(excluded)
    scan = _scan(listing, selected, excluded)
    duplicates = [_duplicate(ref) for ref in scan.duplicates]
    result = Plan(settled=duplicates, cursor=scan.cursor, options=scan.options)
    for ref in scan.documents:
        if selected:
            result.to_read.append(ref)
        else:
            _classify(ref, result, stored.get(ref.key), failures.get(ref.key), formats_version)
    _settle_skipped(scan, result, stored, failures, selected)
    missing = [key for key in stored if key not in scan.keys and (not selected or key in selected)]
    missing_keys = _without_hidden(missing, scan.skipped, stored, result)
    result = _apply_removals(
        result, missing_keys, stored, excluded, scan.removed, confirm_removals=confirm_removals
    )
    unlisted = _unlisted(scan, result, stored, selected) if mirrors_permissions else ()
    return _with_permissions(result, scan.documents, unlisted, stored, restrictions or {})


def _unlisted(
    scan: "_Listing",
    result: Plan,
    stored: Mapping[str, StoredVersion],
    selected: Collection[str],
) -> set[str]:
    """The stored documents that stay in the library although the source does not list them."""
    removed = {item.key for _id, item in result.removals}
    unlisted = stored.keys() - scan.keys - removed
    return unlisted.intersection(selected) if selected else unlisted


def _with_permissions(
    result: Plan,
    refs: Sequence[DocumentRef],
    unlisted: Collection[str],
    stored: Mapping[str, StoredVersion],
    current: Mapping[str, Restrictions],
) -> Plan:
    """The plan with changes of restrictions, and with items that report them."""
    to_read = {ref.key for ref in result.to_read}
    changed = changed_restrictions(refs, to_read, stored, current)
    by_key = {ref.key: ref for ref in refs}
    keys = {key for key in by_key.keys() & stored.keys() if stored[key].document_id in changed}
    settled = [
        with_permissions(item, by_key.get(item.key), keys)
        if item.key in by_key or item.key in unlisted
        else item
        for item in result.settled
    ]
    hidden = hidden_documents(unlisted, stored, current)
    return replace(result, settled=settled, restrictions=changed | hidden)


@dataclass(slots=True)
class _Listing:
    """The entries of a listing by kind: all keys, selected documents, and duplicate keys.

    `removed` contains, by key, the loader's reports about removed documents.
    """

    keys: set[str] = field(default_factory=set)
    documents: list[DocumentRef] = field(default_factory=list)
    duplicates: list[DocumentRef] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    removed: dict[str, Removed] = field(default_factory=dict)
    cursor: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def _scan(
    listing: Iterable[ListingEntry], selected: Collection[str], excluded: Collection[str]
) -> _Listing:
    scan = _Listing()
    for entry in listing:
        if isinstance(entry, Cursor):
            scan.cursor = entry.values
        elif isinstance(entry, NewOptions):
            scan.options = entry.values
        elif isinstance(entry, Removed):
            scan.removed[entry.key] = entry
        elif entry.key in excluded:
            continue
        elif isinstance(entry, Skipped):
            scan.skipped.append(entry)
        else:
            if not selected or entry.key in selected:
                (scan.duplicates if entry.key in scan.keys else scan.documents).append(entry)
            scan.keys.add(entry.key)
    return scan


def _settle_skipped(
    scan: _Listing,
    result: Plan,
    stored: Mapping[str, StoredVersion],
    failures: Mapping[str, Failure],
    selected: Collection[str],
) -> None:
    reported = [entry for entry in scan.skipped if not selected or entry.key in selected]
    result.settled.extend(_skipped_item(entry, stored) for entry in reported)
    result.failures.update(_skipped_failures(reported, scan.keys))
    listed_or_failed = scan.keys | result.failures.keys()
    result.resolved.extend(
        key for key in failures if key not in listed_or_failed and (not selected or key in selected)
    )


def _classify(
    ref: DocumentRef,
    result: Plan,
    stored: StoredVersion | None,
    failure: Failure | None,
    formats_version: int,
) -> None:
    current = (ref.version, formats_version)
    if is_current(ref, stored, formats_version):
        title = stored.title if stored else ""
        result.settled.append(ImportItem(ref.key, ref.location, Outcome.UNCHANGED, title=title))
        if failure is not None:
            result.resolved.append(ref.key)
    elif failure is not None and _still_applies(failure, current):
        kind = UnreadableError if failure.is_error else NothingToReadError
        item = failed_item(ref, kind(failure.reason), stored)
        if stored is not None and item.outcome is Outcome.REMOVED:  # recorded, but not removed yet
            result.removals.append((stored.document_id, item))
        else:
            result.settled.append(item)
    else:
        result.to_read.append(ref)


def is_current(ref: DocumentRef, stored: StoredVersion | None, formats_version: int) -> bool:
    """Whether the stored version is the listed one and was read by this reader version."""
    return stored is not None and (stored.version, stored.formats_version) == (
        ref.version,
        formats_version,
    )


def _still_applies(failure: Failure, here: tuple[str, int]) -> bool:
    return not failure.again and (failure.version, failure.formats_version) == here


def failed_item(
    ref: DocumentRef, error: UnreadableError, stored: StoredVersion | None
) -> ImportItem:
    """The item of a document that could not be read; its stored version stays.

    A document that need not have text is skipped, and its stored version is removed.
    """
    title = ref.title or (stored.title if stored else "")
    if isinstance(error, NothingToReadError):
        outcome = Outcome.SKIPPED if stored is None else Outcome.REMOVED
        return ImportItem(ref.key, ref.location, outcome, str(error), title=title)
    reason = (
        _("{error} (the version imported earlier stays in use)").format(error=error)
        if stored is not None
        else str(error)
    )
    return ImportItem(ref.key, ref.location, Outcome.FAILED, reason, title=title)


def _duplicate(ref: DocumentRef) -> ImportItem:
    reason = _("another document of this source has the same name in another Unicode form")
    return ImportItem(ref.key, ref.location, Outcome.FAILED, reason, title=ref.title)


def _skipped_item(entry: Skipped, stored: Mapping[str, StoredVersion]) -> ImportItem:
    ref = DocumentRef(entry.key, "", entry.location, entry.title)
    item = failed_item(ref, UnreadableError(entry.reason), stored.get(entry.key))
    return item if entry.is_error else replace(item, outcome=Outcome.SKIPPED)


def _skipped_failures(skipped: Iterable[Skipped], listed: Collection[str]) -> dict[str, Failure]:
    """The failures of skipped entries, unless a document with the same key is listed."""
    return {
        entry.key: Failure("", 0, entry.reason, entry.location, again=True, title=entry.title)
        for entry in skipped
        if entry.is_error and entry.key not in listed
    }


def _without_hidden(
    missing: list[str],
    skipped: list[Skipped],
    stored: Mapping[str, StoredVersion],
    result: Plan,
) -> list[str]:
    """The missing documents, except those in folders that can't be listed, which stay."""
    keys = {entry.key for entry in skipped}
    folders = tuple(entry.folder for entry in skipped if entry.folder)
    missing = [key for key in missing if key not in keys]
    hidden = [key for key in missing if key.startswith(folders)]
    reason = _("its folder can't be listed; the version imported earlier stays in use")
    result.settled.extend(_item(key, stored, Outcome.RETAINED, reason) for key in hidden)
    return [key for key in missing if not key.startswith(folders)]


def _apply_removals(
    result: Plan,
    missing_keys: list[str],
    stored: Mapping[str, StoredVersion],
    excluded: Collection[str],
    reported: Mapping[str, Removed],
    *,
    confirm_removals: bool,
) -> Plan:
    removed_at_source = [key for key in missing_keys if key not in excluded]
    many = len(stored) > _GUARD_ABOVE and len(removed_at_source) * 2 > len(stored)
    doubtful = {
        key
        for key in removed_at_source
        if many or (key in reported and not reported[key].is_certain)
    }
    withheld = set() if confirm_removals else doubtful
    for key in missing_keys:
        reason = reported[key].reason if key in reported else ""
        if key in withheld:
            withheld_reason = _("{reason}; its removal waits for confirmation").format(
                reason=reason or _("no longer in the source")
            )
            result.settled.append(_item(key, stored, Outcome.RETAINED, withheld_reason))
        else:
            item = _item(key, stored, Outcome.REMOVED, reason)
            result.removals.append((stored[key].document_id, item))
    return replace(result, withheld=len(withheld))


def _item(
    key: str, stored: Mapping[str, StoredVersion], outcome: Outcome, reason: str = ""
) -> ImportItem:
    return ImportItem(key, stored[key].location, outcome, reason, title=stored[key].title)


def list_entries(
    source: StoredSource,
    loader: Loader,
    stored: Mapping[str, StoredVersion],
    failures: Mapping[str, Failure],
    on_progress: OnProgress,
    cancelled: Cancelled,
) -> Iterator[ListingEntry]:
    """List the source, based on its previous import, and report each entry as progress.

    Raises:
        CancelledError: The work was canceled.
        SourceError: The source can't be listed.
    """
    previous = PreviousImport(_refs(stored), _refs(failures), source.cursor)
    on_progress(Progress(Stage.LISTING, 0, 0))  # the first entry may take a long time
    for done, entry in enumerate(loader.list(previous)):
        stop_if(cancelled)
        on_progress(Progress(Stage.LISTING, done, 0, _name(entry)))
        yield entry


def _refs(versions: Mapping[str, StoredVersion] | Mapping[str, Failure]) -> dict[str, DocumentRef]:
    return {
        key: DocumentRef(key, one.version, one.location, one.title) for key, one in versions.items()
    }


def _name(entry: ListingEntry) -> str:
    if isinstance(entry, Cursor | NewOptions):
        return ""
    return entry.key if isinstance(entry, Removed) else entry.name
