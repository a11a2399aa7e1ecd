"""Restrictions: who may read sources, collections, and documents."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "restrictions",
        sa.Column("id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_restrictions")),
    )
    op.create_table(
        "restriction_readers",
        sa.Column("restriction_id", sa.String(), nullable=False),
        sa.Column("reader", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["restriction_id"],
            ["restrictions.id"],
            name=op.f("fk_restriction_readers_restriction_id_restrictions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("restriction_id", "reader", name=op.f("pk_restriction_readers")),
    )
    op.create_table(
        "document_restrictions",
        sa.Column("document_id", sa.String(), nullable=False),
        sa.Column("restriction_id", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["restriction_id"],
            ["restrictions.id"],
            name=op.f("fk_document_restrictions_restriction_id_restrictions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "document_id", "restriction_id", name=op.f("pk_document_restrictions")
        ),
    )
    op.create_table(
        "counters",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("value", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )


def downgrade() -> None:
    op.drop_table("counters")
    op.drop_table("document_restrictions")
    op.drop_table("restriction_readers")
    op.drop_table("restrictions")
