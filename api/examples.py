"""Whole examples of bodies, put together from those of their fields."""

from collections.abc import Mapping
from typing import Any

_LACKING = object()
_MOMENT = "2026-03-01T09:00:00Z"
_PLAIN: Mapping[Any, Any] = {"boolean": True, "null": None}


class Examples:
    """Makes examples of the schemas of one description."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas

    def of(self, schema: Mapping[str, Any]) -> Any | None:
        """An example that the schema describes; None where a field that it needs has none.

        Fields give theirs as `examples`; what has a default, few values or may be empty needs none.
        """
        made = self._made(schema)
        return None if made is _LACKING else made

    def _made(self, schema: Mapping[str, Any]) -> Any:
        if "examples" in schema:
            return schema["examples"][0]
        if "$ref" in schema:
            return self._made(self._schemas[schema["$ref"].rpartition("/")[2]])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        if "default" in schema:
            return schema["default"]
        for kind in ("anyOf", "oneOf", "allOf"):
            if kind in schema:
                made = (self._made(one) for one in schema[kind])
                return next((one for one in made if one is not _LACKING), _LACKING)
        return self._of_type(schema)

    def _of_type(self, schema: Mapping[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                return self._object(schema)
            case "array":
                one = self._made(schema.get("items", {}))
                return [] if one is _LACKING and not schema.get("minItems") else [one]
            case "string":
                return self._text(schema)
            case "integer" | "number":
                return schema.get("minimum", 1)
            case kind:
                return _PLAIN.get(kind, _LACKING)

    def _text(self, schema: Mapping[str, Any]) -> Any:
        if schema.get("format") == "date-time":
            return _MOMENT
        # What may be empty mostly is, such as the reason why something failed.
        return _LACKING if {"pattern", "minLength", "format"} & schema.keys() else ""

    def _object(self, schema: Mapping[str, Any]) -> Any:
        made = {name: self._made(one) for name, one in schema.get("properties", {}).items()}
        if any(made.get(name, _LACKING) is _LACKING for name in schema.get("required", ())):
            return _LACKING
        return {name: one for name, one in made.items() if one is not _LACKING}
