"""Which texts services say to people, followed through their code.

A text is said where an error of ours is made (or a ValueError of the settings), or where it goes
into something with a name of `SAID`: a parameter, a field, a key, what a function returns. From
there it is followed back through names, calls and returns to the literals that it is made of.
"""

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ui.code_index import CodeIndex, Function, Place, Scope, called, default_of, parameters
from ui.text_templates import is_for_people, template_of

SAID = frozenset(
    (
        *("error", "incomplete", "message", "notes", "notice", "notices", "problem", "reason"),
        *("refused", "warning", "warnings"),
    )
)
THING = "what"
"""A parameter that names something within a text, be it in one word."""
_ERRORS = "errors.py"
_ASKED = frozenset({"cql", "query"})
"""Names of what is asked of other programs, in their languages; people read it as it is."""
_SETTINGS = "pydantic_settings"
_HANDED_ON = frozenset(
    ("filter", "fromkeys", "join", "list", "repr", "sorted", "str", "tuple", "zip")
)
_TAKEN_OUT = frozenset({"get", "values"})


class Said(NamedTuple):
    """A text as a template for `str.format`; and where its literal stands."""

    text: str
    file: str
    line: int


def texts_said(root: Path, paths: Iterable[Path]) -> list[Said]:
    """The texts that the files below the root say, by file and line; `errors.py` among them."""
    found = set(_TextFlow(CodeIndex(root, paths)).said())
    return sorted(found, key=lambda one: (one.file, one.line, one.text))


class _TextFlow:
    def __init__(self, code: CodeIndex) -> None:
        self._code = code
        self._followed: set[int] = set()

    def said(self) -> Iterator[Said]:
        for place in (*self._of_errors(), *self._of_names()):
            yield from self._texts(*place)
        for name, (value, scope) in self._bound():
            if name == THING and isinstance(value, ast.Constant):
                yield Said(str(value.value), scope.file, value.lineno)

    def _of_errors(self) -> Iterator[Place]:
        errors = self._code.derived(_ERRORS)
        for name, calls in self._code.calls.items():
            for call, scope in calls:
                of_super = name == "__init__" and scope.owner in errors
                of_settings = name == "ValueError" and _SETTINGS in self._code.imports[scope.file]
                again = isinstance(call.func, ast.Call) and called(call.func) == "type"
                if name in errors or of_super or of_settings or again:
                    yield from ((arg, scope) for arg in call.args)

    def _of_names(self) -> Iterator[Place]:
        for name, place in self._code.stored:
            if name in SAID:
                yield place
        for function, scope in self._code.functions:
            if function.name in SAID:
                yield from _returned(function, scope)
        yield from (place for name, place in self._bound() if name in SAID)

    def _bound(self) -> Iterator[tuple[str, Place]]:
        """Each argument of each call, with the parameter that it is bound to."""
        for name, calls in self._code.calls.items():
            for call, scope in calls:
                bound = [*zip(self._code.parameters(name, scope.file), call.args, strict=False)]
                bound += [(keyword.arg or "", keyword.value) for keyword in call.keywords]
                yield from ((to, (value, scope)) for to, value in bound)

    def _texts(self, node: ast.expr, scope: Scope) -> Iterator[Said]:
        """The texts that the value can be made of."""
        if id(node) in self._followed:
            return
        self._followed.add(id(node))
        if isinstance(node, ast.Constant | ast.JoinedStr):
            template = template_of(node, lambda name: self._held(name, scope))
            if is_for_people(template):
                yield Said(template, scope.file, node.lineno)
        for place in self._sources(node, scope):
            yield from self._texts(*place)

    def _held(self, name: str, scope: Scope) -> str | None:
        """The text that a constant of this name always holds."""
        constants = self._code.constants_named(name, scope.file)
        match [*self._named(name, scope)]:
            case [(ast.Constant(value=str() as text), _) as place] if place in constants:
                return text
        return None

    def _sources(self, node: ast.expr, scope: Scope) -> Iterator[Place]:
        """The expressions that the value comes from, each where it stands."""
        match node:
            case ast.Name(id=name):
                if name not in _ASKED:
                    yield from self._named(name, scope)
            case ast.Call():
                yield from self._called(node, scope)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                yield from self._returned(name, scope)
            case _:
                yield from ((part, scope) for part in _parts(node))

    def _called(self, call: ast.Call, scope: Scope) -> Iterator[Place]:
        name = called(call)
        if self._code.is_class(name) or name in _HANDED_ON:
            yield from ((arg, scope) for arg in call.args)
            yield from ((keyword.value, scope) for keyword in call.keywords)
        elif name in _TAKEN_OUT and isinstance(call.func, ast.Attribute):
            yield from ((one, scope) for one in (call.func.value, *call.args[1:]))
        else:
            yield from self._returned(name, scope)

    def _returned(self, name: str, scope: Scope) -> Iterator[Place]:
        for function, where in self._code.functions_named(name, scope.file):
            yield from _returned(function, where)

    def _named(self, name: str, scope: Scope) -> Iterator[Place]:
        """What a name stands for: what its function gives it, or its callers; else a constant."""
        local = [] if scope.function is None else [*self._local(name, scope, scope.function)]
        yield from local or self._code.constants_named(name, scope.file)

    def _local(self, name: str, scope: Scope, function: Function) -> Iterator[Place]:
        for node in ast.walk(function):
            yield from ((value, scope) for value in _given_to(name, node))
        order = parameters(function)
        if name not in order:
            return
        if default := default_of(function, name):
            yield default, scope
        for call, where in self._calls_of(function, scope):
            at = order.index(name)
            yield from ((value, where) for value in call.args[at : at + 1])
            yield from ((one.value, where) for one in call.keywords if one.arg == name)

    def _calls_of(self, function: Function, scope: Scope) -> Iterator[tuple[ast.Call, Scope]]:
        """The calls that can mean this function and no other of its name."""
        if function.name == "__init__":
            yield from self._code.calls.get(scope.owner, [])
            return
        for call, where in self._code.calls.get(function.name, []):
            meant = self._code.functions_named(function.name, where.file)
            if any(one is function for one, _ in meant):
                yield call, where


def _parts(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return [one, other]
        case ast.Dict(values=parts) | ast.BoolOp(values=parts):
            return parts
        case ast.JoinedStr(values=parts):
            return [part for part in parts if isinstance(part, ast.FormattedValue)]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return parts
        case ast.GeneratorExp(elt=part) | ast.ListComp(elt=part):
            return [part]
        case (
            ast.FormattedValue(value=part)
            | ast.Starred(value=part)
            | ast.NamedExpr(value=part)
            | ast.Subscript(value=part)
        ):
            return [part]
    return []


def _returned(function: Function, scope: Scope) -> Iterator[Place]:
    for node in ast.walk(function):
        if isinstance(node, ast.Return | ast.Yield | ast.YieldFrom) and node.value:
            yield node.value, scope


def _given_to(name: str, node: ast.AST) -> Iterator[ast.expr]:
    """What this statement or expression puts into the name."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pairs = zip(targets, values, strict=False)
            yield from (value for target, value in pairs if name in _names(target))
        case (
            ast.Assign(targets=[target], value=value)
            | ast.NamedExpr(target=target, value=value)
            | ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.AugAssign(target=target, value=value)
            | ast.For(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
        ) if name in _names(target):
            yield value
        case ast.Call(
            func=ast.Attribute(ast.Name(id=filled), "append" | "extend"), args=[value]
        ) if filled == name:
            yield value


def _names(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
