"""What some Python files define, call and store, by name; read without running them."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Scope(NamedTuple):
    """Where an expression stands: its file, and its innermost class and function, if any."""

    file: str
    owner: str = ""
    function: Function | None = None


_Found = TypeVar("_Found", bound=tuple[ast.AST, Scope])
Place = tuple[ast.expr, Scope]
"""An expression, and where it stands."""


class CodeIndex:
    """Names of the code. Two things of one name are told apart by the file that asks."""

    def __init__(self, root: Path, paths: Iterable[Path]) -> None:
        """Read the files, all of which lie below the root."""
        self.calls: dict[str, list[tuple[ast.Call, Scope]]] = defaultdict(list)
        self.stored: list[tuple[str, Place]] = []
        self.functions: list[tuple[Function, Scope]] = []
        self.imports: dict[str, set[str]] = defaultdict(set)
        self._by_name: dict[str, list[tuple[Function, Scope]]] = defaultdict(list)
        self._constants: dict[str, list[Place]] = defaultdict(list)
        self._classes: dict[str, tuple[ast.ClassDef, Scope]] = {}
        for path in paths:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            self._read(tree, Scope(path.relative_to(root).as_posix()))

    def _read(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            below = scope
            match child:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    below = scope._replace(function=child)
                    self.functions.append((child, below))
                    self._by_name[name].append((child, below))
                case ast.ClassDef(name=name):
                    below = scope._replace(owner=name)
                    self._classes[name] = (child, scope)
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    if isinstance(node, ast.Module):
                        self._constants[name].append((value, scope))
                case _:
                    self._note(child, scope)
            self._read(child, below)

    def _note(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.ImportFrom(module=str() as module):
                self.imports[scope.file].add(module)
            case ast.Call():
                self.calls[called(node)].append((node, scope))
            case ast.Assign(targets=[ast.Attribute(attr=name)], value=value):
                self.stored.append((name, (value, scope)))
            case ast.Dict():
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(key, ast.Constant):
                        self.stored.append((str(key.value), (value, scope)))

    def derived(self, file: str) -> set[str]:
        """The classes that the file defines, and all that are derived from them."""
        found = {name for name, (_, scope) in self._classes.items() if scope.file == file}
        while more := {name for name in self._classes if self._bases(name) & found} - found:
            found |= more
        return found

    def _bases(self, name: str) -> set[str]:
        return {ast.unparse(base) for base in self._classes[name][0].bases}

    def functions_named(self, name: str, file: str) -> list[tuple[Function, Scope]]:
        """Those of the file; else the only one there is."""
        return _nearest(self._by_name.get(name, []), file)

    def constants_named(self, name: str, file: str) -> list[Place]:
        """What stands in those of the file; else in the only one there is."""
        return _nearest(self._constants.get(name, []), file)

    def is_class(self, name: str) -> bool:
        """Whether it is one of the code's classes."""
        return name in self._classes

    def parameters(self, name: str, file: str) -> list[str]:
        """What the arguments of a call of this name are bound to, in their order."""
        if name in self._classes:
            body = self._classes[name][0].body
            return [ast.unparse(one.target) for one in body if isinstance(one, ast.AnnAssign)]
        found = self.functions_named(name, file)
        return parameters(found[0][0]) if found else []


def called(call: ast.Call) -> str:
    """The last part of what is called: `index` of `self._store.index(...)`."""
    match call.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def parameters(function: Function) -> list[str]:
    """The parameters' names in their order, without `self`."""
    args = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    bound = args[1:] if args[:1] in (["self"], ["cls"]) else args
    return [*bound, *(arg.arg for arg in function.args.kwonlyargs)]


def default_of(function: Function, name: str) -> ast.expr | None:
    """What a parameter is where a call gives nothing for it."""
    args = [*function.args.posonlyargs, *function.args.args]
    given: list[tuple[ast.arg, ast.expr | None]] = []
    given += zip(reversed(args), reversed(function.args.defaults), strict=False)
    given += zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return next((default for arg, default in given if arg.arg == name), None)


def _nearest(found: list[_Found], file: str) -> list[_Found]:
    here = [one for one in found if one[1].file == file]
    return here or (found if len(found) == 1 else [])
