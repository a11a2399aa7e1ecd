"""When API keys expire, and the groups for which they read."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("expires_at", sa.DateTime(), nullable=True))
    op.add_column("api_keys", sa.Column("groups", sa.JSON(), nullable=False, server_default="[]"))


def downgrade() -> None:
    op.drop_column("api_keys", "groups")
    op.drop_column("api_keys", "expires_at")
