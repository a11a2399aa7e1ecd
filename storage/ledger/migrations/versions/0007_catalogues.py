"""Catalogues: the places of documents, and people with their preferences."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "places",
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("catalogue_id", sa.String(), nullable=False),
        sa.Column("place_id", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("types", sa.JSON(), nullable=False),
        sa.Column("fields", sa.JSON(), nullable=False),
        sa.Column("facts", sa.JSON(), nullable=False),
        sa.Column("rating", sa.Double(), nullable=True),
        sa.Column("ratings", sa.Integer(), nullable=False),
        sa.Column("latitude", sa.Double(), nullable=True),
        sa.Column("longitude", sa.Double(), nullable=True),
        sa.Column("aspects", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(
            ["document_id"],
            ["documents.id"],
            name=op.f("fk_places_document_id_documents"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", name=op.f("pk_places")),
    )
    op.create_index("ix_places_catalogue_id", "places", ["catalogue_id", "place_id"])
    op.create_index("ix_places_place_id", "places", ["place_id"])
    op.create_table(
        "users",
        sa.Column("owner_id", sa.String(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("preferences", sa.JSON(), nullable=False),
        sa.Column("language", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("owner_id", "id", name=op.f("pk_users")),
    )


def downgrade() -> None:
    op.drop_table("users")
    op.drop_index("ix_places_place_id", table_name="places")
    op.drop_index("ix_places_catalogue_id", table_name="places")
    op.drop_table("places")
