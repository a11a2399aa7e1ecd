"""Branches, scopes, ratings; the queue of imports; what the library's table shows."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_LISTED = ["source_id", "format", "script", "title", "key", "imported_at", "passages", "id"]
_ZERO, _EMPTY, _FALSE, _OBJECT = sa.text("0"), "", sa.false(), "{}"


def _added() -> dict[str, list["sa.Column[Any]"]]:
    """The new columns by table, made afresh: one column belongs to one table."""
    return {
        "sources": [
            sa.Column("paused", sa.Boolean(), nullable=False, server_default=_FALSE),
            sa.Column("refresh_s", sa.Integer(), nullable=True),
        ],
        "documents": [
            sa.Column("characters", sa.Integer(), nullable=False, server_default=_ZERO),
            sa.Column("script", sa.String(), nullable=False, server_default=_EMPTY),
            sa.Column("passages", sa.Integer(), nullable=False, server_default=_ZERO),
            sa.Column("longest_passage", sa.Integer(), nullable=False, server_default=_ZERO),
        ],
        "imports": [
            sa.Column("kind", sa.String(), nullable=False, server_default="import"),
            sa.Column("options", sa.JSON(), nullable=False, server_default=_OBJECT),
            sa.Column("wish", sa.String(), nullable=False, server_default=_EMPTY),
            sa.Column("worker", sa.String(), nullable=False, server_default=_EMPTY),
            sa.Column("lease_until", sa.DateTime(), nullable=True),
            sa.Column("progress", sa.JSON(), nullable=False, server_default=_OBJECT),
            sa.Column("counts", sa.JSON(), nullable=False, server_default=_OBJECT),
        ],
        "import_items": [
            sa.Column("pages", sa.Integer(), nullable=False, server_default=_ZERO),
            sa.Column("characters", sa.Integer(), nullable=False, server_default=_ZERO),
            sa.Column("tokens", sa.Integer(), nullable=False, server_default=_ZERO),
        ],
        "failures": [
            sa.Column("location", sa.String(), nullable=False, server_default=_EMPTY),
            sa.Column("again", sa.Boolean(), nullable=False, server_default=_FALSE),
            sa.Column("dismissed", sa.Boolean(), nullable=False, server_default=_FALSE),
            sa.Column("failed_at", sa.DateTime(), nullable=True),
        ],
        "conversations": [
            sa.Column("shown_turn_id", sa.String(), nullable=False, server_default=_EMPTY),
            sa.Column("search", sa.JSON(), nullable=False, server_default=_OBJECT),
            sa.Column("deleted_at", sa.DateTime(), nullable=True),
        ],
        "turns": [
            sa.Column("standalone_given", sa.Boolean(), nullable=False, server_default=_FALSE),
            sa.Column("parent_id", sa.String(), nullable=True),
            sa.Column("search", sa.JSON(), nullable=False, server_default=_OBJECT),
        ],
    }


def upgrade() -> None:
    for table, columns in _added().items():
        for column in columns:
            op.add_column(table, column)
    op.create_index("ix_imports_state", "imports", ["state", "started_at"], unique=False)
    op.create_table(
        "ratings",
        sa.Column("turn_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("grade", sa.Integer(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("comment", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["turn_id"], ["turns.id"], name=op.f("fk_ratings_turn_id_turns"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("turn_id", "user_id", name=op.f("pk_ratings")),
    )
    op.create_table(
        "workers",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("lease_until", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_workers")),
    )
    if op.get_bind().dialect.name == "sqlite":
        op.create_index("ix_documents_listed", "documents", _LISTED, unique=False)
    else:
        op.create_index("ix_documents_source_id", "documents", ["source_id"], unique=False)
    for statement in (_PARENTS, _SHOWN, _CHARACTERS, _PASSAGES):
        op.execute(statement)


def downgrade() -> None:
    op.drop_table("workers")
    op.drop_table("ratings")
    op.drop_index("ix_imports_state", table_name="imports")
    if op.get_bind().dialect.name == "sqlite":
        op.drop_index("ix_documents_listed", table_name="documents")
    else:
        op.drop_index("ix_documents_source_id", table_name="documents")
    for table, columns in _added().items():
        for column in columns:
            op.drop_column(table, column.name)


# Until now a conversation was one line of turns.
_PARENTS = """
UPDATE turns SET parent_id = (
    SELECT before.id FROM turns AS before
    WHERE before.conversation_id = turns.conversation_id AND before.position < turns.position
    ORDER BY before.position DESC LIMIT 1
)"""
_SHOWN = """
UPDATE conversations SET shown_turn_id = COALESCE((
    SELECT turns.id FROM turns WHERE turns.conversation_id = conversations.id
    ORDER BY turns.position DESC LIMIT 1
), '')"""
_CHARACTERS = """
UPDATE documents SET characters = COALESCE((
    SELECT LENGTH(document_texts.text) FROM document_texts
    WHERE document_texts.document_id = documents.id
), 0)"""
_PASSAGES = """
UPDATE documents SET passages = (
    SELECT COUNT(*) FROM passages JOIN indexes ON indexes.id = passages.index_id
    WHERE indexes.state = 'active' AND passages.document_id = documents.id
), longest_passage = COALESCE((
    SELECT MAX(LENGTH(passages.text)) FROM passages JOIN indexes ON indexes.id = passages.index_id
    WHERE indexes.state = 'active' AND passages.document_id = documents.id
), 0)"""
