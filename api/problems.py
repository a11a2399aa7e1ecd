"""Errors as problem details (RFC 9457, application/problem+json)."""

import logging
import math
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.schemas.texts import MEANINGS
from errors import (
    AppError,
    BusyError,
    ConfigError,
    ConflictError,
    InputError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    SourceError,
    SourceUnavailableError,
)
from web.policy import Refusal

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 5
"""What a caller is asked to wait where nothing tells better."""

_log = logging.getLogger("footnote.api")
_NO_FILE = "It is a text: send a file, with its name (curl: files=@NAME)"

_TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Those of RFC 9110, which Python knows from 3.13 on; a problem's type must not depend on that."""

_STATUS: Mapping[type[AppError], int] = {
    NotFoundError: 404,
    ConflictError: 409,
    InputError: 422,
    SourceUnavailableError: 503,
    SourceError: 409,
    ConfigError: 409,
    ModelUnavailableError: 503,
    ModelError: 502,
    BusyError: 503,
}


def _title(status: int) -> str:
    return _TITLES.get(status) or HTTPStatus(status).phrase


class Problem(BaseModel):
    """What went wrong: `type`, `status` and `retryable` for programs, `detail` for people."""

    type: str = Field(
        description="Which kind of problem; stays the same", examples=["urn:footnote:not-found"]
    )
    title: str = Field(description="The kind in words", examples=["Not Found"])
    status: int = Field(description="The HTTP status", examples=[404])
    detail: str = Field(
        description="What failed and what to do next",
        examples=["There is no such conversation."],
    )
    retryable: bool = Field(description="Whether the same request may succeed later")


class ProblemError(Exception):
    """A problem that the API itself finds, such as a missing key."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers


Responder = Callable[[Problem, Mapping[str, str], Exception], Response]
"""Makes the response that tells a problem, with these headers, of that error."""


class Problems:
    """ASGI middleware: whatever is raised inside of it leaves as a problem, and is logged once.

    It is around the app's own handlers, so that what other middleware refuses is told in the same
    form. An answer that has begun can't be taken back: there the error goes on to the server, which
    logs it and breaks the connection, and so the client knows that the answer is not whole.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            if begun or scope["type"] != "http":
                raise
            response = await _respond(Request(scope), error)
            await response(scope, receive, send)


def problem_of(status: int, detail: str, *, retryable: bool | None = None) -> Problem:
    """The problem of that status; whether to try again follows from it where it is not told."""
    title = _title(status)
    return Problem(
        type=f"urn:footnote:{title.lower().replace(' ', '-')}",
        title=title,
        status=status,
        detail=detail,
        retryable=status in (429, 503) if retryable is None else retryable,
    )


def problem_of_error(error: Exception) -> Problem:
    """What a caller is told of an error; of an unexpected one nothing but that it was one."""
    if isinstance(error, AppError):
        status = next((_STATUS[kind] for kind in type(error).mro() if kind in _STATUS), 500)
        return problem_of(status, str(error), retryable=error.retryable)
    if isinstance(error, ProblemError):
        return problem_of(error.status, str(error))
    if isinstance(error, RequestValidationError):
        return problem_of(422, "; ".join(map(_told, error.errors())))
    if isinstance(error, HTTPException):
        # FastAPI's own 400 is for bodies that can't be read, which is 422 with us throughout.
        return problem_of(422 if error.status_code == 400 else error.status_code, error.detail)
    return problem_of(500, "An unexpected error; the server's log has it.")


def reason_of(wrong: Any) -> str:
    """Why a field is refused, for people; `wrong` is one of the errors that pydantic tells."""
    if "Expected UploadFile" in wrong["msg"]:
        return _NO_FILE
    if wrong["type"] == "string_pattern_mismatch":
        return MEANINGS.get(wrong["ctx"]["pattern"], wrong["msg"])
    return str(wrong["msg"])


def respond_with_problems(app: FastAPI, elsewhere: Mapping[str, Responder] | None = None) -> None:
    """Let every error leave the app as a problem.

    Args:
        app: Gets its handlers and, as the outermost of what it has until now, the middleware.
        elsewhere: Who tells errors below other paths, by the beginning of the path.
    """
    app.state.responders = dict(elsewhere or {})
    for kind in (AppError, ProblemError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _respond)
    app.add_middleware(Problems)


def problem_response(problem: Problem, headers: Mapping[str, str], _error: Exception) -> Response:
    """The response that tells it as RFC 9457 says."""
    return JSONResponse(problem.model_dump(), problem.status, headers, MEDIA_TYPE)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems that an operation documents beside those of every operation."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": _title(status), "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


EVERYWHERE = problem_responses(401, 403, 422, 429, 500, 503)
"""The problems that any operation behind a key may end with."""


async def respond_to_refusal(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Send a request's refusal as a problem, in the form that belongs to its path."""
    response = await _respond(Request(scope), ProblemError(refusal.status, refusal.reason))
    await response(scope, receive, send)


async def _respond(request: Request, error: Exception) -> Response:
    problem, path = problem_of_error(error), request.url.path
    if problem.status == 500:
        _log.error("%s %s failed", request.method, path, exc_info=error)
    elsewhere: Mapping[str, Responder] = request.app.state.responders
    tells = (responder for start, responder in elsewhere.items() if path.startswith(start))
    return next(tells, problem_response)(problem, _headers(problem, error), error)


def _headers(problem: Problem, error: Exception) -> dict[str, str]:
    told = dict(getattr(error, "headers", None) or {})
    if problem.retryable:  # one that may be tried again says when
        seconds = math.ceil(getattr(error, "retry_after_s", 0)) or RETRY_AFTER_S
        told.setdefault("Retry-After", str(seconds))
    return told


def _told(error: Any) -> str:
    place = ".".join(str(part) for part in error["loc"])
    return f"{place}: {reason_of(error)}"
