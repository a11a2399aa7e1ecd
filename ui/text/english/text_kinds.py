"""Markers for English texts: plurals, and values that are not translated."""

from typing import NamedTuple, TypeVar

Value = TypeVar("Value")


def fixed(value: Value) -> Value:
    """Mark a value as not translatable, such as a command, a file type, or a sample question."""
    return value


class Plural(NamedTuple):
    """The singular and the plural of a text; `{n}` is the number."""

    one: str
    many: str
