"""The texts of the pages in the reader's language: `words.ASK_HERE`.

Each access looks up the translation. Do not use them at a module's top level, where the lookup
would happen once for all readers. Show messages of services, which carry their templates, with
`words.translated(message)`.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domain.messages import Message, with_command
from ui.text import english
from ui.text.english.text_kinds import Plural
from ui.text.reader_language import ENGLISH, language

if TYPE_CHECKING:
    from babel.messages import Catalog

    from ui.text.english import *  # noqa: F403


LOCALE = Path(__file__).parent / "locale"

Translations = Mapping[str, tuple[str, ...]]
"""The translated forms of each text by its English text, or by the singular of a plural text."""


def po_path(language: str) -> Path:
    """The path of the language's file."""
    return LOCALE / language / "LC_MESSAGES" / "footnote.po"


def read_po_file(language: str) -> "Catalog":
    """The language's file as a Babel catalog."""
    from babel.messages.pofile import read_po

    with po_path(language).open("rb") as file:
        return read_po(file, locale=language)


@cache
def translations(language: str) -> Translations:
    """The translations into the language; empty for English."""
    return {} if language == ENGLISH else translations_in(read_po_file(language))


def translations_in(po_file: "Catalog") -> Translations:
    """The complete translations in the file, except fuzzy ones."""
    messages = (one for one in po_file if one.id and not one.fuzzy)
    pairs = [(_forms(one.id)[0], _forms(one.string)) for one in messages]
    return {english: forms for english, forms in pairs if all(forms)}


def _forms(text: str | Sequence[str] | None) -> tuple[str, ...]:
    return (text or "",) if isinstance(text, str | None) else tuple(text)


def __getattr__(name: str) -> Any:
    return _text(name, language())


@cache
def _text(name: str, language: str) -> Any:
    return _translate(getattr(english, name), translations(language))


def _translate(value: Any, into: Translations) -> Any:
    """The value with its texts translated; those without a translation stay English."""
    match value:
        case str():
            return with_command(into.get(value, (value,))[0])
        case Plural():
            forms = into.get(value.one, value)
            return Plural(forms[0], forms[-1])
        case tuple():
            return tuple(_translate(one, into) for one in value)
        case dict():
            return {key: _translate(one, into) for key, one in value.items()}
    return value


def count(forms: Plural, n: int, **more: object) -> str:
    """The singular or plural form for `n`, with `n` filled in; `more` fills other placeholders."""
    return (forms.one if n == 1 else forms.many).format(n=n, **more)


def translated(text: str) -> str:
    """A service's message in the reader's language; English if there is no translation.

    Messages stored before they carried templates are looked up by their text, which finds only
    those without values.
    """
    return translated_into(language(), text)


def translated_into(language: str, text: str) -> str:
    """The same in that language, for text that is created outside of a page's run."""
    into = translations(language)
    if not isinstance(text, Message):
        return with_command(into.get(text, (text,))[0])
    template = with_command(into.get(text.template, (text.template,))[0])
    if not text.values:
        return template
    return template.format_map(
        {name: _value(language, value) for name, value in text.values.items()}
    )


def _value(language: str, value: str) -> str:
    return translated_into(language, value) if isinstance(value, Message) else value
