"""Names the language of reviews that are not in the reader's language."""

import re

from domain.language.script import script_of
from domain.language.tokens import ENGLISH
from services.catalog.quote_translation import is_in
from ui.text import words
from ui.text.reader_language import language

_WORD = re.compile(r"[^\W\d_]+")
_SHARED_WORDS = """
a all am an any as at do even had has he her i in is me no of on or over so was we will
"""
_SHARED = frozenset(_SHARED_WORDS.split())
"""English words that are also common in other languages, such as German, French, or Spanish."""
_MIN_SHARE = 1 / 6
"""The minimum share of words of an English text that are common in English alone."""


def language_note(text: str, *, is_translated: bool = False) -> str:
    """Such as `in Korean`, or `translated from Korean`; "" if neither applies.

    The language is guessed from the script, and from common words for English.
    """
    if is_in(text, language()) and not is_translated:
        return ""
    name = words.QUOTE_LANGUAGES.get(_language_of(text), words.QUOTE_LANGUAGES["other"])
    template = words.PATTERN_TRANSLATED if is_translated else words.PATTERN_ORIGINAL
    return str(template.format(language=name))


def _language_of(text: str) -> str:
    """A key of `QUOTE_LANGUAGES`."""
    script = script_of(text)
    return "english" if script == "latin" and _is_english(text) else script


def _is_english(text: str) -> bool:
    """Whether the text has at least two common English words, and enough that are only English."""
    found = _WORD.findall(text.casefold())
    common = [word for word in found if word in ENGLISH]
    only_english = [word for word in common if word not in _SHARED]
    return len(set(common)) > 1 and len(only_english) >= _MIN_SHARE * len(found)
