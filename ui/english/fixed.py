"""What stands among the texts and is the same in every language."""

from typing import TypeVar

Value = TypeVar("Value")


def fixed(value: Value) -> Value:
    """The value as it is, left out of the catalogues: a command, a file type, a sample question."""
    return value
