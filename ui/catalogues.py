"""The translations of the pages' texts: one gettext catalogue for each language, read as it is."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ui.language import ENGLISH

if TYPE_CHECKING:
    from babel.messages import Catalog

LOCALE = Path(__file__).parent / "locale"

Translations = Mapping[str, tuple[str, ...]]
"""The forms of each text by its English one; of a text that counts, by its singular."""


def catalogue_path(language: str) -> Path:
    """Where the language's catalogue is."""
    return LOCALE / language / "LC_MESSAGES" / "footnote.po"


def read_catalogue(language: str) -> "Catalog":
    """The catalogue as Babel reads it."""
    from babel.messages.pofile import read_po

    with catalogue_path(language).open("rb") as file:
        return read_po(file, locale=language)


@cache
def translations(language: str) -> Translations:
    """What is translated into the language; nothing for English."""
    return {} if language == ENGLISH else translations_in(read_catalogue(language))


def translations_in(catalogue: "Catalog") -> Translations:
    """What is translated in the catalogue, and not marked as doubtful."""
    messages = [one for one in catalogue if one.id and not one.fuzzy]
    pairs = [(_forms(one.id)[0], _forms(one.string)) for one in messages]
    return {english: forms for english, forms in pairs if all(forms)}


def _forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    return (text or "",) if isinstance(text, str | None) else tuple(text)
