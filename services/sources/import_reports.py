"""Reports of imports and dry runs for users: totals and pages of items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain import ImportItem, ImportKind, ImportRun, Outcome, Principal
from services.imports.import_plan import TO_CONFIRM
from services.imports.import_queue import ImportQueue
from services.imports.readable_records import ReadableRecords
from services.sources.source_service import SourceService
from storage.ledger.import_store import Imports, ReadFigures

CHANGES = (Outcome.NEW, Outcome.CHANGED, Outcome.REMOVED, Outcome.PERMISSIONS)
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """The totals of an import; `price` is the cost of embedding in `currency`, 0 if free.

    `withheld` removals wait for confirmation.
    """

    run: ImportRun
    counts: Mapping[Outcome, int]
    withheld: int
    figures: ReadFigures
    price: float
    currency: str

    @property
    def changes(self) -> int:
        """The number of documents that are new, changed, removed, or for other readers."""
        return sum(self.counts.get(outcome, 0) for outcome in CHANGES)


@dataclass(frozen=True)
class ImportReports:
    """Reports of the imports of the principal's visible sources.

    Embedding a million tokens costs `price` in `currency`.
    """

    sources: SourceService
    queue: ImportQueue
    imports: Imports
    price: float
    currency: str

    def dry_run(self, principal: Principal, source_id: str) -> ImportSummary | None:
        """The latest dry run of a source, unless it has been imported since.

        Raises:
            NotFoundError: There is no such source.
        """
        latest = self.history(principal, source_id, limit=1)
        if not latest or latest[0].kind is not ImportKind.DRY_RUN:
            return None
        return self.summary(principal, latest[0].id)

    def summary(self, principal: Principal, import_id: str) -> ImportSummary:
        """The totals of an import so far.

        Raises:
            NotFoundError: There is no such import.
        """
        run = self.queue.get(principal, import_id)
        figures = self.imports.figures(import_id)
        price = figures.tokens * self.price / _MILLION
        return ImportSummary(
            run,
            self.imports.counts(import_id),
            self.imports.count_with_reason(import_id, TO_CONFIRM),
            figures,
            price,
            self.currency,
        )

    def items(
        self,
        principal: Principal,
        import_id: str,
        outcomes: Sequence[Outcome] = (),
        *,
        limit: int,
        offset: int = 0,
    ) -> list[ImportItem]:
        """A page of the items of an import, in processing order; `outcomes` empty means all.

        Raises:
            NotFoundError: There is no such import.
        """
        run = self.queue.get(principal, import_id)
        items = self.imports.items(import_id, outcomes, limit=limit, offset=offset)
        return ReadableRecords(self.sources.access, principal).items(run.source_id, items)

    def history(
        self, principal: Principal, source_id: str, *, limit: int, offset: int = 0
    ) -> list[ImportRun]:
        """The ended imports and dry runs of a source, latest first.

        Raises:
            NotFoundError: There is no such source.
        """
        self.sources.get(principal, source_id)
        return self.queue.history(principal, source_id, limit=limit, offset=offset)
