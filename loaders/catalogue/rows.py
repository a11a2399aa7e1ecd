"""A row of a catalogue's data, and its cells as texts, numbers and lists."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from unicodedata import normalize

from errors import UnreadableError
from loaders.formats.content import clean, one_line

_EXACT = 2**53  # whole numbers up to here are exact as floats
_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class Row:
    """A row by column; `where` names its file and line for people.

    A column named "" is one that the catalogue does not have, and has nothing in any row.
    """

    where: str
    values: Mapping[str, Any]

    def text(self, column: str) -> str:
        """The cell on one line; "" where nothing stands."""
        return one_line(self.paragraphs(column))

    def paragraphs(self, column: str) -> str:
        """The cell with its line breaks as line feeds, without controls."""
        return clean(_text(self.values.get(column))).strip()

    def texts(self, column: str) -> tuple[str, ...]:
        """A list, or a text with ";" between its parts, each once."""
        value = _listed(self.values.get(column))
        parts = value if isinstance(value, list) else _text(value).split(";")
        found = (one_line(clean(_text(part))) for part in parts)
        return tuple(dict.fromkeys(part for part in found if part))

    def number(self, column: str, least: float, most: float) -> float | None:
        """The number in the cell; None where nothing stands.

        Raises:
            UnreadableError: It is no number, NaN, or not from `least` to `most`.
        """
        value = self.values.get(column)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        number = _number(value)
        if not least <= number <= most:
            shown = _text(value)[:_SHOWN_CHARS] or "NaN"
            raise UnreadableError(
                f"{self.where}: {column}: {shown} is not a number from {least:g} to {most:g};"
                " correct it, or leave it empty (null) where it is not known"
            )
        return number

    def rows(self, column: str) -> "list[Row]":
        """A list of objects, each a row; in a text they stand as JSON.

        Raises:
            UnreadableError: It is no such list.
        """
        value = _listed(self.values.get(column))
        if value is None or value == "":
            return []
        if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
            raise UnreadableError(f"{self.where}: {column}: a list of objects must stand here")
        return [Row(f"{self.where}, {column} {n}", one) for n, one in enumerate(value, start=1)]


def key_of(row: Row, column: str) -> str:
    """The id in that column, in NFC: the same letters are the same id."""
    return normalize("NFC", row.text(column))


def _listed(value: Any) -> Any:
    """The value, or the list that stands in it as JSON."""
    if not isinstance(value, str) or not value.lstrip().startswith("["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):  # a text that begins with a bracket
        return value


def _number(value: Any) -> float:
    """NaN for what is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | str):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case float():
            return _number_text(value)
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case date() | time():
            return value.isoformat()
        case bytes():
            return value.decode("utf-8", "replace")
        case list() | tuple():
            return ", ".join(filter(None, map(_text, value)))
        case dict():
            return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _number_text(value: float) -> str:
    if math.isnan(value):
        return ""
    whole = value.is_integer() and abs(value) < _EXACT
    return str(int(value)) if whole else repr(value)
