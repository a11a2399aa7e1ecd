"""Numbers of list items in Word documents, which Word computes when it shows them."""

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVELS = 9
_GANADA = "가나다라마바사아자차카타파하"
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


def value_of(element: Any, path: str) -> str:
    """The `w:val` of the first element at the path; "" if there is none."""
    node = element.find(path)
    return "" if node is None else node.get(W + "val") or ""


def number_of(text: str) -> int:
    """The number of at most five digits; 0 if it is none."""
    return int(text) if text.isdecimal() and len(text) < 6 else 0


class _Level(NamedTuple):
    """A level of a list: the format of its numbers, the pattern of its labels, the first number."""

    form: str
    pattern: str
    start: int


class Numbering:
    """Computes the labels of list items and numbered headings, which Word does not store.

    Lists with the same definition continue each other's numbers, unless they override the first
    number, as in ECMA-376, Part 1, 17.9.
    """

    def __init__(self, root: Any) -> None:
        self._definitions: dict[str, str] = {}  # by list
        self._levels: dict[tuple[str, int], _Level] = {}  # by definition and depth
        self._starts: dict[tuple[str, int], int] = {}  # overrides by list and depth
        self._begun: set[tuple[str, int]] = set()
        self._counts: dict[str, list[int | None]] = defaultdict(lambda: [None] * _LEVELS)
        for definition in root.iterchildren(W + "abstractNum"):
            self._add_levels(definition.get(W + "abstractNumId"), definition)
        for number in root.iterchildren(W + "num"):
            self._add_list(number.get(W + "numId"), number)

    def _add_levels(self, definition: str, parent: Any) -> None:
        for level in parent.iterchildren(W + "lvl"):
            form, pattern = value_of(level, W + "numFmt"), value_of(level, W + "lvlText")
            start = number_of(value_of(level, W + "start") or "1")
            self._levels[definition, _depth(level)] = _Level(form, pattern, start)

    def _add_list(self, list_id: str, number: Any) -> None:
        self._definitions[list_id] = value_of(number, W + "abstractNumId")
        for override in number.iterchildren(W + "lvlOverride"):
            if start := value_of(override, W + "startOverride"):
                self._starts[list_id, _depth(override)] = number_of(start)

    def label(self, paragraph: Any, list_id: str, depth: int) -> tuple[str, int]:
        """The paragraph's label in its list ("-", "1.", "제3조"; empty for none), and its depth.

        `list_id` and `depth` are those of its style, which its own properties override.
        """
        list_id = value_of(paragraph, f"{W}pPr/{W}numPr/{W}numId") or list_id
        own_depth = value_of(paragraph, f"{W}pPr/{W}numPr/{W}ilvl")
        depth = min(number_of(own_depth) if own_depth else depth, _LEVELS - 1)
        definition = self._definitions.get(list_id, "")
        if list_id == "0" or (definition, depth) not in self._levels:
            return "", 0
        counts = self._counts[definition]
        counts[depth] = self._next(list_id, depth, counts[depth])
        counts[depth + 1 :] = [None] * (_LEVELS - depth - 1)
        return self._label(definition, depth, counts), depth

    def _next(self, list_id: str, depth: int, count: int | None) -> int:
        """The number of the next item; the first one of a list is its override, if it has one."""
        place = list_id, depth
        is_restart = place in self._starts and place not in self._begun
        self._begun.add(place)
        if count is not None and not is_restart:
            return count + 1
        return self._starts.get(place, self._levels[self._definitions[list_id], depth].start)

    def _label(self, definition: str, depth: int, counts: Sequence[int | None]) -> str:
        form, pattern, _ = self._levels[definition, depth]
        if form in ("bullet", "none", ""):
            return "-" if form == "bullet" else ""

        def number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            level = self._levels.get((definition, at), _DECIMAL)
            count = counts[at]
            return format_number(level.start if count is None else count, level.form)

        return re.sub(r"%([1-9])", number, pattern).strip() or "-"


_DECIMAL = _Level("decimal", "", 1)


def _depth(element: Any) -> int:
    return number_of(element.get(W + "ilvl", "0"))


def format_number(number: int, form: str) -> str:
    """Format a number in Word's format of this name; in decimal if the format is unknown."""
    if form in ("lowerLetter", "upperLetter") and number > 0:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter.upper() if form == "upperLetter" else letter
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        roman = _roman(number)
        return roman.upper() if form == "upperRoman" else roman
    if form == "ganada" and 0 < number <= len(_GANADA):
        return _GANADA[number - 1]
    if form == "decimalEnclosedCircle" and 0 < number <= 20:
        return chr(ord("①") + number - 1)
    return str(number)


def _roman(number: int) -> str:
    text = ""
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        text += letters * count
    return text
