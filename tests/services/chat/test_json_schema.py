import re

import pytest

from services.chat.json_schema import schema_problem, violation_of


def properties(**schemas):
    return {"type": "object", "properties": schemas, "required": list(schemas)}


LIST = {"$ref": "#/$defs/node", "$defs": {"node": {"type": "array", "items": {"$ref": "#"}}}}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        properties(days={"type": "integer", "minimum": 0}),
        {"$schema": "http://json-schema.org/draft-07/schema#", **properties(a={"type": "null"})},
        {"$schema": "https://unknown.example/schema", "type": "string"},
        properties(kind={"$ref": "#/$defs/kind"}) | {"$defs": {"kind": {"enum": ["a", "b"]}}},
        LIST,
        properties(code={"type": "string", "pattern": r"^\d{4}$"}),
    ],
)
def test_schemas_of_common_libraries_have_no_problem(schema):
    assert schema_problem(schema) == ""


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "objekt"}, "is not valid under|is not of type"),
        ({"properties": []}, "is not valid under|is not of type"),
        ({"pattern": "("}, "is not a .regex.|pattern"),
        ({"pattern": r"(?=a)b"}, "pattern .* is not supported"),
        ({"patternProperties": {"^x": {}}}, "patternProperties is not supported"),
        (properties(a={"$dynamicRef": "#x"}), "dynamicRef is not supported"),
        (properties(a={"$ref": "#/$defs/missing"}), "does not contain"),
        (properties(a={"$ref": "http://127.0.0.1:1/schema"}), "does not contain"),
        (properties(a={"$ref": "file:///etc/passwd"}), "does not contain"),
        (
            properties(a={"$schema": "http://json-schema.org/draft-07/schema#"}),
            ".schema is not supported",
        ),
        (properties(a={"$id": "http://127.0.0.1:1/schema"}), ".id is not supported"),
        (properties(a={"$ref": "#anchor"}), "does not contain"),
    ],
)
def test_the_problem_of_a_schema_is_named(schema, problem):
    assert re.search(problem, schema_problem(schema))


def test_a_property_may_be_called_like_a_keyword():
    schema = properties(**{"$ref": {"type": "string"}, "pattern": {"type": "string"}})
    assert schema_problem(schema) == ""
    assert violation_of(schema, {"$ref": "x", "pattern": "y"}) == ""


def test_a_value_is_compared_with_the_schema():
    schema = properties(days={"type": "integer"}, code={"type": "string", "pattern": "^a+$"})
    assert violation_of(schema, {"days": 2, "code": "aa"}) == ""
    assert violation_of(schema, {"days": 2}) == "'code' is a required property ($)"
    assert violation_of(schema, {"days": "2", "code": "a"}).endswith("($.days)")
    assert violation_of(schema, {"days": 2, "code": "b"}) == "'b' does not match '^a+$' ($.code)"


def test_references_are_followed():
    assert violation_of(LIST, [[], [[]]]) == ""
    assert "is not of type 'array'" in violation_of(LIST, [[], [1]])


def test_a_long_value_is_shortened():
    assert len(violation_of({"type": "integer"}, "x" * 100_000)) < 400


@pytest.mark.parametrize("schema_url", ["http://json-schema.org/draft-07/schema#", None])
def test_a_schema_that_never_ends_is_not_followed_forever(schema_url):
    both = [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]
    doubling = {"$ref": "#/$defs/a", "$defs": {"a": {"type": "array", "items": {"anyOf": both}}}}
    if schema_url:
        doubling["$schema"] = schema_url
    value = 1
    for _ in range(40):
        value = [value]
    assert schema_problem(doubling) == ""
    assert "too complex" in violation_of(doubling, value)
    assert "too complex" in violation_of({"$ref": "#"}, 1)


def test_a_pattern_takes_linear_time():
    assert violation_of({"pattern": "^(a+)+$"}, "a" * 5_000 + "!").startswith("'aaaa")
