"""Alembic's environment; `storage.ledger.migrations.run` passes the connection to it."""

from collections.abc import Collection, Mapping
from typing import Any

from alembic import context
from alembic.runtime.migration import MigrationContext, MigrationInfo
from alembic.script import Script

from storage.ledger.compatibility import record_oldest
from storage.ledger.ledger_tables import Base
from storage.ledger.postgresql import migrating

connection = context.config.attributes["connection"]


def _record_oldest(
    ctx: MigrationContext,  # noqa: ARG001  # Alembic passes arguments by name
    step: MigrationInfo,
    heads: Collection[Any],  # noqa: ARG001
    run_args: Mapping[str, Any],  # noqa: ARG001
) -> None:
    """Record which versions work with the ledger after this step, from migration 0019 on."""
    for script in step.destination_revisions:
        if isinstance(script, Script) and hasattr(script.module, "oldest_compatible"):
            record_oldest(connection, script.module.oldest_compatible)


context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    on_version_apply=_record_oldest,
    # SQLite can't change a column in place, so Alembic must copy the table.
    render_as_batch=True,
)
with migrating(connection), context.begin_transaction():
    context.run_migrations()
