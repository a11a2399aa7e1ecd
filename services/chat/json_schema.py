"""Checks JSON Schemas of callers, and values against them, without requests and in few steps."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

MAX_STEPS = 100_000
"""The maximum number of steps of one check: keywords, and members of their lists and objects."""
_SHOWN_CHARS = 300
_OF_ROOT = ("$schema", "$id", "id")
_UNSUPPORTED = (
    "$schema",
    "$id",
    "$dynamicRef",
    "$recursiveRef",
    "patternProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
)
"""Keywords that are not supported within a schema.

They would change how it is checked, or take exponential time.
"""
_BY_NAME = ("$defs", "definitions", "dependencies", "dependentSchemas", "properties")
"""Keywords with schemas by name."""
_APPLICATORS = (
    *("additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "else", "if"),
    *("items", "not", "oneOf", "prefixItems", "propertyNames", "then"),
)
"""Keywords with a schema or a list of schemas."""
_EVALUATED_BY = {"then": "if", "else": "if", "$defs": "$ref", "definitions": "$ref"}
"""Keywords whose schemas another keyword evaluates."""


class _TooComplexError(Exception):
    """A check took too many steps."""


def schema_problem(schema: Mapping[str, Any]) -> str:
    """Why this is not a JSON Schema that values can be checked with, or "" if it is.

    Schemas of drafts 4, 6, 7, 2019-09, and 2020-12 are read as such, and all others as 2020-12.
    This may take seconds for a schema of 100,000 characters.
    """
    draft, root = _draft(schema), _root(schema)
    try:
        # The meta-schema's formats are not checked: RE2 reads patterns, and no address is followed.
        error = next(draft(_meta_schema(draft)).iter_errors(schema), None)
        return _shown(error) if error else next(_problems(draft, root), "")
    except RecursionError:
        return "it is nested too deeply"


def violation_of(schema: Mapping[str, Any], value: Any) -> str:
    """Where and why the value does not match a schema without problems, or "" if it matches."""
    try:
        error = next(_validator(schema).iter_errors(value), None)
    except (_TooComplexError, RecursionError):
        return "it can't be checked, because the schema is too complex"
    except OverflowError:
        return "it can't be checked, because it contains a number that is too large"
    return _shown(error) if error else ""


def _shown(error: Any) -> str:
    return f"{error.message[:_SHOWN_CHARS]} ({error.json_path})"


def _draft(schema: Mapping[str, Any]) -> Any:
    from jsonschema import validators  # type: ignore[import-untyped]

    older = (
        validators.Draft4Validator,
        validators.Draft6Validator,
        validators.Draft7Validator,
        validators.Draft201909Validator,
    )
    by_url = {draft.ID_OF(draft.META_SCHEMA).rstrip("#"): draft for draft in older}
    url = str(schema.get("$schema")).rstrip("#")
    return by_url.get(url, validators.Draft202012Validator)


def _meta_schema(draft: Any) -> dict[str, Any]:
    """The schema of the draft's schemas; those of older drafts may contain `$defs`, too."""
    rules = draft.META_SCHEMA["properties"]
    if "type" not in rules:  # since 2019-09, the rules are in vocabularies
        return dict(draft.META_SCHEMA)
    newer = {"$ref": {"type": "string"}, "$defs": rules["definitions"]}
    return {**draft.META_SCHEMA, "properties": {**rules, **newer}}


def _root(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name not in _OF_ROOT}


def _validator(schema: Mapping[str, Any]) -> Any:
    from jsonschema.validators import extend  # type: ignore[import-untyped]
    from referencing import Registry

    draft, root = _draft(schema), _root(schema)
    own = {"$ref": partial(_follow, _resolver(root)), "pattern": _match}
    steps = _Steps()
    keywords = {
        name: partial(steps.evaluate, keyword)
        for name, keyword in {**draft.VALIDATORS, **own}.items()
    }
    # Without a registry of its own, the library would request the addresses of references.
    return extend(draft, keywords)(root, registry=Registry())


@dataclass
class _Steps:
    """Counts the steps of a check."""

    rest: int = MAX_STEPS

    def evaluate(
        self, keyword: Any, validator: Any, expected: Any, value: Any, schema: Any
    ) -> Iterator[Any]:
        """The errors of the keyword; raises _TooComplexError if too few steps are left."""
        self.rest -= 1 + (len(expected) if isinstance(expected, list | dict) else 0)
        if self.rest < 0:
            raise _TooComplexError
        yield from keyword(validator, expected, value, schema) or ()


def _follow(
    resolver: Any, validator: Any, reference: str, value: Any, _schema: object
) -> Iterator[Any]:
    yield from validator.descend(value, resolver.lookup(reference).contents)


def _match(_validator: object, pattern: str, value: object, _schema: object) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError  # type: ignore[import-untyped]

    # As bytes, because RE2 does not read the lone surrogates that JSON may contain.
    if isinstance(value, str) and not _compiled(pattern).search(value.encode(errors="replace")):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


def _problems(draft: Any, root: Mapping[str, Any]) -> Iterator[str]:
    """Why values can't be checked with a valid schema."""
    parts = list(_parts(draft, root))
    known = {id(part) for part in parts}
    resolver = _resolver(root)
    for part in parts:
        yield from (f"{name} is not supported" for name in part if _is_unsupported(draft, name))
        if (pattern := part.get("pattern")) is not None and _compiled(pattern) is None:
            yield f"the pattern {pattern[:_SHOWN_CHARS]!r} is not supported"
        if (reference := part.get("$ref")) is not None:
            target = _target(resolver, reference)
            if id(target) not in known and not isinstance(target, bool):
                yield f"the schema does not contain a schema at {reference[:_SHOWN_CHARS]!r}"


def _is_unsupported(draft: Any, name: str) -> bool:
    is_id = name == "id" and "const" not in draft.VALIDATORS  # in draft 4
    return is_id or name in _UNSUPPORTED


def _parts(draft: Any, schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and all schemas in it, without those that are only `true` or `false`."""
    if not isinstance(schema, dict):
        return
    yield schema
    for name, value in schema.items():
        if _EVALUATED_BY.get(name, name) not in draft.VALIDATORS:
            continue
        if name in _BY_NAME:
            schemas = value.values()
        elif name in _APPLICATORS:
            schemas = value if isinstance(value, list) else [value]
        else:
            continue
        for one in schemas:
            yield from _parts(draft, one)


def _resolver(root: Mapping[str, Any]) -> Any:
    """Looks up references in the schema, and only there; raises Unresolvable otherwise."""
    from referencing import Registry, Resource

    return Registry().resolver_with_root(Resource.opaque(root))


def _target(resolver: Any, reference: str) -> Any:
    """What a reference to a part of the schema leads to; None if to nothing."""
    from referencing.exceptions import Unresolvable

    if reference != "#" and not reference.startswith("#/"):
        return None
    try:
        return resolver.lookup(reference).contents
    except (Unresolvable, TypeError, ValueError):  # the latter two: names in a list or a number
        return None


def _compiled(pattern: str) -> Any:
    """The pattern for a search in linear time, unlike Python's `re`; None if not supported."""
    import re2  # type: ignore[import-untyped]

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error:
        return None
