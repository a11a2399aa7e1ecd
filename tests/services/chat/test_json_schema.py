import re
from itertools import pairwise

import pytest

from services.chat.json_schema import schema_problem, violation_of


def properties(**schemas):
    return {"type": "object", "properties": schemas, "required": list(schemas)}


DRAFT_4 = "http://json-schema.org/draft-04/schema#"
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
LIST = {"$ref": "#/$defs/node", "$defs": {"node": {"type": "array", "items": {"$ref": "#"}}}}


@pytest.mark.parametrize(
    "schema",
    [
        {},
        properties(days={"type": "integer", "minimum": 0}),
        {"$schema": DRAFT_7, **properties(a={"type": "null"})},
        {"$schema": "https://unknown.example/schema", "type": "string"},
        properties(kind={"$ref": "#/$defs/kind"}) | {"$defs": {"kind": {"enum": ["a", "b"]}}},
        LIST,
        properties(code={"type": "string", "pattern": r"^\d{4}$"}),
        {"pattern": "a{99999999999999999999}"},
        {"dependencies": {"pattern": ["a"]}},
        {"dependencies": {"$id": ["a"]}},
        {"$schema": DRAFT_7, "dependencies": {"$id": ["a"], "b": {"pattern": "^b"}}},
        {"if": {"required": ["a"]}, "then": {"$ref": "#/else"}, "else": {"required": ["b"]}},
        {"$schema": DRAFT_4, "minimum": 1, "contains": 5},
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
            properties(a={"$schema": DRAFT_7}),
            ".schema is not supported",
        ),
        (properties(a={"$id": "http://127.0.0.1:1/schema"}), ".id is not supported"),
        (properties(a={"$ref": "#anchor"}), "does not contain"),
        ({"$schema": 5}, "5 is not of type 'string'"),
        ({"$schema": []}, "is not of type 'string'"),
        ({"$schema": "http://[", "type": 1}, "is not valid under"),
        ({"$schema": DRAFT_7, "$defs": {"a": {"pattern": 5}}}, "5 is not of type 'string'"),
        ({"$schema": DRAFT_4, "$ref": 5}, "5 is not of type 'string'"),
        ({"$schema": DRAFT_4, "items": {"id": "http://["}}, "id is not supported"),
        ({"pattern": "a{1001}"}, "pattern .* is not supported"),
        ({"$ref": "#/x-ui", "x-ui": {"type": "foo"}}, "does not contain a schema at"),
        ({"$ref": "#/title/x", "title": "A"}, "does not contain a schema at"),
        ({"$ref": "#/minimum/x", "minimum": 5}, "does not contain a schema at"),
        ({"unevaluatedProperties": False}, "unevaluatedProperties is not supported"),
        ({"items": {"unevaluatedItems": False}}, "unevaluatedItems is not supported"),
    ],
)
def test_the_problem_of_a_schema_is_named(schema, problem):
    assert re.search(problem, schema_problem(schema))


def test_a_property_may_be_called_like_a_keyword():
    schema = properties(**{"$ref": {"type": "string"}, "pattern": {"type": "string"}})
    assert schema_problem(schema) == ""
    assert violation_of(schema, {"$ref": "x", "pattern": "y"}) == ""


@pytest.mark.parametrize(
    "annotation",
    [
        {"x-ui": {"pattern": 5}},
        {"x-ui": {"$ref": 5}},
        {"x-ui": [{"$ref": "http://127.0.0.1:1/schema"}]},
        {"x-enumDescriptions": {"$id": "foo"}},
        {"x-minimum": {"$schema": "foo", "patternProperties": {"^x": {}}}},
        {"default": {"pattern": "(?=a)b"}},
        {"examples": [{"unevaluatedProperties": False}]},
    ],
)
def test_unknown_keywords_and_values_are_not_read_as_schemas(annotation):
    schema = {"type": "object", "properties": {"a": {"type": "integer", **annotation}}}
    assert schema_problem(schema) == ""
    assert violation_of(schema, {"a": 1}) == ""
    assert violation_of(schema, {"a": "1"}) == "'1' is not of type 'integer' ($.a)"


def test_a_schema_that_is_nested_too_deeply_has_a_problem():
    schema = {"type": "string"}
    for _ in range(100):
        schema = {"properties": {"a": schema}}
    assert schema_problem(schema) == "it is nested too deeply"


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


@pytest.mark.parametrize("schema_url", [DRAFT_7, None])
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


def nested(keyword):
    schema = {}
    for _ in range(30):
        schema = {"allOf": [schema], keyword: True}
    return schema


def doubled(keyword):
    """Each schema applies the next one twice, to the same value."""
    names = [f"a{n}" for n in range(31)]

    def both(reference):
        return {"x": {"$ref": reference}, "y": {"$ref": reference}}

    schemas = {
        name: {keyword: True, "dependentSchemas": both(f"#/$defs/{after}")}
        for name, after in pairwise(names)
    }
    return {"$ref": "#/$defs/a0", "$defs": schemas | {"a30": {}}}


@pytest.mark.parametrize("keyword", ["unevaluatedProperties", "unevaluatedItems"])
@pytest.mark.parametrize("schema_of", [nested, doubled])
def test_keywords_that_take_exponential_time_are_not_evaluated(keyword, schema_of):
    schema = schema_of(keyword)
    assert schema_problem(schema) == f"{keyword} is not supported"


@pytest.mark.parametrize(
    "branch", [{"enum": list(range(1_000))}, {"allOf": [{"minimum": 0}] * 1_000}]
)
def test_a_large_schema_for_many_values_is_too_complex(branch):
    schema = {"items": branch}
    assert schema_problem(schema) == ""
    assert violation_of(schema, [7] * 10) == ""
    assert "too complex" in violation_of(schema, [7] * 10_000)


def test_a_long_list_of_records_is_checked():
    record = properties(a={"type": "string"}, b={"type": "integer"}, c={"enum": ["x", "y"]})
    schema = {"type": "array", "items": record}
    values = [{"a": "a", "b": n, "c": "y"} for n in range(2_000)]
    assert violation_of(schema, values) == ""
    assert violation_of(schema, [*values, {"a": 1, "b": 1, "c": "x"}]).endswith("($[2000].a)")


def test_numbers_and_characters_that_json_allows_are_checked():
    assert "number that is too large" in violation_of({"multipleOf": 0.1}, 10**400)
    assert violation_of({"pattern": "^a"}, "\ud800") == "'\\ud800' does not match '^a' ($)"
    assert violation_of({"pattern": "^a"}, "a\ud800") == ""


def test_a_pattern_takes_linear_time():
    assert violation_of({"pattern": "^(a+)+$"}, "a" * 5_000 + "!").startswith("'aaaa")
