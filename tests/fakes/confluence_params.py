"""Strict parsing of Confluence request parameters, and error responses."""

import base64
import json
from typing import Any

from tests.fakes.confluence_shapes import EXPANDS
from tests.fakes.loopback import Answer, RefusedError, json_answer

MAX_LIMIT, MAX_LIMIT_WITH_BODY, DEFAULT_LIMIT = 200, 50, 25
STATUSES = frozenset({"current", "trashed", "archived", "draft"})


class Params:
    """The parameters of a request; `all_used` refuses those that were never read."""

    def __init__(self, path: str, values: dict[str, str]):
        self.path, self.values = path, values
        self._used: set[str] = set()

    def text(self, name: str, default: str | None = None) -> str:
        self._used.add(name)
        value = self.values.get(name, default)
        if value is None:
            raise RefusedError(f"the parameter {name} is missing")
        return value

    def present(self, *names: str) -> dict[str, str]:
        """Those of these parameters that the request has."""
        self._used.update(names)
        return {name: self.values[name] for name in names if name in self.values}

    def number(self, name: str, default: int) -> int:
        text = self.text(name, str(default))
        if not text.isdecimal():
            raise RefusedError(f"{name} is no number: {text!r}")
        return int(text)

    def limit(self) -> int:
        """Results per page: the requested limit, capped at the maximum."""
        with_body = any(part.startswith("body") for part in self.expand())
        requested = self.number("limit", DEFAULT_LIMIT)
        if requested == 0:
            raise RefusedError("limit must be greater than 0")
        return min(requested, MAX_LIMIT_WITH_BODY if with_body else MAX_LIMIT)

    def expand(self) -> frozenset[str]:
        parts = frozenset(part.strip() for part in self.text("expand", "").split(",")) - {""}
        if not parts <= EXPANDS:
            raise RefusedError(f"can't expand {sorted(parts - EXPANDS)}")
        return parts

    def statuses(self) -> frozenset[str]:
        """Requested statuses; "current" by default."""
        requested = frozenset(self.text("status", "current").split(","))
        return STATUSES if requested == {"any"} else _known(requested)

    def searched_statuses(self) -> frozenset[str]:
        """Requested statuses of a search, from `cqlcontext`."""
        context = _json(self.text("cqlcontext", "{}"))
        if not isinstance(context, dict) or context.keys() - {"contentStatuses"}:
            raise RefusedError(f"the fake knows only contentStatuses in cqlcontext, not {context}")
        return _known(frozenset(context.get("contentStatuses", ["current"])))

    def flag(self, name: str) -> bool:
        text = self.text(name, "false").lower()
        if text not in ("true", "false"):
            raise RefusedError(f"{name} is neither true nor false: {text!r}")
        return text == "true"

    def place(self, cql: str) -> int:
        """The offset of a result page: from Cloud's cursor, or from start."""
        start, cursor_text = self.number("start", 0), self.text("cursor", "")
        self.present("next")
        if not cursor_text:
            return start
        place, searched = _json(base64.urlsafe_b64decode(cursor_text))
        if searched != cql:
            raise RefusedError("the cursor belongs to another search")
        return place

    def all_used(self) -> None:
        unknown = self.values.keys() - self._used
        if unknown:
            raise RefusedError(f"there is no parameter {sorted(unknown)}")


def cursor(place: int, cql: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([place, cql]).encode()).decode()


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise RefusedError(f"unreadable: {text!r}") from error


def _known(statuses: frozenset[str]) -> frozenset[str]:
    if not statuses <= STATUSES:
        raise RefusedError(f"there is no status {sorted(statuses - STATUSES)}")
    return statuses


def basic(user: str, secret: str) -> str:
    """An Authorization header with a user and a password or token."""
    return "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()


def error(status: int, message: str) -> Answer:
    """An error in Confluence's format."""
    data = {"authorized": status != 403, "valid": True, "errors": [], "successful": False}
    return json_answer(status, {"statusCode": status, "data": data, "message": message})


def no_content(id: str) -> Answer:
    """Missing and invisible content look the same."""
    return error(404, f"No content found with id: ContentId{{id={id}}}")
