"""The settings that people store, for a ledger that several machines share."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None
oldest_compatible = "0020"  # earlier versions read stored settings from the file


def upgrade() -> None:
    op.create_table(
        "stored_settings",
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("entry", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_stored_settings")),
    )


def downgrade() -> None:
    op.drop_table("stored_settings")
