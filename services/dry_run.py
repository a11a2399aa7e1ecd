"""What an import would do, found out without doing it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from chains.budget import estimate_tokens
from domain import (
    DocumentRef,
    ImportItem,
    ImportKind,
    ImportReport,
    ImportState,
    Outcome,
    Passage,
    Principal,
)
from errors import UnreadableError
from services.import_plan import Plan, failed
from services.import_run import Loader
from services.indexing import searchable_text
from services.planner import Planner
from services.progress import Cancelled, OnProgress, Progress, Stage, ignore, never, stop_if
from services.versions import Versions, refuse_unstorable
from storage.documents import Documents, KnownVersion
from storage.import_items import ImportItems
from storage.imports import Imports
from storage.indexes import Indexes, IndexSpec
from storage.sources import StoredSource


class DryRuns:
    """Plans, reads and splits as an import does; no index and no document changes."""

    def __init__(
        self,
        documents: Documents,
        imports: Imports,
        items: ImportItems,
        indexes: Indexes,
        wanted: IndexSpec,
        formats_version: int,
    ) -> None:
        """Args are kept, nothing is opened.

        Args:
            documents: What the library has.
            imports: What could not be read before.
            items: Where the outcomes are noted.
            indexes: The one that answers now says how documents are split.
            wanted: How the first index would split them.
            formats_version: Of the readers.
        """
        self._documents = documents
        self._items = items
        self._indexes = indexes
        self._wanted = wanted
        self._planner = Planner(imports, formats_version)

    def run(
        self,
        principal: Principal,  # noqa: ARG002  # every call names who asks
        source: StoredSource,
        loader: Loader,
        *,
        import_id: str,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ImportReport:
        """The outcomes that an import of the source would have now, with the same counts.

        New and changed documents carry pages, passages, characters and the estimated tokens of
        embedding them. One that was stopped begins anew.

        Raises:
            CancelledError: The wish to stop came.
            SourceError: The source can't be listed.
        """
        known = self._documents.known(source.id)
        work = self._planner.plan(source, loader, known, on_progress, cancelled)
        index = self._indexes.active()
        versions = Versions(source, self._planner.formats_version)
        reader = _Reader(versions, loader, known, index.spec if index else self._wanted)
        read: list[ImportItem] = []
        passages = 0
        for ref in work.to_read:
            stop_if(cancelled)
            on_progress(Progress(Stage.READING, len(read), len(work.to_read), ref.name, passages))
            read.append(reader.item(ref))
            passages += read[-1].passages
        return self._report(import_id, source, work, read)

    def _report(
        self, import_id: str, source: StoredSource, work: Plan, read: Sequence[ImportItem]
    ) -> ImportReport:
        items = (*work.settled, *read, *(item for _, item in work.gone))
        self._items.replace(import_id, items)
        return ImportReport(
            import_id, source.id, _state(work, items), items, kind=ImportKind.DRY_RUN
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads documents and counts what an import would keep of them."""

    versions: Versions
    loader: Loader
    known: Mapping[str, KnownVersion]
    spec: IndexSpec

    def item(self, ref: DocumentRef) -> ImportItem:
        """The outcome of the document."""
        known = self.known.get(ref.key)
        try:
            document = self.loader.read(ref)
            refuse_unstorable(document.page_content)
        except UnreadableError as error:
            return failed(ref, error, known)
        made = self.versions.make(ref, document, known, self.spec, is_new=known is None)
        return replace(made.item, tokens=_tokens(made.document.title, made.passages))


def _tokens(title: str, passages: Sequence[Passage]) -> int:
    texts = (searchable_text(title, one.heading_path, one.text) for one in passages)
    return sum(map(estimate_tokens, texts))


def _state(work: Plan, items: Sequence[ImportItem]) -> ImportState:
    if work.held_back:
        return ImportState.NEEDS_CONFIRMATION
    failures = any(item.outcome is Outcome.FAILED for item in items)
    return ImportState.COMPLETED_WITH_ERRORS if failures else ImportState.COMPLETED
