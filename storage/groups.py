"""Long lists in groups: a statement holds only so many variables."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

GROUP = 500
"""Far below the 32,766 variables of SQLite, and each group is still one quick statement."""


def in_groups(items: Sequence[T], size: int = GROUP) -> Iterator[Sequence[T]]:
    """The items in order, `size` at a time; the last group may be shorter."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
