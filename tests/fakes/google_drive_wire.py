"""How Google's APIs speak: their errors and faults, parameters, and files sent in parts."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from tests.fakes.faults import PASSING, Fault
from tests.fakes.loopback import Answer, RefusedError, Request, json_answer

COMMON = frozenset({"alt", "fields", "prettyPrint", "quotaUser"})


class DriveFault(StrEnum):
    """Faults that Google alone shows, beside those of every server."""

    RATE = "403 rateLimitExceeded"
    USER_RATE = "403 userRateLimitExceeded"
    BAD_GATEWAY = "502"


DRIVE_FAULTS: tuple[Any, ...] = (*PASSING, *DriveFault)
"""All that pass when the same request is sent again."""

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
    """An answer that Google gives to a request that is well formed: its status and reason."""

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
    """The error that a fault sends in place of an answer; None: it spoils the answer itself.

    Only the API limits how fast it is asked by a 403: of the sign-in server it means no.
    """
    if fault in (DriveFault.RATE, DriveFault.USER_RATE) and not is_api:
        fault = Fault.UNAVAILABLE
    return ApiError(*_FAULTY[fault]) if fault in _FAULTY else None


def only_known(params: Mapping[str, str], *known: str) -> None:
    """Refuse what the call does not take.

    Raises:
        RefusedError: It names the parameter.
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


def sent(data: bytes, mime: str, request: Request) -> Answer:
    """A file, or the part of it that is asked for."""
    asked = request.headers.get("range")
    if asked is None:
        return Answer(200, data, mime)
    found = re.fullmatch(r"bytes=(\d+)-(\d*)", asked)
    if found is None:
        raise RefusedError(f"Range {asked}")
    start = int(found.group(1))
    if start >= len(data):
        return Answer(416, b"", mime, {"Content-Range": f"bytes */{len(data)}"})
    part = data[start : int(found.group(2) or len(data)) + 1]
    told = f"bytes {start}-{start + len(part) - 1}/{len(data)}"
    return Answer(206, part, mime, {"Content-Range": told})
