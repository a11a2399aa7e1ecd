"""Equations of Office documents (Office Math Markup Language: ECMA-376, Part 1, 22.1)."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from loaders.formats.archive import attribute, child, children, is_off, local
from loaders.formats.equations import (
    CLOSE,
    END,
    OPEN,
    WORD,
    fraction,
    group,
    join_equations,
    prescript,
    root,
    script,
)

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_SEVERAL = re.compile(r"[-+−/ ]")
_SCRIPTS = script, ("e", "sub", "sup")
_LAYOUTS: Mapping[str, tuple[Callable[..., str], Sequence[str]]] = {
    "sSub": _SCRIPTS,
    "sSup": _SCRIPTS,
    "sSubSup": _SCRIPTS,
    "sPre": (prescript, ("sub", "sup", "e")),
    "limLow": (script, ("e", "lim", "sup")),
    "limUpp": (script, ("e", "sub", "lim")),
    "rad": (root, ("e", "deg")),
}
"""The layout of an element, and the names of its parts; those of a script may be missing."""
_DELETIONS = ("del", "moveFrom")  # tracked changes


def office_equation(element: Any) -> str:
    """The text of an `m:oMath` or `m:oMathPara` element; see `join_equations`."""
    lines = children(element, "oMath") if local(element) == "oMathPara" else (element,)
    text = "; ".join(filter(None, (join_equations(_row(line)).strip() for line in lines)))
    return f"{OPEN}{text}{END}"


def _text(element: Any) -> str:
    name = local(element)
    if name == "t":
        return element.text or ""
    if name in _LAYOUTS:
        layout, names = _LAYOUTS[name]
        return layout(*(_part(element, part) for part in names))
    if name in _OTHERS:
        return _OTHERS[name](element)
    return "" if name in _DELETIONS else _row(element)


def _row(element: Any) -> str:
    return "".join(map(_text, element.iterchildren("*")))


def _part(element: Any, name: str) -> str:
    part = child(element, name)
    return "" if part is None else join_equations(_row(part)).strip()


def _fraction(element: Any) -> str:
    bar = "¦" if _property(element, "type", "bar") == "noBar" else "/"
    return fraction(_part(element, "num"), _part(element, "den"), bar)


def _operator(element: Any) -> str:
    """An operator such as a sum and, after a space, what it is applied to."""
    sign = _property(element, "chr", "∫")
    operator = script(sign, _part(element, "sub"), _part(element, "sup"))
    return f"{operator} {_part(element, 'e')}".rstrip()


def _function(element: Any) -> str:
    name, operand = _part(element, "fName"), _part(element, "e")
    operand = group(operand) if _SEVERAL.search(operand) else operand
    return f"{WORD}{name}{WORD}{operand}{CLOSE}"


def _accent(element: Any) -> str:
    return _part(element, "e") + _property(element, "chr", "\u0302")


def _bar(element: Any) -> str:
    is_above = _property(element, "pos", "bot") == "top"
    return _part(element, "e") + ("\u0305" if is_above else "\u0332")


def _phantom(element: Any) -> str:
    """The text, unless it only takes up space."""
    return END if is_off(_property(element, "show", "1")) else _part(element, "e")


def _in_brackets(element: Any) -> str:
    inner = _property(element, "sepChr", "|").join(_rows(element, "e"))
    return f"{_property(element, 'begChr', '(')}{inner}{_property(element, 'endChr', ')')}"


def _matrix(element: Any) -> str:
    return "; ".join(", ".join(_rows(row, "e")) for row in children(element, "mr"))


def _equations(element: Any) -> str:
    """The lines of an array of equations, without the marks that align them."""
    for text in element.iterfind(f"{M}e/{M}r/{M}t"):
        text.text = (text.text or "").replace("&", "").replace("#", " ")  # before a number
    return "; ".join(_rows(element, "e"))


def _rows(element: Any, name: str) -> list[str]:
    return [join_equations(_row(one)) for one in children(element, name)]


_OTHERS: Mapping[str, Callable[[Any], str]] = {
    "f": _fraction,
    "nary": _operator,
    "func": _function,
    "acc": _accent,
    "bar": _bar,
    "phant": _phantom,
    "d": _in_brackets,
    "m": _matrix,
    "eqArr": _equations,
}


def _property(element: Any, name: str, default: str) -> str:
    node = element.find(f"{M}{local(element)}Pr/{M}{name}")
    return default if node is None else attribute(node, "val")
