"""What turns may tell of, and whether the e-mail addresses of accounts are verified."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_ROWS_AT_ONCE = 100
_TURNS = sa.table(
    "turns",
    sa.column("id", sa.String()),
    sa.column("parent_id", sa.String()),
    sa.column("conversation_id", sa.String()),
    sa.column("position", sa.Integer()),
    sa.column("sources", sa.JSON()),
    sa.column("citations", sa.JSON()),
    sa.column("basis", sa.JSON()),
)


def upgrade() -> None:
    op.add_column(
        "accounts",
        sa.Column("email_verified", sa.Boolean(), nullable=False, server_default=sa.false()),
    )
    op.add_column("turns", sa.Column("basis", sa.JSON(), nullable=False, server_default="[]"))
    connection = op.get_bind()
    if changes := list(_bases(connection)):
        new = sa.update(_TURNS).where(_TURNS.c.id == sa.bindparam("turn"))
        connection.execute(new.values(basis=sa.bindparam("used")), changes)


def _bases(connection: sa.Connection) -> Iterator[dict[str, Any]]:
    """For each turn, the documents of its evidence and of the turns before it."""
    columns = _TURNS.c
    query = sa.select(
        columns.id, columns.parent_id, columns.conversation_id, columns.sources, columns.citations
    ).order_by(columns.conversation_id, columns.position)
    conversation, used = "", dict[str, set[str]]()
    for part in connection.execute(query).partitions(_ROWS_AT_ONCE):
        for turn, parent, conversation_id, sources, citations in part:
            if conversation_id != conversation:
                conversation, used = conversation_id, {}
            documents = {one.get("document_id", "") for one in (*sources, *citations)} - {""}
            used[turn] = documents | used.get(parent, set())
            yield {"turn": turn, "used": sorted(used[turn])}


def downgrade() -> None:
    op.drop_column("turns", "basis")
    op.drop_column("accounts", "email_verified")
