"""Titles of documents whose keys tell people nothing; failures that are none."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("import_items", "failures"):
        op.add_column(table, sa.Column("title", sa.String(), nullable=False, server_default=""))
    is_error: sa.Column[bool] = sa.Column(
        "is_error", sa.Boolean(), nullable=False, server_default=sa.true()
    )
    op.add_column("failures", is_error)


def downgrade() -> None:
    op.drop_column("failures", "is_error")
    for table in ("failures", "import_items"):
        op.drop_column(table, "title")
