"""Names the language of reviews that are not in the reader's language."""

from domain.language.script import script_of
from domain.language.tokens import ENGLISH
from services.catalog.quote_translation import is_in
from ui.text import words
from ui.text.reader_language import language


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
    is_english = any(word in ENGLISH for word in text.casefold().split())
    return "english" if is_english else script_of(text)
