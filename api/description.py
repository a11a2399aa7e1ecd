"""The description of the API (OpenAPI 3.1), with what no single operation says of itself."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI

from api.examples import Examples
from api.problems import Problem, problem_responses

_ABOUT = """\
Questions over your own documents, answered with the quotes that the answers rest on.

**Signing in.** Every operation but `health` and `ready` needs a key, sent as
`Authorization: Bearer fn-...`. `python cli.py api-key create NAME --scope read --scope ask` makes
one. Each operation says which scope it needs: `read` searches and reads, `ask` asks and keeps
conversations, judgements and people's preferences, `manage` changes sources, imports and documents;
none holds another. `python cli.py api-key revoke ID` ends a key at once. A key calls for one user
and sees that user's conversations and people only.

**Errors** are problem details (RFC 9457). `retryable` says whether the same request may succeed
later; `Retry-After` then says in how many seconds. A field or parameter that an operation below
`/api/v1` does not know is 422, so that none is lost. Elsewhere than described here the answer is
404, and 405 with `Allow` where an address knows other methods. Without a key all of that is 401.

**Bounds.** Each key may send so many requests a minute in each process; `RateLimit-Limit`,
`RateLimit-Remaining` and `RateLimit-Reset` tell where it stands, beyond it the answer is 429. JSON
bodies have at most 1 MiB, in UTF-8, and no text in them or in a query has the character NUL.

**Lists** come as `{"items": [...], "total": n}`, cut with `limit` and `offset`. Moments are
ISO 8601 in UTC, ids are opaque."""

TAGS = {
    "health": "Whether the process lives, and whether it can answer; without a key.",
    "search": "Passages without an answer.",
    "ask": "Questions and answers with checked quotes, whole or as they are written.",
    "catalogue": "Places of catalogues, questions about them, and people with their preferences.",
    "conversations": "Conversations with their turns: trees of questions and answers.",
    "feedback": "What people think of answers.",
    "labels": "Which passages are right for which questions.",
    "evaluation": "How well search and answers do, measured over labelled questions.",
    "sources": "Where documents come from.",
    "imports": "Bringing sources up to date: asked for, watched and steered.",
    "documents": "What was imported, and files that are given.",
    "openai": "The library as a model, in the protocol of OpenAI.",
}


def describe(app: FastAPI) -> None:
    """Complete the description that FastAPI derives from the operations, when it is first asked."""
    app.description = _ABOUT
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(made())
        return made()

    app.openapi = openapi  # type: ignore[method-assign]  # as FastAPI's own guide does


def _complete(description: dict[str, Any]) -> None:
    operations = list(_operations(description))
    for operation in operations:
        _tell(operation)
        _tell_problems(operation["responses"], operation)
    schemas = description.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = Problem.model_json_schema()
    _give_examples(operations, schemas)
    used = {tag for operation in operations for tag in operation["tags"]}
    description["tags"] = [
        {"name": name, "description": text} for name, text in TAGS.items() if name in used
    ]


def _operations(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in description["paths"].values():
        yield from methods.values()


def _tell(operation: dict[str, Any]) -> None:
    summary, _, more = operation.pop("description", "").partition("\n\n")
    keys = [scopes for one in operation.get("security", ()) for scopes in one.values()]
    needs = _needs(*keys[0]) if keys else "Needs no key."
    operation["summary"] = " ".join(summary.split()).rstrip(".")
    operation["description"] = f"{more}\n\n{needs}".strip()


def _needs(scope: str = "") -> str:
    return f"Needs a key with the scope `{scope}`." if scope else "Needs a key of any scope."


def _tell_problems(responses: dict[str, Any], operation: dict[str, Any]) -> None:
    if "requestBody" in operation:
        for status, told in problem_responses(413, 415).items():
            responses.setdefault(str(status), told)
    if "security" not in operation:
        for status in ("401", "403", "429"):
            responses.pop(status, None)
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]  # FastAPI's own, which nothing here answers with
    for status in sorted(responses):
        responses[status] = responses.pop(status)


def _give_examples(operations: list[dict[str, Any]], schemas: dict[str, Any]) -> None:
    examples = Examples(schemas)
    for operation in operations:
        for body in (operation.get("requestBody", {}), *operation["responses"].values()):
            content = body.get("content", {}).get("application/json")
            if content and "example" not in content and "examples" not in content:
                example = examples.of(content["schema"])
                content.update({} if example is None else {"example": example})
