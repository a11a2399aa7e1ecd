"""Errors as problem details (RFC 9457, application/problem+json)."""

import math
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.field_types import PATTERN_MESSAGES, Schema
from domain.errors import (
    AppError,
    BusyError,
    ConfigError,
    ConflictError,
    ForbiddenAddressError,
    ForbiddenError,
    InputError,
    LimitError,
    ModelError,
    ModelUnavailableError,
    NotFoundError,
    SignInError,
    SignInUnavailableError,
    SourceError,
    SourceUnavailableError,
    StorageUnavailableError,
    TemporarilyUnreadableError,
)
from domain.logs import get_logger
from domain.public_messages import message_for_everyone
from domain.web.host_policy import Refusal
from domain.web.request_log import loggable_path

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 5
"""The default for Retry-After, in seconds."""

_log = get_logger("api")
_NO_FILE = "It is text instead of a file: send the file with its name (curl: files=@NAME)"

_TITLES = {413: "Content Too Large", 414: "URI Too Long", 422: "Unprocessable Content"}
"""Titles from RFC 9110, the same in every Python version: Python has them only since 3.13."""

_STATUS: Mapping[type[AppError], int] = {
    NotFoundError: 404,
    SignInError: 401,
    SignInUnavailableError: 503,
    ForbiddenError: 403,
    LimitError: 429,
    ConflictError: 409,
    InputError: 422,
    ForbiddenAddressError: 409,
    SourceUnavailableError: 503,
    TemporarilyUnreadableError: 503,
    SourceError: 409,
    ConfigError: 409,
    ModelUnavailableError: 503,
    ModelError: 502,
    BusyError: 503,
    StorageUnavailableError: 503,
}


def _title(status: int) -> str:
    return _TITLES.get(status) or HTTPStatus(status).phrase


class Problem(Schema):
    """What went wrong: `type`, `status`, and `retryable` for programs, `detail` for people."""

    type: str = Field(examples=["urn:footnote:not-found"])
    """Stable identifier of the problem type"""
    title: str = Field(examples=["Not Found"])
    """Short name of the problem type"""
    status: int = Field(examples=[404])
    """HTTP status code"""
    detail: str = Field(examples=["There is no such conversation."])
    """What failed and what to do next"""
    retryable: bool
    """Whether the same request may succeed later"""


class ProblemError(Exception):
    """A problem that the API itself finds, such as a missing key."""

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.headers = headers


class ClientDisconnectedError(Exception):
    """The client disconnected before its response began."""


Responder = Callable[[Problem, Mapping[str, str], Exception], Response]
"""Makes the response for a problem with these headers; the error is the problem's cause."""


class ProblemMiddleware:
    """ASGI middleware that turns every exception raised inside it into a problem and logs it once.

    It wraps the app's own handlers, so that errors of other middleware have the same form. Once a
    response has begun, the error propagates to the server instead, which logs it and closes the
    connection, so that the client knows that the response is incomplete.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on a request; respond with a problem if that raises before the response begins."""
        has_begun = False

        async def send_and_note(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, send_and_note)
        except Exception as error:
            if has_begun or scope["type"] != "http":
                raise
            response = await _respond(Request(scope), error)
            await response(scope, receive, send)


def problem_of(status: int, detail: str, *, retryable: bool | None = None) -> Problem:
    """The problem with that status; unless specified, only 429 and 503 are retryable."""
    title = _title(status)
    return Problem(
        type=f"urn:footnote:{title.lower().replace(' ', '-')}",
        title=title,
        status=status,
        detail=detail,
        retryable=status in (429, 503) if retryable is None else retryable,
    )


def problem_of_error(error: Exception) -> Problem:
    """Convert an error to a problem; an unexpected error is reported without details."""
    if isinstance(error, AppError):
        status = next((_STATUS[kind] for kind in type(error).mro() if kind in _STATUS), 500)
        return problem_of(status, message_for_everyone(error), retryable=error.retryable)
    if isinstance(error, ProblemError):
        return problem_of(error.status, str(error))
    if isinstance(error, RequestValidationError):
        return problem_of(422, "; ".join(map(_detail, error.errors())))
    if isinstance(error, HTTPException):
        # FastAPI returns 400 for unreadable bodies; this API returns 422 for all of them.
        return problem_of(422 if error.status_code == 400 else error.status_code, error.detail)
    return problem_of(500, "An unexpected error occurred; see the server's log.")


def reason_of(error: Any) -> str:
    """A readable reason for an invalid field, from one of pydantic's error dictionaries."""
    if "Expected UploadFile" in error["msg"]:
        return _NO_FILE
    if error["type"] == "string_pattern_mismatch":
        return PATTERN_MESSAGES.get(error["ctx"]["pattern"], error["msg"])
    return str(error["msg"])


def respond_with_problems(app: FastAPI, responders: Mapping[str, Responder] | None = None) -> None:
    """Make the app respond to every error with a problem.

    Args:
        app: Receives the handlers, and the middleware around its existing middleware.
        responders: Responders for errors in other formats, by path prefix.
    """
    app.state.responders = dict(responders or {})
    for kind in (AppError, ProblemError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _respond)
    app.add_exception_handler(ClientDisconnectedError, _respond_to_nobody)
    app.add_middleware(ProblemMiddleware)


def problem_response(problem: Problem, headers: Mapping[str, str], _error: Exception) -> Response:
    """The response in the format of RFC 9457."""
    return JSONResponse(problem.model_dump(), problem.status, headers, MEDIA_TYPE)


def problem_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The problems of an operation for its description, in addition to `COMMON_RESPONSES`."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        status: {"description": _title(status), "content": {MEDIA_TYPE: {"schema": schema}}}
        for status in statuses
    }


COMMON_RESPONSES = problem_responses(401, 403, 422, 429, 500, 503)
"""The problems that every operation with a key may return."""
NOT_FOUND, CONFLICT = problem_responses(404), problem_responses(409)


async def respond_to_refusal(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Send the refusal of a request as a problem, in the format for its path."""
    response = await _respond(Request(scope), ProblemError(refusal.status, refusal.reason))
    await response(scope, receive, send)


async def _respond_to_nobody(_request: Request, _error: Exception) -> Response:
    return Response(status_code=499)  # appears in logs


async def _respond(request: Request, error: Exception) -> Response:
    problem, path = problem_of_error(error), request.url.path
    if problem.status == 500:
        _log.error("%s %s failed", request.method, loggable_path(path), exc_info=error)
    responders: Mapping[str, Responder] = request.app.state.responders
    matches = (responder for start, responder in responders.items() if path.startswith(start))
    return next(matches, problem_response)(problem, problem_headers(problem, error), error)


def problem_headers(problem: Problem, error: Exception) -> dict[str, str]:
    """The headers of the response for a problem; a retryable one says when to retry."""
    headers = dict(getattr(error, "headers", None) or {})
    if problem.retryable:
        seconds = math.ceil(getattr(error, "retry_after_s", 0)) or RETRY_AFTER_S
        headers.setdefault("Retry-After", str(seconds))
    return headers


def _detail(error: Any) -> str:
    field = ".".join(str(part) for part in error["loc"])
    return f"{field}: {reason_of(error)}"
