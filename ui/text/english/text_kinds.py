"""A text that counts something."""

from typing import NamedTuple, TypeVar

Value = TypeVar("Value")


def fixed(value: Value) -> Value:
    """The value as it is, left out of the catalogs: a command, a file type, a sample question."""
    return value


class Plural(NamedTuple):
    """The text for one, and the text for any other number, which stands in it as `{n}`."""

    one: str
    many: str
