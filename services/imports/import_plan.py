"""Plans an import: compares the listing of a source with the ledger."""

from collections.abc import Iterable, Iterator, Mapping
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
    Progress,
    Removed,
    Skipped,
    Stage,
)
from domain.errors import NothingToReadError, UnreadableError
from domain.messages import _
from services.imports.permission_plan import (
    Restrictions,
    changed_restrictions,
    hidden_documents,
    with_permissions,
)
from services.long_work import Cancelled, OnProgress, stop_if
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


@dataclass(slots=True)
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


@dataclass(slots=True)
class _Listing:
    """The entries of a listing by kind: all keys, and the selected documents.

    `removed` contains, by key, the loader's reports about removed documents.
    """

    keys: set[str] = field(default_factory=set)
    documents: list[DocumentRef] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    removed: dict[str, Removed] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Planner:
    """Compares listings of a source with the ledger.

    `stored` are the stored versions and `failures` the recorded failures by key. `formats_version`
    is the version of the readers. `confirm_removals` lifts the removal guard.

    With `keys`, an import is restricted to these documents and reads them even if unchanged.
    Documents that a person `excluded` count as removed from the source, and their removal needs no
    confirmation. `restrictions` are those of stored documents by document id. If the source
    `mirrors_permissions`, stored documents that it does not list are hidden, because their
    permissions are unknown.
    """

    stored: Mapping[str, StoredVersion]
    failures: Mapping[str, Failure]
    formats_version: int
    confirm_removals: bool
    keys: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    restrictions: Mapping[str, Restrictions] = field(default_factory=dict)
    mirrors_permissions: bool = False

    def plan(self, listing: Iterable[ListingEntry]) -> Plan:
        """The plan for a complete listing.

        A document is unchanged if it was imported from the same bytes by the same reader version.
        Removal guard: if a source has more than 10 documents, more than half of them are removed
        only with `confirm_removals`, because an unmounted folder looks like an empty one. The same
        applies to documents whose removal is not certain according to the loader.
        """
        result = Plan()
        scan = self._scan(listing, result)
        for ref in scan.documents:
            if self.keys:
                result.to_read.append(ref)
            else:
                self._classify(ref, result)
        self._settle_skipped(scan, result)
        self._settle_missing(scan, result)
        self._restrict(scan, result)
        return result

    def _is_selected(self, key: str) -> bool:
        return not self.keys or key in self.keys

    def _scan(self, listing: Iterable[ListingEntry], result: Plan) -> _Listing:
        scan = _Listing()
        for entry in listing:
            if isinstance(entry, Cursor):
                result.cursor = entry.values
            elif isinstance(entry, NewOptions):
                result.options = entry.values
            elif isinstance(entry, Removed):
                scan.removed[entry.key] = entry
            elif entry.key in self.excluded:
                continue
            elif isinstance(entry, Skipped):
                scan.skipped.append(entry)
            else:
                if self._is_selected(entry.key):
                    if entry.key in scan.keys:
                        result.settled.append(_duplicate(entry))
                    else:
                        scan.documents.append(entry)
                scan.keys.add(entry.key)
        return scan

    def _classify(self, ref: DocumentRef, result: Plan) -> None:
        stored, failure = self.stored.get(ref.key), self.failures.get(ref.key)
        if is_current(ref, stored, self.formats_version):
            title = stored.title if stored else ""
            result.settled.append(ImportItem(ref.key, ref.location, Outcome.UNCHANGED, title=title))
            if failure is not None:
                result.resolved.append(ref.key)
        elif failure is not None and _still_applies(failure, ref, self.formats_version):
            kind = UnreadableError if failure.is_error else NothingToReadError
            item = failed_item(ref, kind(failure.reason), stored)
            if stored is not None and item.outcome is Outcome.REMOVED:  # recorded, not removed yet
                result.removals.append((stored.document_id, item))
            else:
                result.settled.append(item)
        else:
            result.to_read.append(ref)

    def _settle_skipped(self, scan: _Listing, result: Plan) -> None:
        for entry in scan.skipped:
            if self._is_selected(entry.key):
                result.settled.append(_skipped_item(entry, self.stored.get(entry.key)))
                if entry.is_error and entry.key not in scan.keys:
                    result.failures[entry.key] = _skipped_failure(entry)
        known = scan.keys | result.failures.keys()
        result.resolved += [
            key for key in self.failures if key not in known and self._is_selected(key)
        ]

    def _settle_missing(self, scan: _Listing, result: Plan) -> None:
        """Remove missing documents, except those in folders that can't be listed, which stay."""
        skipped = {entry.key for entry in scan.skipped}
        folders = tuple(entry.folder for entry in scan.skipped if entry.folder)
        missing = [
            key
            for key in self.stored
            if key not in scan.keys and key not in skipped and self._is_selected(key)
        ]
        reason = _("its folder can't be listed; the version imported earlier stays in use")
        for key in missing:
            if key.startswith(folders):
                result.settled.append(self._item(key, Outcome.RETAINED, reason))
        self._remove([key for key in missing if not key.startswith(folders)], scan.removed, result)

    def _remove(self, keys: list[str], reported: Mapping[str, Removed], result: Plan) -> None:
        withheld = set() if self.confirm_removals else self._doubtful(keys, reported)
        for key in keys:
            reason = reported[key].reason if key in reported else ""
            if key in withheld:
                withheld_reason = _("{reason}; its removal waits for confirmation").format(
                    reason=reason or _("no longer in the source")
                )
                result.settled.append(self._item(key, Outcome.RETAINED, withheld_reason))
            else:
                item = self._item(key, Outcome.REMOVED, reason)
                result.removals.append((self.stored[key].document_id, item))
        result.withheld = len(withheld)

    def _doubtful(self, keys: list[str], reported: Mapping[str, Removed]) -> set[str]:
        """The documents whose removal needs confirmation."""
        removed = {key for key in keys if key not in self.excluded}
        if len(self.stored) > _GUARD_ABOVE and len(removed) * 2 > len(self.stored):
            return removed
        return {key for key in removed if key in reported and not reported[key].is_certain}

    def _restrict(self, scan: _Listing, result: Plan) -> None:
        """Plan changes of restrictions, and report them in the items."""
        unlisted = self._unlisted(scan, result) if self.mirrors_permissions else set[str]()
        to_read = {ref.key for ref in result.to_read}
        changed = changed_restrictions(scan.documents, to_read, self.stored, self.restrictions)
        refs = {ref.key: ref for ref in scan.documents}
        keys = {key for key, one in self.stored.items() if one.document_id in changed}
        result.settled = [
            with_permissions(item, refs.get(item.key), keys)
            if item.key in refs or item.key in unlisted
            else item
            for item in result.settled
        ]
        hidden = hidden_documents(unlisted, self.stored, self.restrictions)
        result.restrictions = changed | hidden

    def _unlisted(self, scan: _Listing, result: Plan) -> set[str]:
        """The stored documents that stay in the library although the source does not list them."""
        removed = {item.key for _id, item in result.removals}
        unlisted = self.stored.keys() - scan.keys - removed
        return set(filter(self._is_selected, unlisted))

    def _item(self, key: str, outcome: Outcome, reason: str) -> ImportItem:
        stored = self.stored[key]
        return ImportItem(key, stored.location, outcome, reason, title=stored.title)


def is_current(ref: DocumentRef, stored: StoredVersion | None, formats_version: int) -> bool:
    """Whether the stored version is the listed one and was read by this reader version."""
    return stored is not None and (stored.version, stored.formats_version) == (
        ref.version,
        formats_version,
    )


def _still_applies(failure: Failure, ref: DocumentRef, formats_version: int) -> bool:
    current = (ref.version, formats_version)
    return not failure.again and (failure.version, failure.formats_version) == current


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


def _skipped_item(entry: Skipped, stored: StoredVersion | None) -> ImportItem:
    ref = DocumentRef(entry.key, "", entry.location, entry.title)
    item = failed_item(ref, UnreadableError(entry.reason), stored)
    return item if entry.is_error else replace(item, outcome=Outcome.SKIPPED)


def _skipped_failure(entry: Skipped) -> Failure:
    return Failure("", 0, entry.reason, entry.location, again=True, title=entry.title)


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
