"""The reasoning of models, next to their answers."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("reasoning", sa.String(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("turns", "reasoning")
