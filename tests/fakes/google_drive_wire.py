"""Conventions of Google's APIs: errors, faults, parameters, and range downloads."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tests.fakes.faults import TRANSIENT_FAULTS, Fault
from tests.fakes.loopback import Answer, RefusedError, Request, json_answer

COMMON = frozenset({"alt", "fields", "prettyPrint", "quotaUser"})


class DriveFault(StrEnum):
    """Faults specific to Google, in addition to those of any server."""

    RATE = "403 rateLimitExceeded"
    USER_RATE = "403 userRateLimitExceeded"
    BAD_GATEWAY = "502"


DRIVE_FAULTS: tuple[Any, ...] = (*TRANSIENT_FAULTS, *DriveFault)
"""All faults that do not recur when the same request is sent again."""

_FAULTY = {
    DriveFault.RATE: (403, "rateLimitExceeded", "Rate Limit Exceeded"),
    DriveFault.USER_RATE: (403, "userRateLimitExceeded", "User Rate Limit Exceeded"),
    DriveFault.BAD_GATEWAY: (502, "backendError", "Bad Gateway"),
    Fault.TOO_MANY: (429, "rateLimitExceeded", "Too many requests"),
    Fault.TOO_MANY_RETRY_AFTER: (429, "rateLimitExceeded", "Too many requests"),
    Fault.FAILED: (500, "internalError", "Internal Error"),
    Fault.UNAVAILABLE: (503, "backendError", "Service Unavailable"),
}


class ApiError(Exception):
    """Google's error response to a well-formed request: status and reason."""

    def __init__(self, status: int, reason: str, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.status, self.reason, self.parameter = status, reason, parameter

    def answer(self, **headers: str) -> Answer:
        return json_answer(self.status, self.body(), **headers)

    def body(self) -> dict[str, Any]:
        one = {"message": str(self), "domain": "global", "reason": self.reason}
        if self.parameter:
            one |= {"location": self.parameter, "locationType": "parameter"}
        return {"error": {"code": self.status, "message": str(self), "errors": [one]}}


def not_found(file_id: str) -> ApiError:
    return ApiError(404, "notFound", f"File not found: {file_id}.", "fileId")


def fault_error(fault: Any, *, is_api: bool) -> ApiError | None:
    """The error response of a fault; None for faults that corrupt the response instead.

    Only the API uses 403 for rate limits; from the sign-in server a 403 is final.
    """
    if fault in (DriveFault.RATE, DriveFault.USER_RATE) and not is_api:
        fault = Fault.UNAVAILABLE
    return ApiError(*_FAULTY[fault]) if fault in _FAULTY else None


def only_known(params: Mapping[str, str], *known: str) -> None:
    """Refuse parameters that the call does not support.

    Raises:
        RefusedError: Names the parameter.
    """
    unknown = sorted(params.keys() - COMMON - set(known))
    if unknown:
        raise RefusedError(f"Invalid JSON payload received. Unknown name {unknown}")
    if params.get("alt", "json") not in ("json", "media"):
        raise RefusedError(f"Invalid value of alt: {params['alt']}")


def flag(params: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    value = params.get(name, str(default).lower())
    if value not in ("true", "false"):
        raise RefusedError(f"Invalid value of {name}: {value}")
    return value == "true"


def page_size(params: Mapping[str, str], most: int = 1000) -> int:
    value = params.get("pageSize", "100")
    if not value.isdigit() or not 1 <= int(value) <= most:
        raise RefusedError(f"Invalid value of pageSize: {value}. It must be within 1 and {most}.")
    return int(value)


def file_answer(data: bytes, mime: str, request: Request) -> Answer:
    """A file, or its requested range."""
    header = request.headers.get("range")
    if header is None:
        return Answer(200, data, mime)
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", header)
    if match is None:
        raise RefusedError(f"Range {header}")
    start = int(match.group(1))
    if start >= len(data):
        return Answer(416, b"", mime, {"Content-Range": f"bytes */{len(data)}"})
    part = data[start : int(match.group(2) or len(data)) + 1]
    content_range = f"bytes {start}-{start + len(part) - 1}/{len(data)}"
    return Answer(206, part, mime, {"Content-Range": content_range})
