"""What stands in a mapping of a description, field by field; an error names the field."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from domain import Words
from errors import SourceError

LANGUAGES = ("en", "ko", "ja")
"""The languages of the words of a description."""

_MAX_NAME = 40


@dataclass(frozen=True, slots=True)
class Told:
    """A mapping of a description; `at` is the path of the field it is in, "" for the whole.

    Its methods take the key of a field, and raise `SourceError` where its value is wrong.
    """

    at: str
    values: Mapping[str, Any]

    def path(self, key: str) -> str:
        """The field's path from the top, such as reviews.text."""
        return f"{self.at}.{key}" if self.at else key

    def only(self, *known: str) -> "Told":
        """Itself, once it is sure that it has no other fields than these."""
        for key in self.values:
            if key not in known:
                raise SourceError(
                    f"{self.path(str(key))}: there is no such field;"
                    f" those that can stand here are {', '.join(known)}"
                )
        return self

    def required(self, key: str) -> str:
        """A text that must be there."""
        text = self.text(key)
        if not text:
            raise SourceError(f"{self.path(key)}: it is missing, and a catalogue needs it")
        return text

    def text(self, key: str) -> str:
        """A text without white space around it; "" where there is none."""
        return _text(self.path(key), self.values.get(key))

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, each once; a single text is a list of one."""
        value = self.values.get(key)
        several = value if isinstance(value, list | tuple) else [value]
        found = (_text(f"{self.path(key)}[{n}]", one) for n, one in enumerate(several, start=1))
        return tuple(dict.fromkeys(text for text in found if text))

    def above_zero(self, key: str, default: float) -> float:
        """A number above 0."""
        text = self.text(key)
        if not text:
            return default
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not (0 < number < math.inf):
            raise SourceError(f"{self.path(key)}: {text} is no number above 0")
        return number

    def mapping(self, key: str) -> "Told":
        """A mapping; an empty one where nothing stands."""
        value = self.values.get(key)
        if value is None or value == "":
            value = {}
        if not isinstance(value, Mapping):
            raise SourceError(
                f"{self.path(key)}: fields must stand below it, such as “name: value”"
            )
        return Told(self.path(key), value)

    def mappings(self) -> Iterator[tuple[str, "Told"]]:
        """Each of its keys with the mapping below it, in their order."""
        for key in self.values:
            yield str(key), self.mapping(key)

    def words(self) -> Words:
        """Itself as words by language."""
        return {language: self.texts(language) for language in self.only(*LANGUAGES).values}

    def name(self, key: str) -> str:
        """A key that questions and programs name something by."""
        if not key.isidentifier() or len(key) > _MAX_NAME:
            raise SourceError(
                f"{self.path(key)}: a name is of letters, digits and _, begins with a letter"
                f" and has at most {_MAX_NAME} characters"
            )
        return key


def _text(path: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise SourceError(f"{path}: a text must stand here")
    return str(value).strip()
