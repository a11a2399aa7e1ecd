"""Refuses the writes of a run once another worker performs it.

A process may continue after it was suspended, or without its database, for longer than its lease.
"""

from functools import partial

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from domain import CancelledError, ImportState
from storage.ledger.database import Database
from storage.ledger.ledger_tables import ImportRow


class LeaseLostError(CancelledError):
    """The run was deleted, or its record and its work are another worker's; nothing was written."""


def with_lease(database: Database, import_id: str, worker: str) -> Database:
    """The ledger for what this run writes: every write transaction requires its lease.

    Transactions that write follow one another, so the lease can't be lost in the middle of one.
    Without the lease, they raise LeaseLostError.
    """
    return database.with_guard(partial(_require_lease, import_id, worker))


def _require_lease(import_id: str, worker: str, session: Session) -> None:
    if session.scalar(select(ImportRow.id).where(has_lease(import_id, worker))) is None:
        raise LeaseLostError(f"{worker} has lost the lease of import {import_id}")


def has_lease(import_id: str, worker: str) -> ColumnElement[bool]:
    """Whether it is this run, and the worker performs it."""
    return and_(
        ImportRow.id == import_id,
        ImportRow.worker == worker,
        ImportRow.state == ImportState.RUNNING,
    )
