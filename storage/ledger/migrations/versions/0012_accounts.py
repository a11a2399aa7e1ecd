"""Accounts of people who sign in, their ended sessions, and the first administrator's link."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("groups", sa.JSON(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("signed_in_at", sa.DateTime(), nullable=False),
        sa.Column("seen_at", sa.DateTime(), nullable=False),
        sa.Column("disabled_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_accounts_issuer")),
    )
    for name in ("ended_sessions", "administrator_links"):
        op.create_table(
            name,
            sa.Column("digest", sa.String(), nullable=False),
            sa.Column("until", sa.DateTime(), nullable=False),
            sa.PrimaryKeyConstraint("digest", name=op.f(f"pk_{name}")),
        )


def downgrade() -> None:
    op.drop_table("administrator_links")
    op.drop_table("ended_sessions")
    op.drop_table("accounts")
