"""Texts with places for values, as `str.format` has them: made from code, and matched again."""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import NamedTuple

_WORD = re.compile(r"(?<![^\s\0('`])[a-z][a-z']+(?![^\s\0).,:;?!'`])")
_WRAPPERS = frozenset({"float", "get_args", "len", "max", "min", "str"})


def template_of(node: ast.Constant | ast.JoinedStr, constant: Callable[[str], str | None]) -> str:
    """The literal as a template; `constant` gives what a name holds that is put in as it is.

    Places are named by their expressions: `{len(passages)}` is `{passages}`, and two of one name
    that differ are told apart by a number.
    """
    if isinstance(node, ast.Constant):
        return _escaped(str(node.value))
    named: dict[str, str] = {}
    return "".join(_part(part, named, constant) for part in node.values)


def _part(part: ast.expr, named: dict[str, str], constant: Callable[[str], str | None]) -> str:
    if not isinstance(part, ast.FormattedValue):
        return _escaped(str(part.value)) if isinstance(part, ast.Constant) else ""
    value = part.value
    held = constant(value.id) if isinstance(value, ast.Name) else None
    if held is not None:
        return _escaped(f"{held!r}" if part.conversion == ord("r") else held)
    return f"{{{_place(value, named)}}}"


def _place(value: ast.expr, named: dict[str, str]) -> str:
    code, name = ast.unparse(value), _name_of(value)
    while named.setdefault(name, code) != code:
        stem = name.rstrip("0123456789")
        name = f"{stem}{int(name[len(stem) :] or 1) + 1}"
    return name


def _name_of(value: ast.expr) -> str:
    """A short name for what the expression gives; of a call, that of our function or argument."""
    match value:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").lower()
        case ast.Subscript(slice=ast.Constant(value=str() as name)):
            return name.lower()
        case ast.Call(func=ast.Name(id=name)) if name not in _WRAPPERS:
            return name.strip("_").lower()
        case ast.Call(func=ast.Attribute(ast.Name(id="self"), attr=name)):
            return name.strip("_").lower()
        case ast.Call(args=[inner, *_]) | ast.Call(func=ast.Attribute(inner)):
            return _name_of(inner)
        case ast.Subscript(value=inner) | ast.BinOp(left=inner) | ast.GeneratorExp(elt=inner):
            return _name_of(inner)
        case ast.BoolOp(values=[inner, *_]):
            return _name_of(inner)
    return "value"


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def is_for_people(template: str) -> bool:
    """Whether it holds a word, in lower case and beside a blank, outside of its places.

    Else it is a name or a value of the program, such as a path, a setting or `4 MiB`.
    """
    literals = "\0".join(Pieces.of(template).literals)
    return bool(_WORD.search(literals)) and " " in literals


class Pieces(NamedTuple):
    """A template taken apart: the literals before, between and behind the places."""

    literals: Sequence[str]
    places: Sequence[str]

    @classmethod
    def of(cls, template: str) -> "Pieces":
        """The template's pieces; there is one literal more than places, and it may be empty."""
        literals, places = [""], []
        for literal, place, *_ in Formatter().parse(template):
            literals[-1] += literal
            if place is not None:
                places.append(place)
                literals.append("")
        return cls(literals, places)

    def values(self, text: str) -> Mapping[str, str] | None:
        """What stands in the places where the text is made from the template; else None.

        Each place takes as little as can be. The time is linear in the text, whatever it holds.
        """
        first, *between = self.literals
        if not between:
            return {} if text == first else None
        last = between.pop()
        at, end = len(first), len(text) - len(last)
        if at > end or not (text.startswith(first) and text.endswith(last)):
            return None
        found: list[str] = []
        for literal in between:
            to = text.find(literal, at, end)
            if to < 0:
                return None
            found.append(text[at:to])
            at = to + len(literal)
        return self._agreed([*found, text[at:end]])

    def _agreed(self, found: Sequence[str]) -> Mapping[str, str] | None:
        values = dict(zip(self.places, found, strict=True))
        same = all(values[place] == one for place, one in zip(self.places, found, strict=True))
        return values if same else None
