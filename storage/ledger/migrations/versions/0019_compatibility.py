"""The oldest migration whose version of Footnote works with this ledger."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None
oldest_compatible = "0019"  # earlier versions don't read it


def upgrade() -> None:
    op.add_column("alembic_version", sa.Column("oldest", sa.String(), nullable=True))


def downgrade() -> None:
    op.drop_column("alembic_version", "oldest")
