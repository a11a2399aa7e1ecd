"""What a catalogue's values are called on the page, in the reader's language."""

from collections.abc import Sequence

from domain import CatalogueDescription, NamedValue
from ui import words
from ui.language import ENGLISH, language


def aspect_name(aspect: str) -> str:
    """The aspect's name; of a catalogue's own aspect the one that its description gives it."""
    return str(words.ASPECT_NAMES.get(aspect) or _plain(aspect))


def type_name(description: CatalogueDescription, value: str) -> str:
    """What people call a type; in English the type itself, `Italian restaurant`, is clearest."""
    return _plain(value) if language() == ENGLISH else _called(description.types, value)


def field_name(description: CatalogueDescription, name: str, value: str) -> str:
    """What people call the value of a filter's field, such as `Pets allowed` for `allowed`."""
    named = {one.name: one.values for one in description.filters}
    return _called(named.get(name, ()), value)


def field_title(description: CatalogueDescription, name: str) -> str:
    """What a filter is called: its column, as the data has it for people."""
    columns = {one.name: one.column for one in description.filters}
    return _plain(columns.get(name, name))


def field_label(description: CatalogueDescription, name: str, value: str) -> str:
    """What is said of a place by a filter: `Borough: Bronx`; a translated name speaks for itself.

    A column has no name but that of the data, which is English as a rule.
    """
    called = field_name(description, name, value)
    if called != _plain(value):
        return called
    return f"{field_title(description, name)}: {called}"


def group_name(description: CatalogueDescription, group: str) -> str:
    """What people call those who wrote a review."""
    names = dict(description.groups).get(group, {})
    return names.get(language()) or names.get(ENGLISH) or _plain(group)


def _called(values: Sequence[NamedValue], value: str) -> str:
    """The first word for it in the reader's language, else the value itself."""
    for named in values:
        if named.value == value and named.words.get(language()):
            return _plain(named.words[language()][0])
    return _plain(value)


def _plain(value: str) -> str:
    text = value.replace("_", " ").strip()
    return text[:1].upper() + text[1:]
