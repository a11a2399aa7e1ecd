"""A migration of the next version of Footnote."""

from storage.ledger.database import HEAD

NEXT = f"{int(HEAD) + 1:04}"

EXPANSION = (
    'op.create_table("notes", sa.Column("import_id", sa.String(), sa.ForeignKey('
    '"imports.id", ondelete="CASCADE"), primary_key=True))',
    'op.add_column("imports", sa.Column("note", sa.String(), nullable=True))',
    'op.add_column("conversations", sa.Column("origin", sa.String(), nullable=False,'
    ' server_default=""))',
    'op.create_index("ix_imports_user_id", "imports", ["user_id"])',
)
"""A new table, columns, and an index, with which this version works."""

CONTRACTION = ('op.drop_column("conversations", "search")',)
"""Without this column, this version doesn't work."""

_MIGRATION = '''"""What the next version needs."""

import sqlalchemy as sa
from alembic import op

revision = "{revision}"
down_revision = "{before}"
branch_labels = None
depends_on = None
oldest_compatible = "{oldest}"


def upgrade():
    {statements}


def downgrade():
    raise NotImplementedError
'''


def write_next_migration(folder, statements, *, oldest):
    """Write it into this folder of migrations; `oldest` is what it states about earlier ones."""
    folder.mkdir(exist_ok=True)
    text = _MIGRATION.format(
        revision=NEXT, before=HEAD, oldest=oldest, statements="\n    ".join(statements)
    )
    (folder / f"{NEXT}_next.py").write_text(text, encoding="utf-8")
    return folder
