"""The display names of a catalog's values, in the reader's language."""

from domain import CatalogDescription
from services.catalog import answer_texts
from services.catalog.answer_texts import display_name
from ui.text.reader_language import language


def aspect_name(description: CatalogDescription, aspect: str) -> str:
    """The display name of an aspect."""
    return display_name(answer_texts.aspect_name(aspect, description.aspects, language()))


def type_name(description: CatalogDescription, value: str) -> str:
    """The display name of a type; in English, the type itself, such as `Italian restaurant`."""
    return display_name(answer_texts.value_name(value, description.types, language()))


def field_name(description: CatalogDescription, name: str, value: str) -> str:
    """The display name of a filter value, such as `Pets allowed` for `allowed`."""
    described = {one.name: one.values for one in description.filters}
    return display_name(answer_texts.field_name(value, described.get(name, ()), language()))


def field_title(description: CatalogDescription, name: str) -> str:
    """The display name of a filter, which is the name of its column."""
    columns = {one.name: one.column for one in description.filters}
    return display_name(columns.get(name, name))


def field_label(description: CatalogDescription, name: str, value: str) -> str:
    """The name of a filter value, with its column if it is not translated: `Borough: Bronx`.

    Column names are not translated, and are usually English.
    """
    label = field_name(description, name, value)
    return label if label != display_name(value) else f"{field_title(description, name)}: {label}"


def group_name(description: CatalogDescription, group: str) -> str:
    """The label of reviews by that group."""
    return answer_texts.group_name(group, description, language())
