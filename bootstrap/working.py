"""The queue of imports and the worker that does them, wired."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from domain import LOCAL_USER, ImportKind
from services.patience import Patience
from services.queue import ImportQueue
from services.worker import Order, Worker
from storage.import_leases import ImportLeases, Workers
from storage.import_queue import QueuedImports
from storage.sources import Sources

if TYPE_CHECKING:
    from bootstrap import Services
    from domain import ImportReport
    from services.progress import OnProgress
    from storage.database import Database


def make_queue(database: "Database", run_next: Callable[["OnProgress"], bool]) -> ImportQueue:
    """The queue; where no worker lives, `run_next` does what it holds."""
    return ImportQueue(QueuedImports(database), Sources(database), Workers(database), run_next)


def make_worker(database: "Database", services: "Services") -> Worker:
    """The worker, with who does which kind of run."""

    def do_import(order: Order) -> "ImportReport":
        patience = Patience(order.on_progress, order.cancelled)
        return services.imports.perform(
            order.principal,
            order.source,
            services.source_kinds.loader(order.source, patience.wait),
            import_id=order.queued.id,
            keys=order.queued.keys,
            confirm_removals=order.queued.confirm_removals,
            on_progress=patience.tell,
            cancelled=order.cancelled,
        )

    def do_dry_run(order: Order) -> "ImportReport":
        patience = Patience(order.on_progress, order.cancelled)
        return services.dry_runs.run(
            order.principal,
            order.source,
            services.source_kinds.loader(order.source, patience.wait),
            import_id=order.queued.id,
            on_progress=patience.tell,
            cancelled=order.cancelled,
        )

    def do_removal(order: Order) -> "ImportReport":
        return services.removals.run(
            order.principal,
            order.source,
            import_id=order.queued.id,
            on_progress=order.on_progress,
            cancelled=order.cancelled,
        )

    return Worker(
        ImportLeases(database),
        Workers(database),
        Sources(database),
        {
            ImportKind.IMPORT: do_import,
            ImportKind.DRY_RUN: do_dry_run,
            ImportKind.REMOVAL: do_removal,
        },
        lambda now: services.sources.refresh_due(LOCAL_USER, now),
    )
