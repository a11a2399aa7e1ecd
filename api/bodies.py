"""What requests carry: as large, of such a kind and written as the operation can take it."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.operations import Operations, Takes
from api.problems import ProblemError

MAX_JSON_BYTES = 1024 * 1024
FILES_PER_UPLOAD = 10
"""How many files of the largest size an upload may hold together."""

_MAX_DIGITS = 400
"""As many as the largest number in floating point has, with room to spare."""
_MAX_DEPTH = 64
"""Far more than any body has; Python's own bound depends on how deep its stack is at that time."""


class Bodies:
    """ASGI middleware: refuses bodies and query strings before anything is done with them.

    Of JSON the whole body is read and looked at here; of an upload each piece is counted as it
    comes, so that a length that is not told, or told wrong, changes nothing. A parameter that the
    operation does not have is refused, so that none is lost, but below the paths in `lenient`.
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
            Takes.JSON: MAX_JSON_BYTES,
            Takes.FORM: max_file_bytes * FILES_PER_UPLOAD,
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        operation = self._operations.at(scope["path"], scope["method"])
        _check_query(scope["query_string"])
        if not scope["path"].startswith(self._lenient):
            _check_parameters(scope["query_string"], operation.parameters)
        takes = operation.takes
        if takes is not Takes.NOTHING:
            headers, bound = Headers(scope=scope), self._max[takes]
            _check_kind(headers, takes)
            _check_length(headers, bound)
            receive = _counting(receive, bound)
        if takes is Takes.JSON:
            receive = await _read(receive)
        await self._app(scope, receive, send)


def read_json(body: bytes) -> Any:
    """The value of a body that every part below can take.

    A number such as `1.0` becomes 1: for JSON Schema it is an integer, for Python it is none.

    Raises:
        ProblemError: 422: it is not UTF-8 or not JSON, has NaN or a number beyond all bounds, is
            nested too deeply, or a text has NUL or half of a character.
    """
    try:
        value = json.loads(
            body.decode("utf-8-sig"),  # some editors write a mark first
            parse_constant=_no_number,
            parse_float=_number,
            parse_int=_whole,
        )
        for text in _texts(value):
            if "\0" in text:
                _refuse("a text has the character NUL")
            text.encode("utf-8")
    except RecursionError:
        _refuse(f"it is nested more than {_MAX_DEPTH} levels deep")
    except UnicodeDecodeError:
        _refuse("it is not UTF-8")
    except UnicodeEncodeError:
        _refuse("a text has half of a surrogate pair")
    except ValueError as error:
        _refuse(str(error))
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
    raise ValueError(f"{text} is no JSON number")


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _no_number(text)
    return int(number) if number.is_integer() else number


def _whole(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise ValueError(f"a number has more than {_MAX_DIGITS} digits")
    return int(text)


def _refuse(reason: str) -> NoReturn:
    raise ProblemError(422, f"The body can't be read: {reason}.")


def _check_query(query: bytes) -> None:
    try:
        text = unquote_to_bytes(query).decode("utf-8")
    except UnicodeDecodeError:
        raise ProblemError(422, "The query string is not UTF-8.") from None
    if "\0" in text:
        raise ProblemError(422, "The query string has the character NUL.")


def _check_parameters(query: bytes, known: Sequence[str]) -> None:
    unknown = [name for name in QueryParams(query) if name not in known]
    if unknown:
        told = f"Unknown parameters in the query: {', '.join(unknown)}."
        raise ProblemError(422, f"{told} Known here: {', '.join(known) or 'none'}.")


def _check_kind(headers: Headers, takes: Takes) -> None:
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise ProblemError(415, "Send the body as it is, without Content-Encoding.")
    given = headers.get("content-type", "")
    kind, _, parameters = given.partition(";")
    charset = parameters.replace(" ", "").replace('"', "").lower()
    is_other = "charset=" in charset and "charset=utf-8" not in charset
    carries = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
    if (given or carries) and (kind.strip().lower() != takes or is_other):
        raise ProblemError(415, f"Send the body as {takes.value}, in UTF-8.")


def _check_length(headers: Headers, bound: int) -> None:
    told = headers.get("content-length", "")
    if told.isdigit() and (len(told) > len(str(bound)) or int(told) > bound):
        raise _too_large(bound)


def _counting(receive: Receive, bound: int) -> Receive:
    seen = 0

    async def counted() -> Message:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > bound:
            raise _too_large(bound)
        return message

    return counted


def _too_large(bound: int) -> HTTPException:
    # Starlette's own kind of error, which alone passes through FastAPI's reading of a body.
    return HTTPException(413, f"At most {bound:,} bytes can be sent here.")


async def _read(receive: Receive) -> Receive:
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ProblemError(422, "The body broke off.")
        body += message.get("body", b"")
        more = message.get("more_body", False)
    sound = json.dumps(read_json(bytes(body))).encode() if body else b""
    left = [{"type": "http.request", "body": sound, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again
