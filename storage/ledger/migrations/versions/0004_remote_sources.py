"""Sources elsewhere: where their next listing begins, their secrets, imports that wait for them."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sources", sa.Column("mark", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("imports", sa.Column("retry_at", sa.DateTime(), nullable=True))
    op.add_column(
        "imports",
        sa.Column("attempts", sa.Integer(), nullable=False, server_default=sa.text("0")),
    )
    op.create_table(
        "source_secrets",
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["sources.id"],
            name=op.f("fk_source_secrets_source_id_sources"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_id", "name", name=op.f("pk_source_secrets")),
    )


def downgrade() -> None:
    op.drop_table("source_secrets")
    op.drop_column("imports", "attempts")
    op.drop_column("imports", "retry_at")
    op.drop_column("sources", "mark")
