"""Completes the OpenAPI 3.1 description that FastAPI derives from the operations."""

from collections.abc import Iterator, Mapping
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

from api.field_types import NO_NUL
from api.openai.openai_stream import ChatCompletionEvent
from api.openai.responses_stream import ResponseEvent
from api.problems import Problem, problem_responses

_MISSING = object()
_REFERENCE = "#/components/schemas/{model}"
_MOMENT = "2026-03-01T09:00:00Z"
_PLAIN_EXAMPLES: Mapping[Any, Any] = {"boolean": True, "null": None}


class Examples:
    """Builds examples of bodies from the examples of their fields."""

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        self._schemas = schemas

    def of(self, schema: Mapping[str, Any]) -> Any | None:
        """An example of the schema; None if a required field has no example.

        Fields declare them as `examples`; fields with a default, an enum, or a possibly empty
        value do not need one.
        """
        example = self._example(schema)
        return None if example is _MISSING else example

    def _example(self, schema: Mapping[str, Any]) -> Any:
        if "examples" in schema:
            return schema["examples"][0]
        if "$ref" in schema:
            return self._example(self._schemas[schema["$ref"].rpartition("/")[2]])
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return schema["enum"][0]
        if "default" in schema:
            return schema["default"]
        for kind in ("anyOf", "oneOf", "allOf"):
            if kind in schema:
                examples = (self._example(one) for one in schema[kind])
                return next((one for one in examples if one is not _MISSING), _MISSING)
        return self._of_type(schema)

    def _of_type(self, schema: Mapping[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                return self._object(schema)
            case "array":
                one = self._example(schema.get("items", {}))
                return [] if one is _MISSING and not schema.get("minItems") else [one]
            case "string":
                return self._text(schema)
            case "integer" | "number":
                return schema.get("minimum", 1)
            case kind:
                return _PLAIN_EXAMPLES.get(kind, _MISSING)

    def _text(self, schema: Mapping[str, Any]) -> Any:
        if schema.get("format") == "date-time":
            return _MOMENT
        # A string that may be empty usually is, such as the reason for a failure.
        return _MISSING if {"pattern", "minLength", "format"} & schema.keys() else ""

    def _object(self, schema: Mapping[str, Any]) -> Any:
        examples = {name: self._example(one) for name, one in schema.get("properties", {}).items()}
        if any(examples.get(name, _MISSING) is _MISSING for name in schema.get("required", ())):
            return _MISSING
        return {name: one for name, one in examples.items() if one is not _MISSING}


_INTRODUCTION = """\
Questions about your own documents, answered with verified quotes.

**Authentication.** Every operation except `health` and `ready` requires a key, sent as
`Authorization: Bearer fn-...`. `python cli.py api-key create NAME --scope read --scope ask` creates
one. Each operation states the scope that it requires: `read` searches and reads; `ask` asks
questions and stores conversations, judgments, and people's preferences; `manage` changes sources,
imports, and documents; `metrics` reads `/metrics`. No scope includes another.
`python cli.py api-key revoke ID` revokes a key immediately.
A key belongs to one user and sees only that user's conversations and people, and only the documents
that the user and the groups of the key may read. A server can also accept bearer tokens of an
OpenID provider; the role of the person then determines the scopes.

**Errors** are problem details (RFC 9457). `retryable` states whether the same request may succeed
later; if so, `Retry-After` gives the number of seconds. Operations below `/api/v1` reject unknown
fields and parameters with 422. Paths that are not described here return 404, and unsupported
methods 405 with `Allow`. Both are checked before the key; an operation that requires a key returns
401 without it.

**Limits.** Each key may send a limited number of requests per minute to each process;
`RateLimit-Limit`, `RateLimit-Remaining`, and `RateLimit-Reset` report the current state, and
further requests return 429. JSON bodies are limited to 1 MiB, in UTF-8, and query strings to
256 KiB; a longer query string returns 414. Texts in requests must not contain NUL characters.

**Streams** are server-sent events. The schema of a stream has three alternatives: the events as
they are sent, the JSON in their `data:` lines, for clients that parse it, and the whole stream as
text.

**Lists** are returned as `{"items": [...], "total": n}`, paged with `limit` and `offset`. Times are
ISO 8601 in UTC, and ids are opaque."""

TAGS = {
    "health": "Liveness and readiness, without a key.",
    "search": "Passages without an answer.",
    "ask": "Questions and answers with verified quotes, complete or streamed.",
    "catalog": "Places of catalogs, questions about them, and people with their preferences.",
    "conversations": "Conversations with their turns: trees of questions and answers.",
    "feedback": "Ratings of answers.",
    "labels": "Judgments of which passages are relevant to which questions.",
    "evaluation": "Search quality, measured over labeled questions.",
    "sources": "Where documents are imported from.",
    "imports": "Imports of sources: progress, results, and control.",
    "documents": "Imported documents, uploads, and failures.",
    "access": "Who may read sources, collections, and documents.",
    "openai": "The library as a model, in OpenAI's protocol.",
}


def describe(app: FastAPI) -> None:
    """Complete the description when it is first requested."""
    app.description = _INTRODUCTION
    build = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(build())  # in place: FastAPI stores the description
        return build()

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's own guide does


def _complete(description: dict[str, Any]) -> None:
    operations = list(_operations(description))
    for operation in operations:
        _complete_operation(operation)
        _complete_responses(operation["responses"], operation)
    schemas = description.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for model in (Problem, ChatCompletionEvent, ResponseEvent):
        _add_schema(schemas, model)
    _exclude_nul(operations, schemas)
    _complete_uploads(schemas)
    for operation in operations:
        _complete_streams(operation["responses"], schemas)
    _join_lines(description)
    _add_examples(operations, schemas)
    used = {tag for operation in operations for tag in operation["tags"]}
    description["tags"] = [
        {"name": name, "description": text} for name, text in TAGS.items() if name in used
    ]


def _add_schema(schemas: dict[str, Any], model: type[BaseModel]) -> None:
    schema = model.model_json_schema(ref_template=_REFERENCE, mode="serialization")
    for name, one in schema.pop("$defs", {}).items():
        schemas.setdefault(name, one)
    schemas[model.__name__] = schema


def _complete_uploads(schemas: dict[str, Any]) -> None:
    """Describe files in the way of OpenAPI 3.0 too, which client generators understand."""
    for schema in schemas.values():
        for field in schema.get("properties", {}).values():
            for one in (field, field.get("items", {})):
                if one.get("contentMediaType") == "application/octet-stream":
                    one["format"] = "binary"


def _complete_streams(responses: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Add what client generators make of a stream: its data, or its text."""
    content = responses.get("200", {}).get("content", {}).get("text/event-stream")
    if content is None:
        return
    name = content["schema"]["$ref"].rpartition("/")[2]
    kinds = schemas[name].get("anyOf", [content["schema"]])
    events = [schemas[one["$ref"].rpartition("/")[2]] for one in kinds]
    contents = [_content(one["properties"]["data"], schemas) for one in events]
    schemas[f"{name}Data"] = {"anyOf": contents, "description": "The data of an event, parsed."}
    references = [{"$ref": _REFERENCE.format(model=one)} for one in (name, f"{name}Data")]
    content["schema"] = {"anyOf": [*references, {"type": "string"}]}


def _content(data: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema of the data of an event; models become named schemas, which clients can use."""
    if "contentSchema" not in data:
        return data
    data["contentSchema"] = _by_name(data["contentSchema"], schemas)
    content: dict[str, Any] = data["contentSchema"]
    return content


def _by_name(schema: dict[str, Any], schemas: dict[str, Any]) -> dict[str, Any]:
    if schema.get("type") == "array":
        return {**schema, "items": _by_name(schema["items"], schemas)}
    if "$ref" in schema:
        return schema
    schemas.setdefault(schema["title"], schema)
    return {"$ref": _REFERENCE.format(model=schema["title"])}


def _join_lines(value: Any) -> None:
    """Join the lines of field descriptions, which are wrapped in the sources."""
    if isinstance(value, dict):
        for field in value.get("properties", {}).values():
            if isinstance(field.get("description"), str):
                field["description"] = " ".join(field["description"].split())
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        _join_lines(one)


def _operations(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in description["paths"].values():
        yield from methods.values()


def _complete_operation(operation: dict[str, Any]) -> None:
    summary, _, more = operation.pop("description", "").partition("\n\n")
    keys = [scopes for one in operation.get("security", ()) for scopes in one.values()]
    scope_note = _required_scope(*keys[0]) if keys else "Requires no key."
    operation["summary"] = " ".join(summary.split()).rstrip(".")
    operation["description"] = f"{more}\n\n{scope_note}".strip()


def _required_scope(scope: str = "") -> str:
    return f"Requires a key with the scope `{scope}`." if scope else "Requires a key of any scope."


def _complete_responses(responses: dict[str, Any], operation: dict[str, Any]) -> None:
    if "requestBody" in operation:
        for status, response in problem_responses(413, 415).items():
            responses.setdefault(str(status), response)
    if any(one["in"] == "query" for one in operation.get("parameters", ())):
        for status, response in problem_responses(414).items():
            responses.setdefault(str(status), response)
    if "security" not in operation:
        for status in ("401", "403", "429"):
            responses.pop(status, None)
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]  # FastAPI's default, which is never returned
    for status in sorted(responses):
        responses[status] = responses.pop(status)


def _add_examples(operations: list[dict[str, Any]], schemas: dict[str, Any]) -> None:
    examples = Examples(schemas)
    for operation in operations:
        for body in (operation.get("requestBody", {}), *operation["responses"].values()):
            content = body.get("content", {}).get("application/json")
            if content and "example" not in content and "examples" not in content:
                example = examples.of(content["schema"])
                content.update({} if example is None else {"example": example})


_RESTRICTIONS = {"enum", "const", "pattern", "format", "contentMediaType"}
_ALTERNATIVES = ("anyOf", "oneOf", "allOf")


def _exclude_nul(operations: list[dict[str, Any]], schemas: dict[str, Any]) -> None:
    """Add the pattern `NO_NUL` to the texts and names in requests.

    Texts that are already restricted to certain values, a pattern, or a format are left as they
    are: their patterns must exclude NUL themselves.
    """
    visited: set[str] = set()
    for operation in operations:
        body = operation.get("requestBody", {}).get("content", {})
        for part in (*operation.get("parameters", ()), *body.values()):
            for schema in _schema_parts(part["schema"], schemas, visited):
                _exclude_nul_in(schema)


def _exclude_nul_in(schema: dict[str, Any]) -> None:
    if schema.get("type") == "string" and not _RESTRICTIONS & schema.keys():
        schema["pattern"] = NO_NUL
    if isinstance(schema.get("additionalProperties"), dict):
        schema["propertyNames"] = {"pattern": NO_NUL}


def _schema_parts(
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
            yield from _schema_parts(part, schemas, visited)
