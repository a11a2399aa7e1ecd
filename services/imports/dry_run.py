"""Determines what an import would do, without changing documents or indexes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chains.history import estimate_tokens
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
from services.imports.document_versions import Versions, refuse_unstorable
from services.imports.import_plan import Loader, Plan, failed_item, plan_import
from services.long_work import Cancelled, OnProgress, Progress, Stage, ignore, never, stop_if
from services.texts import searchable_text
from storage.ledger.database import Database
from storage.ledger.document_store import Documents, StoredVersion
from storage.ledger.import_store import Imports
from storage.ledger.index_store import Indexes, IndexSpec
from storage.ledger.source_store import StoredSource


class DryRuns:
    """Performs dry runs: plans, reads, and splits like an import."""

    def __init__(self, database: Database, default_spec: IndexSpec, formats_version: int) -> None:
        """Create the service.

        Args:
            database: The ledger.
            default_spec: How to split documents if there is no index yet.
            formats_version: The version of the readers.
        """
        self._documents = Documents(database)
        self._imports = Imports(database)
        self._indexes = Indexes(database)
        self._default_spec = default_spec
        self._formats_version = formats_version

    def run(
        self,
        principal: Principal,  # noqa: ARG002  # every use case takes a principal
        source: StoredSource,
        loader: Loader,
        *,
        import_id: str,
        on_progress: OnProgress = ignore,
        cancelled: Cancelled = never,
    ) -> ImportReport:
        """The outcomes and counts that an import of the source would have now.

        New and changed documents include pages, passages, characters, and the estimated number of
        tokens to embed. A canceled dry run can't be resumed and starts over.

        Raises:
            CancelledError: The work was canceled.
            SourceError: The source can't be listed.
        """
        stored = self._documents.versions(source.id)
        plan = plan_import(
            source,
            loader,
            self._imports,
            stored,
            on_progress,
            cancelled,
            formats_version=self._formats_version,
        )
        index = self._indexes.active()
        spec = index.spec if index else self._default_spec
        versions = Versions(source, self._formats_version)
        read: list[ImportItem] = []
        passages = 0
        for ref in plan.to_read:
            stop_if(cancelled)
            on_progress(Progress(Stage.READING, len(read), len(plan.to_read), ref.name, passages))
            read.append(_item(ref, loader, stored, versions, spec))
            passages += read[-1].passages
        items = (*plan.settled, *read, *(item for _, item in plan.removals))
        self._imports.replace_items(import_id, items)
        return ImportReport(
            import_id, source.id, _state(plan, items), items, kind=ImportKind.DRY_RUN
        )


def _item(
    ref: DocumentRef,
    loader: Loader,
    stored: Mapping[str, StoredVersion],
    versions: Versions,
    spec: IndexSpec,
) -> ImportItem:
    version_before = stored.get(ref.key)
    try:
        document = loader.read(ref)
        refuse_unstorable(document.page_content)
    except UnreadableError as error:
        return failed_item(ref, error, version_before)
    version = versions.make(ref, document, version_before, spec, is_new=version_before is None)
    return replace(version.item, tokens=_tokens(version.document.title, version.passages))


def _tokens(title: str, passages: Sequence[Passage]) -> int:
    texts = (searchable_text(title, one.heading_path, one.text) for one in passages)
    return sum(map(estimate_tokens, texts))


def _state(plan: Plan, items: Sequence[ImportItem]) -> ImportState:
    if plan.withheld:
        return ImportState.NEEDS_CONFIRMATION
    failures = any(item.outcome is Outcome.FAILED for item in items)
    return ImportState.COMPLETED_WITH_ERRORS if failures else ImportState.COMPLETED
