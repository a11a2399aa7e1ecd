"""Checks the size, type, and encoding of request bodies, and the names of query parameters."""

import json
import math
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from re import Pattern
from typing import Any, NamedTuple, NoReturn
from urllib.parse import unquote_to_bytes

from fastapi import FastAPI, params
from fastapi.dependencies.utils import get_flat_params
from fastapi.routing import RouteContext, iter_route_contexts
from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.problems import ProblemError


class BodyType(StrEnum):
    """The media type of the body that an operation takes."""

    NONE = ""
    JSON = "application/json"
    FORM = "multipart/form-data"


class Operation(NamedTuple):
    """An operation: its body, if it takes one, and its query parameters."""

    path: Pattern[str]
    methods: frozenset[str]
    body_type: BodyType
    parameters: tuple[str, ...]
    """The names of its query parameters."""


class Operations:
    """The operations of an app, read at the first request, when all routes are registered."""

    def __init__(self, app: FastAPI) -> None:
        self._app = app

    def at(self, path: str, method: str) -> Operation:
        """The operation for a path and a method.

        Raises:
            ProblemError: 404 for an unknown path, 405 for another method. A 405 lists all allowed
                methods of the path, while Starlette lists those of one route.
        """
        matches = [operation for operation in self._all if operation.path.match(path)]
        if not matches or "\0" in path:
            raise ProblemError(404, "There is nothing at this address; see /api/v1/openapi.json.")
        for operation in matches:
            if method in operation.methods:
                return operation
        # The most specific path: the one with the fewest parameters.
        own = min(matches, key=lambda operation: operation.path.groups).path
        methods = (one.methods for one in matches if one.path.pattern == own.pattern)
        allowed = ", ".join(sorted(frozenset().union(*methods)))
        raise ProblemError(405, f"Only {allowed} can be used here.", {"Allow": allowed})

    @cached_property
    def _all(self) -> tuple[Operation, ...]:
        return tuple(_operations(self._app))


def _operations(app: FastAPI) -> Iterator[Operation]:
    for route in iter_route_contexts(app.routes):
        body = getattr(route, "body_field", None)
        body_type = BodyType.NONE
        if body is not None:
            body_type = BodyType.FORM if isinstance(body.field_info, params.Form) else BodyType.JSON
        methods = frozenset(route.methods or ())
        yield Operation(route.path_regex, methods, body_type, tuple(_parameters(route)))


def _parameters(route: RouteContext) -> Iterator[str]:
    dependant = getattr(route, "dependant", None)  # the route of openapi.json has none
    for field in get_flat_params(dependant) if dependant else ():
        # Fields of a parameter model are not `Query` themselves, so exclude the other kinds.
        if not isinstance(field.field_info, params.Path | params.Header | params.Cookie):
            yield field.alias


MAX_JSON_BYTES = 1024 * 1024
MAX_QUERY_BYTES = 256 * 1024
FILES_PER_UPLOAD = 10
"""The size limit of an upload, as a multiple of the size limit of a file."""

_MAX_DIGITS = 400
"""More digits than the largest floating-point number has."""
_MAX_DEPTH = 64
"""Far more than any body needs; Python's own limit depends on the depth of the current stack."""
_CHARSETS = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
"""The labels of UTF-8 and of US-ASCII, which is a subset of it."""


