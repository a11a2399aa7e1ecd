"""Equations of web pages (MathML 3)."""

import re
from collections.abc import Callable, Mapping, Sequence

from bs4 import Tag
from bs4.element import NavigableString

from loaders.formats.equations import (
    END,
    OPEN,
    WORD,
    fraction,
    join_equations,
    power,
    prescript,
    root,
    script,
)

_LAYOUTS: Mapping[tuple[str, int], Callable[..., str]] = {
    ("msub", 2): script,
    ("munder", 2): script,
    ("msup", 2): power,
    ("mover", 2): power,
    ("msubsup", 3): script,
    ("munderover", 3): script,
    ("mroot", 2): root,
}
"""The layout of an element with so many parts."""
_SEPARATORS = {"mtable": "; ", "mtr": ", ", "mlabeledtr": ", "}
_TOKENS = frozenset({"mi", "mo", "mn", "mtext", "ms", "mspace"})
_WITH_PARTS = {name for name, _ in _LAYOUTS} | set(_SEPARATORS)
_WITH_PARTS |= {"mfrac", "mfenced", "mmultiscripts"}
_ACCENTS = {
    "\u00af": "\u0305", "\u203e": "\u0305", "\u02c9": "\u0305", "^": "\u0302", "\u02c6": "\u0302",
    "~": "\u0303", "\u02dc": "\u0303", "\u02d9": "\u0307", "\u00a8": "\u0308", "\u2192": "\u20d7",
}  # fmt: skip
"""The combining character of each sign that is an accent above a letter."""
_SPACES = re.compile(r"\s+")
_WIDTH = re.compile(r"\d+(?:\.\d+)?|\.\d+")
_INVISIBLE = re.compile("[\u2061-\u2064]")  # function application, times, separator, plus


def web_equation(element: Tag) -> str:
    """The text of a `math` element of a web page; see `join_equations`."""
    return f"{OPEN}{join_equations(_part(element)).strip()}{END}"


def _part(element: Tag) -> str:
    """The text of an element with the edges of its parts."""
    name = name_of(element)
    if name in ("annotation", "annotation-xml"):  # the same equation in another notation
        return ""
    if name == "mphantom":  # empty space of the same size
        return END
    if name in _TOKENS:
        return _token(element, name)
    texts = _children(element)
    if name == "maction":  # shows one of its parts at a time
        return "".join(texts[:1])
    if name == "msqrt":
        return root(join_equations("".join(texts)).strip(), "")
    if name not in _WITH_PARTS:
        return "".join(texts)
    return _layout(element, name, [join_equations(text).strip() for text in texts])


def _layout(element: Tag, name: str, parts: Sequence[str]) -> str:
    if name == "mfrac" and len(parts) == 2:
        return fraction(parts[0], parts[1], "/" if _has_bar(element) else "¦")
    if name == "mover" and len(parts) == 2 and parts[1] in _ACCENTS:
        return parts[0] + _ACCENTS[parts[1]]
    if layout := _LAYOUTS.get((name, len(parts))):
        return layout(*parts)
    if name == "mfenced":
        return _in_brackets(element, parts)
    if name == "mmultiscripts":
        return _with_scripts([name_of(one) for one in element.find_all(recursive=False)], parts)
    return _SEPARATORS.get(name, " ").join(parts)


def _in_brackets(element: Tag, parts: Sequence[str]) -> str:
    """The parts with a separator after each but the last; the last separator is repeated."""
    separators = "".join(str(element.get("separators", ",")).split())
    text = parts[0] if parts else ""
    for at, part in enumerate(parts[1:]):
        separator = separators[min(at, len(separators) - 1)] if separators else ""
        text += f"{separator} {part}" if separator in (",", ";") else f"{separator}{part}"
    return f"{element.get('open', '(')}{text}{element.get('close', ')')}"


def _with_scripts(names: Sequence[str], parts: Sequence[str]) -> str:
    """A base with pairs of an index and an exponent after it and, if there are any, before it."""
    if len(names) != len(parts) or not parts:
        return " ".join(parts)
    end = names.index("mprescripts") if "mprescripts" in names else len(parts)
    text = parts[0]
    for below, above in zip(parts[1:end:2], parts[2:end:2], strict=False):
        text = join_equations(script(text, below, above))
    for below, above in zip(parts[end + 1 :: 2], parts[end + 2 :: 2], strict=False):
        text = join_equations(prescript(below, above, text))
    return text


def name_of(element: Tag) -> str:
    """The element's name without a prefix, such as *mfrac* for *m:mfrac* in a book."""
    return element.name.rpartition(":")[2]


def _children(element: Tag) -> list[str]:
    """The texts of the elements and of the words beside them, in order."""
    return [
        _part(one) if isinstance(one, Tag) else _SPACES.sub(" ", one)
        for one in element.children
        if isinstance(one, Tag) or (type(one) is NavigableString and one.strip())
    ]


def _has_bar(fraction: Tag) -> bool:
    width = _WIDTH.match(str(fraction.get("linethickness", "1")))
    return width is None or float(width[0]) > 0


def _token(element: Tag, name: str) -> str:
    """A number, an operator, text, or a name; names such as *sin* are separate words."""
    if name == "mspace":
        return WORD
    text = _SPACES.sub(" ", _INVISIBLE.sub(END, element.get_text()))
    if name == "mtext":
        return text
    text = text.strip()
    return f"{WORD}{text}{WORD}" if len(text) > 1 and text.isalpha() else text
