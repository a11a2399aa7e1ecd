"""A text that counts something."""

from typing import NamedTuple


class Plural(NamedTuple):
    """The text for one, and the text for any other number, which stands in it as `{n}`."""

    one: str
    many: str
