"""Passages of a document in one index are found by both; no place is looked up by its id alone."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_NAME = "ix_passages_document_id"


def upgrade() -> None:
    op.drop_index(_NAME, table_name="passages")
    op.create_index(_NAME, "passages", ["document_id", "index_id", "ordinal"])
    op.drop_index("ix_places_place_id", table_name="places")


def downgrade() -> None:
    op.create_index("ix_places_place_id", "places", ["place_id"])
    op.drop_index(_NAME, table_name="passages")
    op.create_index(_NAME, "passages", ["document_id"])
