"""What imports did, or would do, as a person reads it: in sum, and document by document."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain import ImportItem, ImportKind, Outcome, Principal, QueuedImport
from services.import_plan import TO_CONFIRM
from services.queue import ImportQueue
from services.sources import SourceService
from storage.import_items import ImportItems, ReadFigures

CHANGES = (Outcome.NEW, Outcome.CHANGED, Outcome.GONE)
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class ImportSummary:
    """An import in sum; `price` is what embedding costs, in `currency`, 0 where it is free.

    `held_back` removals wait for a confirmation.
    """

    job: QueuedImport
    counts: Mapping[Outcome, int]
    held_back: int
    figures: ReadFigures
    price: float
    currency: str

    @property
    def changes(self) -> int:
        """How many documents an import changes: new, changed and gone ones."""
        return sum(self.counts.get(outcome, 0) for outcome in CHANGES)


class ImportReports:
    """The reports of imports of the sources that a person may see."""

    def __init__(
        self,
        sources: SourceService,
        queue: ImportQueue,
        items: ImportItems,
        price: float,
        currency: str,
    ) -> None:
        """Args: `price` is what a million tokens cost to embed, in `currency`."""
        self._sources = sources
        self._queue = queue
        self._items = items
        self._price = price
        self._currency = currency

    def dry_run(self, principal: Principal, source_id: str) -> ImportSummary | None:
        """The latest dry run of a source, unless it was imported since.

        Raises:
            NotFoundError: There is no such source.
        """
        latest = self.history(principal, source_id, limit=1)
        if not latest or latest[0].kind is not ImportKind.DRY_RUN:
            return None
        return self.summary(principal, latest[0].id)

    def summary(self, principal: Principal, import_id: str) -> ImportSummary:
        """An import in sum, as far as it has come.

        Raises:
            NotFoundError: There is no such import.
        """
        job = self._queue.get(principal, import_id)
        figures = self._items.figures(import_id)
        price = figures.tokens * self._price / _MILLION
        return ImportSummary(
            job,
            self._items.counts(import_id),
            self._items.count_with_reason(import_id, TO_CONFIRM),
            figures,
            price,
            self._currency,
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
        """Some documents of an import, of these outcomes or of all, as they were settled.

        Raises:
            NotFoundError: There is no such import.
        """
        self._queue.get(principal, import_id)
        return self._items.page(import_id, outcomes, limit=limit, offset=offset)

    def history(
        self, principal: Principal, source_id: str, *, limit: int, offset: int = 0
    ) -> list[QueuedImport]:
        """The ended imports and dry runs of a source, the latest first.

        Raises:
            NotFoundError: There is no such source.
        """
        self._sources.get(principal, source_id)
        return self._queue.history(principal, source_id, limit=limit, offset=offset)
