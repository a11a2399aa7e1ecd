"""Passages of a document in one index are found by both, and revisions are summed up quickly.

No place is looked up by its id alone.
"""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_PASSAGES, _LISTED = "ix_passages_document_id", "ix_documents_listed"
_COLUMNS = ["source_id", "format", "script", "title", "key", "imported_at", "passages", "id"]


def upgrade() -> None:
    op.drop_index(_PASSAGES, table_name="passages")
    op.create_index(_PASSAGES, "passages", ["document_id", "index_id", "ordinal"])
    if _is_sqlite():
        op.drop_index(_LISTED, table_name="documents")
        op.create_index(_LISTED, "documents", [*_COLUMNS, "revision"])
    op.drop_index("ix_places_place_id", table_name="places")


def downgrade() -> None:
    op.create_index("ix_places_place_id", "places", ["place_id"])
    if _is_sqlite():
        op.drop_index(_LISTED, table_name="documents")
        op.create_index(_LISTED, "documents", _COLUMNS)
    op.drop_index(_PASSAGES, table_name="passages")
    op.create_index(_PASSAGES, "passages", ["document_id"])


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"
