"""What remains of an import after an interruption, and which document crashed its process.

A crash loses at most one batch of documents and does not tell which of them caused it. The next
process therefore stores these documents one by one and notes each in the ledger before it reads it.
If it crashes, too, the noted document is quarantined: later processes do not read it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from domain import DocumentRef, DocumentVersion, ImportItem, Outcome
from domain.errors import UnreadableError
from domain.messages import _
from services.imports.import_plan import Plan, is_current
from storage.ledger.document_store import StoredVersion

_READ = {Outcome.NEW, Outcome.CHANGED}
_CHANGES_NOTHING = {Outcome.UNCHANGED, Outcome.RETAINED, Outcome.SKIPPED}


@dataclass(frozen=True, slots=True)
class Remaining:
    """The plan without the completed work of an interrupted execution.

    Documents with `stale_keys` are processed again, which replaces their earlier items. Documents
    with `new_keys` were new to the library when the import started.
    """

    plan: Plan
    stale_keys: frozenset[str]
    new_keys: frozenset[str]


def remaining(
    plan: Plan,
    items: Sequence[ImportItem],
    stored: Mapping[str, StoredVersion],
    formats_version: int,
) -> Remaining:
    """The remaining work of a plan, given the items of the import so far.

    Documents to be read even if unchanged are not read again if this import has already read them
    and their stored version is current.
    """
    before = {item.key: item.outcome for item in items}
    read = {key for key, outcome in before.items() if outcome in _READ}
    to_read = [
        ref
        for ref in plan.to_read
        if ref.key not in read or not is_current(ref, stored.get(ref.key), formats_version)
    ]
    settled = [item for item in plan.settled if _adds_to(item, before.get(item.key))]
    keys = {ref.key for ref in to_read} | {
        item.key for item in (*settled, *(item for _, item in plan.removals))
    }
    stale = keys & before.keys()
    new = frozenset(key for key in stale if before[key] is Outcome.NEW)
    return Remaining(replace(plan, to_read=to_read, settled=settled), frozenset(stale), new)


def _adds_to(item: ImportItem, before: Outcome | None) -> bool:
    if before is None:
        return True
    if item.outcome is Outcome.PERMISSIONS and before in _READ:
        return False
    return item.outcome is not before and item.outcome not in _CHANGES_NOTHING


def _ignore(_version: DocumentVersion | None) -> None:
    pass


@dataclass(eq=False)
class Quarantine:
    """Refuses documents on which imports crashed twice, and notes those that may be next.

    `careful` is how many more documents are stored one by one. `note` receives each of them before
    it is read, and None when the last one is stored. `crashed_at` is the name of the document that
    was last known to be read.
    """

    documents: frozenset[DocumentVersion] = frozenset()
    careful: int = 0
    note: Callable[[DocumentVersion | None], None] = _ignore
    crashed_at: str = ""

    def cover(self, refs: Sequence[DocumentRef]) -> None:
        """Also store one by one what is read before the document of the crash.

        That may be many, if several workers were reading.
        """
        names = (number for number, ref in enumerate(refs) if ref.name == self.crashed_at)
        if self.careful:
            self.careful += next(names, 0)

    def enter(self, ref: DocumentRef) -> None:
        """Begin with a document.

        Raises:
            UnreadableError: This version of the document is quarantined.
        """
        if (ref.key, ref.version) in self.documents:
            raise UnreadableError(
                _(
                    "the import crashed twice while reading or storing this document: exclude or"
                    " repair it; it is read again when it has changed, or on request"
                )
            )
        if self.careful:
            self.note((ref.key, ref.version))

    def leave(self) -> None:
        """Count a document that was stored."""
        if self.careful > 1:
            self.careful -= 1
        else:
            self.end()

    def end(self) -> None:
        """Note that no more documents are read."""
        if self.careful:
            self.careful = 0
            self.note(None)
