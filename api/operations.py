"""What the app has at each address, read from its own routes."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property
from re import Pattern
from typing import NamedTuple

from fastapi import FastAPI, params
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import RouteContext, iter_route_contexts

from api.problems import ProblemError


class Takes(StrEnum):
    """The body that an operation takes."""

    NOTHING = ""
    JSON = "application/json"
    FORM = "multipart/form-data"


class Operation(NamedTuple):
    """What is at an address."""

    path: Pattern[str]
    methods: frozenset[str]
    takes: Takes
    parameters: tuple[str, ...]
    """Those of its query string, by name."""


class Operations:
    """The operations of an app, whose routes are complete when the first request comes."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    def at(self, path: str, method: str) -> Operation:
        """The operation there.

        Raises:
            ProblemError: 404, there is nothing at this path; 405, but not for this method. The
                latter names all that there are, where Starlette names those of one route.
        """
        there = [operation for operation in self._all if operation.path.match(path)]
        if not there or "\0" in path:
            raise ProblemError(404, "There is nothing at this address; see /api/v1/openapi.json.")
        for operation in there:
            if method in operation.methods:
                return operation
        own = min(there, key=lambda operation: operation.path.groups).path  # not {id} of another
        methods = (one.methods for one in there if one.path.pattern == own.pattern)
        allowed = ", ".join(sorted(frozenset().union(*methods)))
        raise ProblemError(405, f"Only {allowed} can be used here.", {"Allow": allowed})

    @cached_property
    def _all(self) -> tuple[Operation, ...]:
        return tuple(_operations(self._app))


def _operations(app: FastAPI) -> Iterator[Operation]:
    for route in iter_route_contexts(app.routes):
        body = getattr(route, "body_field", None)
        takes = Takes.NOTHING
        if body is not None:
            takes = Takes.FORM if isinstance(body.field_info, params.Form) else Takes.JSON
        methods = frozenset(route.methods or ())
        yield Operation(route.path_regex, methods, takes, tuple(_parameters(route)))


def _parameters(route: RouteContext) -> Iterator[str]:
    dependant = getattr(route, "dependant", None)  # the description's own route has none
    for field in get_flat_params(dependant) if dependant else ():
        # Those that are the fields of a model are no `Query` themselves.
        if not isinstance(field.field_info, params.Path | params.Header | params.Cookie):
            yield field.alias
