"""Errors in OpenAI's format, which OpenAI's clients convert to their own exceptions."""

from collections.abc import Mapping
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import Field

from api.field_types import Schema
from api.problems import Problem, ProblemError, problem_of_error, reason_of
from domain.errors import NotFoundError

UNEXPECTED = "internal_error"
"""The code of an unexpected error, which only the server's log describes."""

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
_NOT_STORED = "Footnote stores no responses: send the earlier messages as `input`."
_PARTS = "Only parts of type text are supported, not images, audio, or files."
_FORMATS = "Only the formats text, json_object, and json_schema are supported."
_REFUSED: Mapping[str, str] = {
    "tools.type": "Only tools of type function are supported.",
    "tool_choice.type": "Only auto, none, required, or a function can be chosen.",
    "audio": "Footnote answers in text: omit `audio`.",
    "modalities": "Footnote answers in text: omit `modalities`.",
    "web_search_options": "Footnote searches its library, not the web: omit `web_search_options`.",
    "top_logprobs": "Footnote does not return logprobs: omit `top_logprobs`.",
    "previous_response_id": _NOT_STORED,
    "conversation": _NOT_STORED,
    "prompt": "Footnote has no stored prompts: omit `prompt`.",
    "background": "Footnote does not answer in the background: omit `background`.",
    "text.format.type": _FORMATS,
    "functions": "Footnote does not support `functions`: send them in `tools`.",
    "n": "Footnote returns one answer: omit `n`, or set it to 1.",
    "response_format.type": _FORMATS,
    "logprobs": "Footnote does not return logprobs: omit `logprobs`.",
    "role": "Only the roles user, assistant, tool, system, and developer are supported.",
    "messages.content.type": _PARTS,
    "input.content.type": _PARTS,
    "input.type": "Only messages, function calls, and their outputs are supported.",
}
"""The advice to clients that request unsupported features, by path or name of the field."""
_NO_TOKENS = (
    "Send texts, not tokens (in LangChain's OpenAIEmbeddings, set check_embedding_ctx_length=False)"
)


class ErrorBody(Schema):
    """Description of the error."""

    message: str = Field(examples=["There is no model 'gpt-4o'. Available models: footnote."])
    """What failed and what to do next"""
    type: str = Field(examples=["invalid_request_error"])
    """Type of the error"""
    param: str | None = Field(examples=["model"])
    """Name of the invalid field; null if the error is not about a field"""
    code: str | None = Field(examples=["model_not_found"])
    """Machine-readable error code; null if the type is specific enough"""


class OpenAIError(Schema):
    """An error in OpenAI's format."""

    error: ErrorBody
    """What went wrong"""


class ModelNotFoundError(NotFoundError):
    """The requested model is not listed."""

    param = "model"

    def __init__(self, model: str, models: list[str]) -> None:
        super().__init__(
            f"There is no model {model[:200]!r}. Available models: {', '.join(models)}."
        )


class InvalidFieldError(ProblemError):
    """A field contradicts another one, or itself; each alone is valid."""

    def __init__(self, field: str, message: str) -> None:
        self.param = field
        super().__init__(400, message)


def error_responses(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that an operation documents."""
    return {status: {"model": OpenAIError} for status in statuses}


COMMON_RESPONSES = error_responses(400, 401, 403, 429, 500, 503)
"""The errors that any operation may end with."""


def body_of(error: Exception) -> OpenAIError:
    """The body that describes an error, also within a stream."""
    return _body(problem_of_error(error), error)


def _body(problem: Problem, error: Exception) -> OpenAIError:
    status = _status_of(problem.status)
    message, param = problem.detail, getattr(error, "param", None)
    if isinstance(error, RequestValidationError):
        message, param = _message(error)
    kind = "server_error" if status >= 500 else _TYPES.get(status, "invalid_request_error")
    code = "model_not_found" if isinstance(error, ModelNotFoundError) else _CODES.get(status)
    return OpenAIError(error=ErrorBody(message=message, type=kind, param=param, code=code))


def respond(problem: Problem, headers: Mapping[str, str], error: Exception) -> Response:
    """The response for a problem; OpenAI's clients retry if it is retryable."""
    response_headers = dict(headers)
    if not problem.retryable:
        response_headers["x-should-retry"] = "false"  # clients retry 409 and 5xx by default
    return JSONResponse(
        _body(problem, error).model_dump(), _status_of(problem.status), response_headers
    )


def _status_of(status: int) -> int:
    """The status for OpenAI's clients, which expect 400 instead of 422."""
    return 400 if status == 422 else status


def _message(error: RequestValidationError) -> tuple[str, str | None]:
    """The message and the invalid field.

    If a field has several alternative types, the most deeply nested error is reported, because it
    belongs to the alternative that the caller most likely meant.
    """
    wrong = max(error.errors(), key=lambda one: _rank(one, error.body))
    names = _place(wrong, error.body)
    param = "".join(f"[{name}]" if isinstance(name, int) else f".{name}" for name in names)
    param = param.lstrip(".")
    texts = [name for name in names if isinstance(name, str)]
    keys = (".".join(texts), *texts)
    refused = next((_REFUSED[name] for name in keys if name in _REFUSED), None)
    return refused or f"{param or 'The body'}: {_reason(wrong, names)}.", param or None


def _rank(wrong: Any, body: Any) -> tuple[int, bool, bool]:
    kind = wrong["type"]
    return len(_place(wrong, body)), not kind.endswith("_type"), kind != "missing"


def _reason(wrong: Any, names: list[str | int]) -> str:
    if wrong["type"] == "string_type" and names[:1] == ["input"]:
        return _NO_TOKENS
    return reason_of(wrong)


def _place(wrong: Any, body: Any) -> list[str | int]:
    """The path to the field without the names of alternative types, which pydantic includes."""
    loc, is_missing = wrong["loc"][1:], wrong["type"] == "missing"
    if wrong["type"].startswith("union_tag"):
        loc, is_missing = (*loc, wrong["ctx"]["discriminator"].strip("'")), True
    names: list[str | int] = []
    value = body
    for place, name in enumerate(loc, start=1):
        if _has(value, name):
            value = value[name]
        elif place < len(loc) or not (is_missing and isinstance(value, dict)):
            continue
        names.append(name)
    return names


def _has(value: Any, name: str | int) -> bool:
    if isinstance(value, list):
        return isinstance(name, int) and name < len(value)
    return isinstance(value, dict) and name in value
