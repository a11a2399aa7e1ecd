"""Errors as OpenAI's clients know them, who make exceptions of their own of them."""

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from api.problems import Problem, ProblemError, problem_of_error, reason_of
from errors import NotFoundError

UNEXPECTED = "internal_error"
"""The code of an error that nobody foresaw: only the server's log tells of it."""

_TYPES: Mapping[int, str] = {401: "authentication_error", 403: "permission_error", 429: "requests"}
_CODES: Mapping[int, str] = {
    401: "invalid_api_key",
    403: "insufficient_permissions",
    404: "not_found",
    405: "method_not_allowed",
    413: "request_too_large",
    429: "rate_limit_exceeded",
    500: UNEXPECTED,
}
_REFUSED: Mapping[str, str] = {
    "tools": "Footnote calls no tools of its callers: leave `tools` out.",
    "functions": "Footnote calls no functions of its callers: leave `functions` out.",
    "tool_calls": "Footnote calls no tools of its callers: leave messages with `tool_calls` out.",
    "n": "Footnote gives one answer: leave `n` out, or make it 1.",
    "response_format": "Footnote answers in text: leave `response_format` out.",
    "logprobs": "Footnote tells no logprobs: leave `logprobs` out.",
    "role": "Only messages of user, assistant, system and developer are read.",
    "type": "Only parts of type text are read: no pictures, sound or files.",
}
"""What to do about fields that ask for what would not come."""
_NO_TOKENS = (
    "Send texts, not tokens (LangChain's OpenAIEmbeddings do with check_embedding_ctx_length=False)"
)


class ErrorBody(BaseModel):
    """What went wrong."""

    message: str = Field(
        description="What failed and what to do next",
        examples=["There is no model 'gpt-4o' here. There are footnote."],
    )
    type: str = Field(description="Which kind of error", examples=["invalid_request_error"])
    param: str | None = Field(
        description="The field that is wrong; null where it is none", examples=["model"]
    )
    code: str | None = Field(
        description="What is wrong, for programs; null where the type says it all",
        examples=["model_not_found"],
    )


class OpenAIError(BaseModel):
    """An error in OpenAI's shape."""

    error: ErrorBody = Field(description="What went wrong")


class ModelNotFoundError(NotFoundError):
    """There is no such model."""

    param = "model"

    def __init__(self, model: str, known: list[str]) -> None:
        super().__init__(f"There is no model {model[:200]!r} here. There are {', '.join(known)}.")


class NoQuestionError(ProblemError):
    """No user says anything in the messages."""

    param = "messages"

    def __init__(self) -> None:
        super().__init__(400, "There is no message of a user, whose last one is the question.")


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that an operation documents."""
    return {status: {"model": OpenAIError} for status in statuses}


EVERYWHERE = error_responses(400, 401, 403, 429, 500, 503)
"""The errors that any operation may end with."""


def body_of(error: Exception) -> OpenAIError:
    """What a client is told of an error, also in mid-stream."""
    problem = problem_of_error(error)
    status = _status_of(problem.status)
    message, param = problem.detail, getattr(error, "param", None)
    if isinstance(error, RequestValidationError):
        message, param = _told(error)
    kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    code = "model_not_found" if isinstance(error, ModelNotFoundError) else _CODES.get(status)
    return OpenAIError(error=ErrorBody(message=message, type=kind, param=param, code=code))


def respond(problem: Problem, headers: Mapping[str, str], error: Exception) -> Response:
    """The response that tells a problem; OpenAI's clients try again where that may help."""
    told = dict(headers)
    if not problem.retryable:
        told["x-should-retry"] = "false"  # or they do so after each 409 and 5xx
    return JSONResponse(body_of(error).model_dump(), _status_of(problem.status), told)


def _status_of(status: int) -> int:
    """OpenAI's clients are told 400 of what can't be understood."""
    return 400 if status == 422 else status


def _told(error: RequestValidationError) -> tuple[str, str | None]:
    """Message and field of what is wrong.

    Where a field may be of several kinds, that which lies deepest is what the caller meant.
    """
    wrong = max(error.errors(), key=lambda one: _rank(one, error.body))
    names = _place(wrong["loc"], error.body)
    if wrong["type"].startswith("union_tag"):
        names.append("role")
    param = "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in names)
    param = param.lstrip(".")
    refused = next((_REFUSED[name] for name in map(str, names) if name in _REFUSED), None)
    return refused or f"{param or 'The body'}: {_reason(wrong, names)}.", param or None


def _rank(wrong: Any, body: Any) -> tuple[int, bool]:
    return len(_place(wrong["loc"], body)), not wrong["type"].endswith("_type")


def _reason(wrong: Any, names: list[str | int]) -> str:
    if wrong["type"] == "string_type" and names[:1] == ["input"]:
        return _NO_TOKENS
    return reason_of(wrong)


def _place(loc: tuple[str | int, ...], body: Any) -> list[str | int]:
    """The way to the field; pydantic also names the alternatives that it tried on it."""
    names: list[str | int] = []
    value = body
    for place, name in enumerate(loc[1:], start=2):
        if _has(value, name):
            value = value[name]
        elif place < len(loc) or not isinstance(value, dict):
            continue
        names.append(name)
    return names


def _has(value: Any, name: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(name, int) and name < len(value)
    return isinstance(value, dict) and name in value