class RequestBodyMiddleware:
    """ASGI middleware: rejects invalid bodies and query strings before they are processed.

    A JSON body is read and checked as a whole. The pieces of an upload are counted as they arrive,
    so the size limit holds even if Content-Length is missing or wrong. Unknown query parameters
    are rejected instead of ignored, except below the path prefixes in `lenient`; bodies below those
    may contain NUL characters, because most of their fields are ignored.
    """

    def __init__(
        self,
        app: ASGIApp,
        operations: Operations,
        max_file_bytes: int,
        lenient: tuple[str, ...] = (),
    ) -> None:
        self._app = app
        self._operations = operations
        self._lenient = lenient
        self._max = {
            BodyType.JSON: MAX_JSON_BYTES,
            BodyType.FORM: max_file_bytes * FILES_PER_UPLOAD,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request with a valid body and query string.

        Raises:
            ProblemError: 404, 405, 414, 415, or 422.
            HTTPException: 413, the body is too large.
        """
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        operation = self._operations.at(scope["path"], scope["method"])
        _check_query(scope["query_string"])
        is_lenient = scope["path"].startswith(self._lenient)
        if not is_lenient:
            _check_parameters(scope["query_string"], operation.parameters)
        body_type = operation.body_type
        if body_type is not BodyType.NONE:
            headers, limit = Headers(scope=scope), self._max[body_type]
            _check_type(headers, body_type)
            _check_length(headers, limit)
            receive = _counted_receive(receive, limit)
        if body_type is BodyType.JSON:
            receive = await _read(receive, allow_nul=is_lenient)
        await self._app(scope, receive, send)


def read_json(body: bytes, *, allow_nul: bool = False) -> Any:
    """Parse a JSON body, and reject values that later code can't process.

    A number such as `1.0` becomes 1, because JSON Schema considers it an integer.

    Raises:
        ProblemError: 422: the body is not UTF-8 or not JSON, contains NaN or a number out of
            range, is nested too deeply, or has a string with a lone surrogate or, unless they are
            allowed, with NUL.
    """
    try:
        value = json.loads(
            body.decode("utf-8-sig"),  # some editors write a byte order mark
            parse_constant=_no_number,
            parse_float=_number,
            parse_int=_whole,
        )
        for text in _texts(value):
            if "\0" in text and not allow_nul:
                _reject("a string contains a NUL character")
            text.encode("utf-8")
    except RecursionError:
        _reject(f"it is nested more than {_MAX_DEPTH} levels deep")
    except UnicodeDecodeError:
        _reject("it is not UTF-8")
    except UnicodeEncodeError:
        _reject("a string contains half of a surrogate pair")
    except ValueError as error:
        _reject(str(error))
    return value


def _texts(value: Any, levels: int = _MAX_DEPTH) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from _texts(list(value.values()), levels)
    elif isinstance(value, list):
        if not levels:
            raise RecursionError
        for one in value:
            yield from _texts(one, levels - 1)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON number")


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _no_number(text)
    return int(number) if number.is_integer() else number


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"a number has more than {_MAX_DIGITS} digits")
    return int(text)


def _reject(reason: str) -> NoReturn:
    raise ProblemError(422, f"The body can't be read: {reason}.")


def _check_query(query: bytes) -> None:
    if len(query) > MAX_QUERY_BYTES:
        raise ProblemError(414, f"The query string is longer than {MAX_QUERY_BYTES:,} bytes.")
    try:
        text = unquote_to_bytes(query).decode("utf-8")
    except UnicodeDecodeError:
        raise ProblemError(422, "The query string is not UTF-8.") from None
    if "\0" in text:
        raise ProblemError(422, "The query string contains a NUL character.")


def _check_parameters(query: bytes, allowed: Sequence[str]) -> None:
    unknown = [name for name in QueryParams(query) if name not in allowed]
    if unknown:
        message = f"Unknown query parameters: {', '.join(unknown)}."
        raise ProblemError(422, f"{message} Allowed: {', '.join(allowed) or 'none'}.")


def _check_type(headers: Headers, body_type: BodyType) -> None:
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise ProblemError(415, "Send the body uncompressed, without Content-Encoding.")
    content_type = headers.get("content-type", "")
    kind, _, parameters = content_type.partition(";")
    names = "".join(parameters.split()).replace('"', "").lower().split(";")
    charsets = {one.removeprefix("charset=") for one in names if one.startswith("charset=")}
    is_other = not charsets <= _CHARSETS
    has_body = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
    if (content_type or has_body) and (kind.strip().lower() != body_type or is_other):
        raise ProblemError(415, f"Send the body as {body_type.value}, in UTF-8.")


def _check_length(headers: Headers, limit: int) -> None:
    length = headers.get("content-length", "")
    if length.isdigit() and (len(length) > len(str(limit)) or int(length) > limit):
        raise _too_large(limit)


def _counted_receive(receive: Receive, limit: int) -> Receive:
    received = 0

    async def receive_and_count() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit:
            raise _too_large(limit)
        return message

    return receive_and_count


def _too_large(limit: int) -> HTTPException:
    # While FastAPI reads a body, it passes on only Starlette's HTTPException unchanged.
    return HTTPException(413, f"The body is larger than {limit:,} bytes.")


async def _read(receive: Receive, *, allow_nul: bool) -> Receive:
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ProblemError(422, "The client disconnected before the end of the body.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
    valid_body = json.dumps(read_json(bytes(body), allow_nul=allow_nul)).encode() if body else b""
    messages = [{"type": "http.request", "body": valid_body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
