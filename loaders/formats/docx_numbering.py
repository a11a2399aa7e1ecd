"""Numbers of list items in Word documents, which Word computes when it shows them."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from loaders.formats.archive import is_off
from loaders.formats.number_formats import format_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_LEVELS = 9
_MAX_PATTERN = 100


def value_of(element: Any, path: str) -> str:
    """The `w:val` of the first element at the path; "" if there is none."""
    node = element.find(path)
    return "" if node is None else node.get(W + "val") or ""


def number_of(text: str) -> int:
    """The number of at most five digits; 0 if it is none."""
    return int(text) if text.isdecimal() and len(text) < 6 else 0


class _Level(NamedTuple):
    """A level of a list: how its labels are written, its first number, and when it restarts.

    It restarts after an item of one of the first `restart` levels.
    """

    form: str
    pattern: str
    start: int
    restart: int
    is_legal: bool


_UNDEFINED = _Level("decimal", "", start=1, restart=0, is_legal=False)


class Numbering:
    """Computes the labels of list items and numbered headings, which Word does not store.

    Lists with the same definition continue each other's numbers, unless they override the first
    number, as in ECMA-376, Part 1, 17.9.
    """

    def __init__(self, root: Any) -> None:
        self._definitions: dict[str, str] = {}  # by list
        self._levels: dict[tuple[str, int], _Level] = {}  # by definition and depth
        self._own_levels: dict[tuple[str, int], _Level] = {}  # overrides by list and depth
        self._starts: dict[tuple[str, int], int] = {}  # overrides by list and depth
        self._depths: dict[tuple[str, str], int] = {}  # by definition and style
        self._places: set[tuple[str, int]] = set()  # lists and depths with an item so far
        self._counts: dict[str, list[int | None]] = defaultdict(lambda: [None] * _LEVELS)
        definitions = _definitions(root)
        for definition in definitions.values():
            self._add_definition(definition)
        for number in root.iterchildren(W + "num"):
            self._add_list(number, definitions)

    def _add_definition(self, definition: Any) -> None:
        id_ = definition.get(W + "abstractNumId")
        for level in definition.iterchildren(W + "lvl"):
            self._levels[id_, _depth(level)] = _level_of(level)
            if style := value_of(level, W + "pStyle"):
                self._depths[id_, style] = _depth(level)

    def _add_list(self, number: Any, definitions: Mapping[str, Any]) -> None:
        list_id = number.get(W + "numId")
        definition = definitions.get(value_of(number, W + "abstractNumId"))
        if definition is None:
            return
        self._definitions[list_id] = definition.get(W + "abstractNumId")
        for override in number.iterchildren(W + "lvlOverride"):
            for level in override.iterchildren(W + "lvl"):
                self._own_levels[list_id, _depth(level)] = _level_of(level)
            if start := value_of(override, W + "startOverride"):
                self._starts[list_id, _depth(override)] = number_of(start)

    def next_label(self, paragraph: Any, list_id: str, depth: int) -> tuple[str, int]:
        """The paragraph's label in its list ("-", "1.", "제3조"; empty for none), and its depth.

        Call it once for each paragraph, in order. `list_id` and `depth` are those of its style,
        which its own properties override.
        """
        list_id, depth = self._place(paragraph, list_id, depth)
        if list_id == "0" or self._level(list_id, depth) is _UNDEFINED:
            return "", 0
        counts = self._counts[self._definitions[list_id]]
        for above in range(depth):
            if counts[above] is None:  # an item is within the first ones of the levels above
                counts[above] = self._level(list_id, above).start
        counts[depth] = self._next(list_id, depth, counts[depth])
        for deeper in range(depth + 1, _LEVELS):
            if depth < self._level(list_id, deeper).restart:
                counts[deeper] = None
        return self._label(list_id, depth, counts), depth

    def _place(self, paragraph: Any, list_id: str, depth: int) -> tuple[str, int]:
        """The list and depth of a paragraph: its own, or those of its style."""
        own_list = value_of(paragraph, f"{W}pPr/{W}numPr/{W}numId")
        own_depth = value_of(paragraph, f"{W}pPr/{W}numPr/{W}ilvl")
        list_id = own_list or list_id
        if own_depth.isdecimal():
            depth = number_of(own_depth)
        elif not own_list:
            style = value_of(paragraph, f"{W}pPr/{W}pStyle")
            depth = self._depths.get((self._definitions.get(list_id, ""), style), depth)
        return list_id, min(depth, _LEVELS - 1)

    def _next(self, list_id: str, depth: int, count: int | None) -> int:
        """The number of the next item; the first one of a list is its override, if it has one."""
        place = list_id, depth
        is_override = place in self._starts and place not in self._places
        self._places.add(place)
        if count is not None and not is_override:
            return count + 1
        return self._starts.get(place, self._level(*place).start)

    def _level(self, list_id: str, depth: int) -> _Level:
        own = self._own_levels.get((list_id, depth))
        return own or self._levels.get((self._definitions.get(list_id, ""), depth), _UNDEFINED)

    def _label(self, list_id: str, depth: int, counts: Sequence[int | None]) -> str:
        item = self._level(list_id, depth)
        if item.form == "bullet":
            return "-"

        def number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            form = self._level(list_id, at).form
            is_decimal = item.is_legal and at < depth and form != "decimalZero"
            return format_number(counts[at] or 0, "decimal" if is_decimal else form)

        return re.sub(r"%([1-9])", number, item.pattern[:_MAX_PATTERN]).strip()


def _definitions(root: Any) -> dict[str, Any]:
    """The definitions of lists by id; the definition of a style replaces a reference to it."""
    elements = list(root.iterchildren(W + "abstractNum"))
    styles = {style: one for one in elements if (style := value_of(one, W + "styleLink"))}
    return {
        one.get(W + "abstractNumId"): styles.get(value_of(one, W + "numStyleLink"), one)
        for one in elements
    }


def _level_of(level: Any) -> _Level:
    restart, legal = value_of(level, W + "lvlRestart"), level.find(W + "isLgl")
    return _Level(
        form=_form_of(level),
        pattern=value_of(level, W + "lvlText"),
        start=number_of(value_of(level, W + "start")),
        restart=number_of(restart) if restart.isdecimal() else _depth(level),
        is_legal=legal is not None and not is_off(legal.get(W + "val", "1")),
    )


def _form_of(level: Any) -> str:
    """The format of the numbers; of alternatives, the last one, which all programs know."""
    forms = [one.get(W + "val") for one in level.iter(W + "numFmt")]
    return forms[-1] or "decimal" if forms else "decimal"


def _depth(element: Any) -> int:
    return number_of(element.get(W + "ilvl", "0"))
