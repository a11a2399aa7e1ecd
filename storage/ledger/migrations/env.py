"""Alembic's environment; `storage.ledger.migrations.run` passes the connection to it."""

from alembic import context

from storage.ledger.ledger_tables import Base
from storage.ledger.postgresql import migrating

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=Base.metadata,
    # SQLite can't change a column in place, so Alembic must copy the table.
    render_as_batch=True,
)
with migrating(connection), context.begin_transaction():
    context.run_migrations()
