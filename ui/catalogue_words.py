"""What a catalogue's values are called on the page: as in its answers, in the reader's language."""

from catalog import answer_texts
from domain import CatalogueDescription
from ui.language import language


def aspect_name(description: CatalogueDescription, aspect: str) -> str:
    """What people call an aspect; one of the catalogue's own by the words of its description."""
    return _plain(answer_texts.aspect_name(aspect, description.aspects, language()))


def type_name(description: CatalogueDescription, value: str) -> str:
    """What people call a type; in English the type itself, `Italian restaurant`, is clearest."""
    return _plain(answer_texts.value_name(value, description.types, language()))


def field_name(description: CatalogueDescription, name: str, value: str) -> str:
    """What people call the value of a filter's field, such as `Pets allowed` for `allowed`."""
    named = {one.name: one.values for one in description.filters}
    return _plain(answer_texts.field_name(value, named.get(name, ()), language()))


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
    """What people call a review of that group."""
    return answer_texts.group_name(group, description, language())


def _plain(value: str) -> str:
    text = value.replace("_", " ").strip()
    return text[:1].upper() + text[1:]
