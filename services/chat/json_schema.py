"""Checks JSON Schemas of callers, and values against them, without requests and in limited time."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any

MAX_REFERENCES = 10_000
"""The maximum number of references that one check follows: they may multiply or never end."""
_SHOWN_CHARS = 300
_OF_ROOT = ("$schema", "$id")
_UNSUPPORTED = (*_OF_ROOT, "$dynamicRef", "$recursiveRef", "patternProperties")
"""Keywords that are not supported within a schema: they would change how it is checked."""
_BY_NAME = ("properties", "$defs", "definitions", "dependentSchemas")
_VALUES = ("enum", "const", "default", "examples")


class _TooComplexError(Exception):
    """A check followed too many references."""


def schema_problem(schema: Mapping[str, Any]) -> str:
    """Why this is not a JSON Schema that values can be checked with, or "" if it is.

    This may take seconds for a schema of 100,000 characters.
    """
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]

    try:
        _draft(schema).check_schema(schema)
    except SchemaError as error:
        return f"{error.message[:_SHOWN_CHARS]} ({error.json_path})"
    return next(_problems(_root(schema)), "")


def violation_of(schema: Mapping[str, Any], value: Any) -> str:
    """Where and why the value does not match a schema without problems, or "" if it matches."""
    from referencing.exceptions import Unresolvable

    try:
        error = next(_validator(schema).iter_errors(value), None)
    except (_TooComplexError, RecursionError, Unresolvable):
        return "it can't be checked, because the schema is too complex"
    return "" if error is None else f"{error.message[:_SHOWN_CHARS]} ({error.json_path})"


def _draft(schema: Mapping[str, Any]) -> Any:
    from jsonschema.validators import (  # type: ignore[import-untyped]
        Draft202012Validator,
        validator_for,
    )

    return validator_for(schema, default=Draft202012Validator)


def _root(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in _OF_ROOT}


def _validator(schema: Mapping[str, Any]) -> Any:
    from jsonschema.validators import extend
    from referencing import Registry

    draft = _draft(schema)
    keywords = {"$ref": partial(_follow, draft.VALIDATORS["$ref"], count(1)), "pattern": _match}
    # Without a registry of its own, the library would request the addresses of references.
    return extend(draft, keywords)(_root(schema), registry=Registry())


def _follow(follow: Any, numbers: "count[int]", *arguments: Any) -> Iterator[Any]:
    if next(numbers) > MAX_REFERENCES:
        raise _TooComplexError
    yield from follow(*arguments)


def _match(_validator: object, pattern: str, value: object, _schema: object) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(value, str) and not _compiled(pattern).search(value):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _problems(schema: Mapping[str, Any]) -> Iterator[str]:
    """The keywords of a valid schema that are not supported."""
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    resolver = Registry().resolver_with_root(DRAFT202012.create_resource(schema))
    for name, value in _keywords(schema):
        if name in _UNSUPPORTED:
            yield f"{name} is not supported"
        elif name == "pattern" and _compiled(value) is None:
            yield f"the pattern {value[:_SHOWN_CHARS]!r} is not supported"
        elif name == "$ref" and not _leads_somewhere(resolver, value):
            yield f"the schema does not contain {value[:_SHOWN_CHARS]!r}"


def _compiled(pattern: str) -> Any:
    """The pattern for a search in linear time, unlike Python's `re`; None if not supported."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None


def _leads_somewhere(resolver: Any, reference: str) -> bool:
    from referencing.exceptions import Unresolvable

    if reference != "#" and not reference.startswith("#/"):
        return False
    try:
        resolver.lookup(reference)
    except Unresolvable:
        return False
    return True


def _keywords(schema: Any) -> Iterator[tuple[str, Any]]:
    """The keywords in a schema and in all parts of it, with their values."""
    for part in schema if isinstance(schema, list) else [schema]:
        for name, value in part.items() if isinstance(part, dict) else ():
            yield name, value
            if name in _BY_NAME:
                yield from _keywords(list(value.values()))
            elif name not in _VALUES:
                yield from _keywords(value)
