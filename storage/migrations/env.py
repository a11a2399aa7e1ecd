"""Alembic's environment; `storage.migrations.run` hands it the connection."""

from alembic import context

from storage.tables import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    # SQLite can't change a column in place: the table is written anew.
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
