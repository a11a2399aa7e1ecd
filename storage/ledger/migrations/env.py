"""Alembic's environment; `storage.ledger.migrations.run` passes the connection to it."""

from alembic import context

from storage.ledger.ledger_tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite can't change a column in place, so Alembic must copy the table.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
