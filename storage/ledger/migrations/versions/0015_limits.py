"""Turns of imports, and the use by each person, which limits count."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "import_turns",
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("source_id", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"],
            ["sources.id"],
            name=op.f("fk_import_turns_source_id_sources"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", "source_id", name=op.f("pk_import_turns")),
    )
    op.create_table(
        "recent_questions",
        sa.Column("id", sa.Integer(), autoincrement=True, nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recent_questions")),
    )
    op.create_index("ix_recent_questions_user_id", "recent_questions", ["user_id", "at"])
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("files", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("is_stored", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uploads")),
    )
    op.create_index("ix_uploads_user_id", "uploads", ["user_id", "at"])
    op.create_table(
        "uploaded_files",
        sa.Column("location", sa.String(), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("location", "key", name=op.f("pk_uploaded_files")),
    )
    op.create_index("ix_uploaded_files_user_id", "uploaded_files", ["user_id", "bytes"])


def downgrade() -> None:
    op.drop_table("uploaded_files")
    op.drop_table("uploads")
    op.drop_table("recent_questions")
    op.drop_table("import_turns")
