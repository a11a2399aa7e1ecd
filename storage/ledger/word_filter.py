"""Filters rows by words in some of their columns."""

from sqlalchemy import ColumnElement, and_, or_, true
from sqlalchemy.orm import InstrumentedAttribute


def has_words(words: str, *columns: InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Whether each of the words is in one of the columns, ignoring case; parts of words match."""
    return and_(
        true(), *(or_(*(_contains(column, word) for column in columns)) for word in words.split())
    )


def _contains(column: InstrumentedAttribute[str], word: str) -> ColumnElement[bool]:
    """Whether the column contains the word, ignoring case.

    SQLite folds the case of ASCII letters only, so other words are searched in several forms.
    """
    spellings = {word, word.lower(), word.upper(), word.capitalize()}
    if word.isascii():
        spellings = {word}
    return or_(*(column.icontains(each, autoescape=True) for each in sorted(spellings)))
