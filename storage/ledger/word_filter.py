"""Filters rows by words in some of their columns."""

from sqlalchemy import ColumnElement, and_, or_, true
from sqlalchemy.orm import InstrumentedAttribute

from domain.language.unicode_forms import forms_of


def has_words(words: str, *columns: InstrumentedAttribute[str]) -> ColumnElement[bool]:
    """Whether each of the words is in one of the columns, ignoring case; parts of words match.

    A column may be in NFC or NFD. In NFD, a part of a syllable matches too: 가 is in 각.
    """
    return and_(
        true(), *(or_(*(_contains(column, word) for column in columns)) for word in words.split())
    )


def _contains(column: InstrumentedAttribute[str], word: str) -> ColumnElement[bool]:
    spellings = sorted(_spellings(word))
    return or_(*(column.icontains(each, autoescape=True) for each in spellings))


def _spellings(word: str) -> set[str]:
    """The word in the forms that a text may have.

    SQLite folds the case of ASCII letters only, so other words are searched in several cases.
    """
    if word.isascii():
        return {word}
    cases = (word, word.lower(), word.upper(), word.capitalize())
    return {form for case in cases for form in forms_of(case)}
