"""The texts of conversations in the form in which words are searched."""

import sqlalchemy as sa
from alembic import op

from domain.language.script import fold

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_ROWS_AT_ONCE = 500


def upgrade() -> None:
    texts = op.create_table(
        "conversation_texts",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("turn_id", sa.String(), nullable=False),
        sa.Column("text", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(
            ["conversation_id"],
            ["conversations.id"],
            name=op.f("fk_conversation_texts_conversation_id_conversations"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("conversation_id", "turn_id", name=op.f("pk_conversation_texts")),
    )
    connection = op.get_bind()
    for query in (
        "SELECT id, '', title FROM conversations",
        "SELECT conversation_id, id, question || '\n' || answer FROM turns",
    ):
        for part in connection.execute(sa.text(query)).partitions(_ROWS_AT_ONCE):
            connection.execute(
                sa.insert(texts),
                [
                    {"conversation_id": conversation_id, "turn_id": turn_id, "text": fold(text)}
                    for conversation_id, turn_id, text in part
                ],
            )


def downgrade() -> None:
    op.drop_table("conversation_texts")
