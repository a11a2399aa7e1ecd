"""The translations of the pages' texts: one gettext file for each language, read as it is."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ui.language import ENGLISH

if TYPE_CHECKING:
    from babel.messages import Catalog
    from babel.messages.catalog import Message

LOCALE = Path(__file__).parent / "locale"
PAGES = "ui/"  # where the texts of the pages stand; all others are said by services

Translations = Mapping[str, tuple[str, ...]]
"""The forms of each text by its English one; of a text that counts, by its singular."""


def po_path(language: str) -> Path:
    """Where the language's file is."""
    return LOCALE / language / "LC_MESSAGES" / "footnote.po"


def read_po_file(language: str) -> "Catalog":
    """The file as Babel reads it."""
    from babel.messages.pofile import read_po

    with po_path(language).open("rb") as file:
        return read_po(file, locale=language)


@cache
def _kept(language: str) -> "Catalog":
    return read_po_file(language)


@cache
def translations(language: str) -> Translations:
    """What is translated into the language; nothing for English."""
    return {} if language == ENGLISH else translations_in(_kept(language))


@cache
def service_translations(language: str) -> Mapping[str, str]:
    """The translation of each template that the services' code holds; nothing for English."""
    if language == ENGLISH:
        return {}
    said = [one for one in _kept(language) if not all(map(_of_a_page, one.locations))]
    return {english: forms[0] for english, forms in _done(said).items()}


def _of_a_page(location: tuple[str, int]) -> bool:
    return location[0].startswith(PAGES)


def translations_in(po_file: "Catalog") -> Translations:
    """What is translated in the file, and not marked as doubtful."""
    return _done(one for one in po_file if one.id)


def _done(messages: "Iterable[Message]") -> Translations:
    pairs = [(_forms(one.id)[0], _forms(one.string)) for one in messages if not one.fuzzy]
    return {english: forms for english, forms in pairs if all(forms)}


def _forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    return (text or "",) if isinstance(text, str | None) else tuple(text)
