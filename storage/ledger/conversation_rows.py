"""Writes turns to their rows, and to the texts in which words are searched.

The texts are stored in the form in which words are searched, because SQL unifies neither the width
nor the case of all Unicode letters. They have a table of their own, because the rows of turns are
long.
"""

from collections.abc import Iterable
from dataclasses import asdict

from sqlalchemy import ColumnElement, and_, exists, func, true

from domain import (
    Turn,
)
from domain.language.script import fold
from storage.ledger.ledger_tables import ConversationRow, ConversationTextRow, TurnRow


def fill_row(row: TurnRow, turn: Turn) -> None:
    """Write all fields of the turn to its row."""
    for name, value in asdict(turn).items():
        setattr(row, name, value)


TITLE = ""
"""The `turn_id` of the text that is the title."""


def title_text(conversation_id: str, title: str) -> ConversationTextRow:
    """The row of a title; merge it to replace that of an earlier title."""
    return ConversationTextRow(conversation_id=conversation_id, turn_id=TITLE, text=fold(title))


def turn_text(turn: Turn) -> ConversationTextRow:
    """The row of a question and its answer; merge it to replace that of an earlier state."""
    text = fold(f"{turn.question}\n{turn.answer}")
    return ConversationTextRow(conversation_id=turn.conversation_id, turn_id=turn.id, text=text)


def contains_words(words: Iterable[str]) -> ColumnElement[bool]:
    """Whether a conversation contains all words, in its title or any of its turns.

    Words match parts of longer words, ignoring case and width. The time is proportional to the
    number of words and to the length of the principal's conversations.
    """
    return and_(true(), *(_contains(fold(word)) for word in words))


def _contains(word: str) -> ColumnElement[bool]:
    return exists().where(
        ConversationTextRow.conversation_id == ConversationRow.id,
        func.instr(ConversationTextRow.text, word) > 0,
    )
