"""What a Word paragraph is, by its style: a heading, a list item and its number, code."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from loaders.formats.docx_runs import W

# Style names are English in the file whatever the language of Word; the ids are localised.
_HEADING = re.compile(r"heading ?([1-9])$", re.IGNORECASE)
_CODE = re.compile(
    r"\bcode|source ?code|preformatted|listing|html pre|코드|ソース|コード", re.IGNORECASE
)
_GANADA = "가나다라마바사아자차카타파하"
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_BODY_LEVEL = 9  # the outline level that means "not a heading"
_MAX_CHAIN = 20
_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Style:
    """What a style says, its ancestors asked where it is silent. `level` is 0 for body text."""

    level: int = 0
    is_code: bool = False
    number_id: str = ""
    number_level: int = 0


class Styles:
    """The styles of one document by id, each resolved once."""

    def __init__(self, root: Any) -> None:
        found = root.iterchildren(W + "style") if root is not None else ()
        self._elements = {style.get(W + "styleId"): style for style in found}
        self._resolved: dict[str, Style] = {}

    def of(self, paragraph: Any) -> Style:
        """The paragraph's style; a plain one where it names none."""
        style_id = _value(paragraph, f"{W}pPr/{W}pStyle")
        if style_id not in self._resolved:
            self._resolved[style_id] = self._resolve(style_id)
        return self._resolved[style_id]

    def level(self, paragraph: Any, style: Style) -> int:
        """The heading level from 1; the paragraph's own outline level outranks its style's."""
        own = _value(paragraph, f"{W}pPr/{W}outlineLvl")
        return _outline_level(own) if own else style.level

    def _chain(self, style_id: str) -> Iterator[Any]:
        for _ in range(_MAX_CHAIN):
            element = self._elements.get(style_id)
            if element is None:
                return
            yield element
            style_id = _value(element, W + "basedOn")

    def _resolve(self, style_id: str) -> Style:
        chain = list(self._chain(style_id))
        names = [_value(element, W + "name") for element in chain]
        numbers = (_value(element, f"{W}pPr/{W}numPr/{W}numId") for element in chain)
        depths = (_value(element, f"{W}pPr/{W}numPr/{W}ilvl") for element in chain)
        return Style(
            level=next(filter(None, map(_heading_level, chain, names)), 0),
            is_code=any(map(_CODE.search, names)),
            number_id=next(filter(None, numbers), ""),
            number_level=_number(next(filter(None, depths), "0")),
        )


def _heading_level(element: Any, name: str) -> int:
    if match := _HEADING.match(name):
        return int(match[1])
    if name.lower() == "title":
        return 1
    return _outline_level(_value(element, f"{W}pPr/{W}outlineLvl"))


def _outline_level(value: str) -> int:
    level = _number(value or str(_BODY_LEVEL))
    return level + 1 if level < _BODY_LEVEL else 0


class Numbering:
    """The labels of list items and numbered headings, which Word counts but doesn't store."""

    def __init__(self, root: Any) -> None:
        self._levels: dict[tuple[str, int], tuple[str, str, int]] = {}
        self._abstract: dict[str, str] = {}
        self._counts: dict[str, list[int]] = defaultdict(lambda: [0] * _LEVELS)
        if root is None:
            return
        for number in root.iterchildren(W + "num"):
            self._abstract[number.get(W + "numId")] = _value(number, W + "abstractNumId")
        for abstract in root.iterchildren(W + "abstractNum"):
            for level in abstract.iterchildren(W + "lvl"):
                key = abstract.get(W + "abstractNumId"), _number(level.get(W + "ilvl", "0"))
                formatting = _value(level, W + "numFmt"), _value(level, W + "lvlText")
                self._levels[key] = (*formatting, _number(_value(level, W + "start") or "1"))

    def label(self, paragraph: Any, style: Style) -> tuple[str, int]:
        """The next label of its list ("-", "1.", "제3조"; empty for none), and its depth."""
        number_id = _value(paragraph, f"{W}pPr/{W}numPr/{W}numId") or style.number_id
        depth = _value(paragraph, f"{W}pPr/{W}numPr/{W}ilvl")
        level = min(_number(depth) if depth else style.number_level, _LEVELS - 1)
        abstract = self._abstract.get(number_id, "")
        if number_id == "0" or (abstract, level) not in self._levels:
            return "", 0
        counts = self._counts[number_id]
        start = self._levels[abstract, level][2]
        counts[level] = counts[level] + 1 if counts[level] else start
        counts[level + 1 :] = [0] * (_LEVELS - level - 1)
        return self._written(abstract, level, counts), level

    def _written(self, abstract: str, level: int, counts: list[int]) -> str:
        form, pattern, _ = self._levels[abstract, level]
        if form in ("bullet", "none", ""):
            return "-" if form == "bullet" else ""

        def number(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            kind, _, start = self._levels.get((abstract, at), ("decimal", "", 1))
            return format_number(counts[at] or start, kind)

        return re.sub(r"%([1-9])", number, pattern).strip() or "-"


def format_number(number: int, form: str) -> str:
    """A number as Word's format of that name writes it; decimal where the format is unknown."""
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


def _value(element: Any, path: str) -> str:
    found = element.find(path)
    return "" if found is None else found.get(W + "val") or ""


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 6 else 0
