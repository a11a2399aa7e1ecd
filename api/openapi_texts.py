"""Excludes NUL characters from the texts of requests in the API's description."""

from collections.abc import Iterable, Iterator
from typing import Any

from api.field_types import NO_NUL

_RESTRICTIONS = {"enum", "const", "pattern", "format", "contentMediaType"}
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def exclude_nul(operations: Iterable[dict[str, Any]], schemas: dict[str, Any]) -> None:
    """Add the pattern `NO_NUL` to the texts and names in requests.

    Texts that are already restricted to certain values, a pattern, or a format are left as they
    are: their patterns must exclude NUL themselves.
    """
    visited: set[str] = set()
    for operation in operations:
        body = operation.get("requestBody", {}).get("content", {})
        for part in (*operation.get("parameters", ()), *body.values()):
            for schema in _parts(part["schema"], schemas, visited):
                _exclude(schema)


def _exclude(schema: dict[str, Any]) -> None:
    if schema.get("type") == "string" and not _RESTRICTIONS & schema.keys():
        schema["pattern"] = NO_NUL
    if isinstance(schema.get("additionalProperties"), dict):
        schema["propertyNames"] = {"pattern": NO_NUL}


def _parts(
    schema: dict[str, Any], schemas: dict[str, Any], visited: set[str]
) -> Iterator[dict[str, Any]]:
    """The schema and everything that it consists of; each named schema only once."""
    name = schema.get("$ref", "").rpartition("/")[2]
    if name in visited:
        return
    if name:
        visited.add(name)
        schema = schemas[name]
    yield schema
    alternatives = (one for kind in _ALTERNATIVES for one in schema.get(kind, ()))
    members = (schema.get("items"), schema.get("additionalProperties"))
    for part in (*schema.get("properties", {}).values(), *alternatives, *members):
        if isinstance(part, dict):
            yield from _parts(part, schemas, visited)
