"""What an OpenAI-compatible server checks of a requested format."""

import json
import re

from jsonschema import Draft202012Validator

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
FIELDS = {"name", "description", "schema", "strict"}


def wrong_format(body: dict) -> str | None:
    """The first error in the response format; None if it is valid."""
    chosen = body.get("response_format")
    if chosen is None:
        return None if "response_format" not in body else "response_format is null"
    match chosen.get("type"):
        case "json_object":
            # As OpenAI does, because the model may otherwise write white space forever.
            has_word = "json" in json.dumps(body["messages"]).lower()
            return None if has_word else "json_object needs the word json in the messages"
        case "json_schema":
            return _wrong_schema(chosen)
        case kind:
            return f"no such response_format: {kind!r}"


def _wrong_schema(chosen: dict) -> str | None:
    if set(chosen) != {"type", "json_schema"}:
        return f"response_format has the fields {sorted(chosen)}"
    named = chosen["json_schema"]
    if set(named) - FIELDS or not NAME.fullmatch(named.get("name", "")):
        return f"json_schema has the fields {sorted(named)}, with the name {named.get('name')!r}"
    Draft202012Validator.check_schema(named.get("schema", {}))
    return None
