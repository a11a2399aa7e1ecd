"""Writes equations in one line: fractions as a/b, powers as a^b, indices as a_b, and roots as √(a).

The notation is that of Unicode Technical Note 28, "UnicodeMath". Element names are those of Office
Math Markup Language (ECMA-376, Part 1, 22.1) and MathML 3.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bs4 import Tag

from loaders.formats.archive import child, children, local

M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_OPERAND = re.compile(r"\w+(?:[.,]\d+)*|\W|\([^()]*\)|[\[{|][^\[\]{}|]*[\]}|]")
_INVISIBLE = re.compile("[\u2061-\u2064]")  # function application, times, separator, plus
_OPERATION = re.compile(r".[_^/]")
_ROOTS = {"": "√", "2": "√", "3": "∛", "4": "∜"}


def _joined(parts: Iterable[str]) -> str:
    """The parts in a row; a space keeps a letter or a number from joining a power: x^2 y."""
    present = [part for part in parts if part]
    pairs = pairwise([*present, ""])
    return "".join(f"{a} " if _OPERATION.search(a) and b[:1].isalnum() else a for a, b in pairs)


def _group(text: str) -> str:
    """The text as one operand, in parentheses if it has several parts."""
    return text if not text or _OPERAND.fullmatch(text) else f"({text})"


def _fraction(numerator: str, denominator: str) -> str:
    return f"{_group(numerator)}/{_group(denominator)}"


def _power(base: str, above: str) -> str:
    return _script(base, "", above)


def _script(base: str, below: str, above: str = "") -> str:
    index = f"_{_group(below)}" if below else ""
    power = f"^{_group(above)}" if above else ""
    return f"{_group(base)}{index}{power}"


def _root(radicand: str, degree: str) -> str:
    sign = _ROOTS.get(degree)
    return f"{sign}({radicand})" if sign else f"√({degree}&{radicand})"


_Layout = Callable[..., str]
_SCRIPTS = _script, ("e", "sub", "sup")
_OFFICE: Mapping[str, tuple[_Layout, Sequence[str]]] = {
    "f": (_fraction, ("num", "den")),
    "sSub": _SCRIPTS,
    "sSup": _SCRIPTS,
    "sSubSup": _SCRIPTS,
    "limLow": (_script, ("e", "lim", "sup")),
    "limUpp": (_script, ("e", "sub", "lim")),
    "rad": (_root, ("e", "deg")),
}
"""The layout of an element, and the names of its parts; those of a script may be missing."""


def office_equation(element: Any) -> str:
    """The text of an `m:oMath` element, or of another one within it."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name in _OFFICE:
        layout, names = _OFFICE[name]
        return layout(*(_part(element, part) for part in names))
    if name in ("nary", "func"):
        return _applied(element)
    if name == "d":
        return _in_brackets(element)
    if name in ("m", "eqArr"):
        return "; ".join(map(office_equation, children(element, "mr", "e"))).replace("&", "")
    parts = map(office_equation, element.iterchildren("*"))
    return ", ".join(parts) if name == "mr" else _joined(parts)


def _applied(element: Any) -> str:
    """An operator or a function and, after a space, what it is applied to."""
    operator, operand = _part(element, "fName"), _part(element, "e")
    if local(element) == "nary":
        sign = _property(element, "chr", "∫")
        operator = _script(sign, _part(element, "sub"), _part(element, "sup"))
    return f"{operator}{operand}" if operand.startswith("(") else f"{operator} {operand}"


def _in_brackets(element: Any) -> str:
    separator = _property(element, "sepChr", "|")
    inner = separator.join(map(office_equation, children(element, "e")))
    return f"{_property(element, 'begChr', '(')}{inner}{_property(element, 'endChr', ')')}"


def _part(element: Any, name: str) -> str:
    part = child(element, name)
    return "" if part is None else office_equation(part).strip()


def _property(element: Any, name: str, default: str) -> str:
    node = element.find(f"{M}{local(element)}Pr/{M}{name}")
    return default if node is None else node.get(f"{M}val", "")


_WEB: Mapping[tuple[str, int], _Layout] = {
    ("mfrac", 2): _fraction,
    ("msub", 2): _script,
    ("munder", 2): _script,
    ("msup", 2): _power,
    ("mover", 2): _power,
    ("msubsup", 3): _script,
    ("munderover", 3): _script,
    ("mroot", 2): _root,
}
"""The layout of an element with so many parts."""
_SEPARATORS = {"mtable": "; ", "mtr": ", ", "mlabeledtr": ", ", "mmultiscripts": " "}


def web_equation(element: Tag) -> str:
    """The text of a `math` element of a web page, or of another one within it."""
    name = element.name
    if name in ("annotation", "annotation-xml"):  # the same equation in another notation
        return ""
    parts = [web_equation(one) for one in element.children if isinstance(one, Tag)]
    if not parts:
        return " ".join(_INVISIBLE.sub("", element.get_text()).split())
    if layout := _WEB.get((name, len(parts))):
        return layout(*parts)
    if name == "mfenced":
        return f"{element.get('open', '(')}{', '.join(parts)}{element.get('close', ')')}"
    row = _SEPARATORS[name].join(parts) if name in _SEPARATORS else _joined(parts)
    return _root(row, "") if name == "msqrt" else row
