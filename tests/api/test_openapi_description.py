"""The description of the API conforms to OpenAPI and to the rules of the project."""

import json
import re

import pytest
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator
from schemathesis.specs.openapi.definitions import OPENAPI_31

from api.application import make_app
from api.field_types import PATTERN_MESSAGES
from api.problems import MEDIA_TYPE, Problem, ProblemError, problem_of_error
from domain import ApiScope

DESCRIPTION = "/api/v1/openapi.json"
OPENAI = "/v1/"


@pytest.fixture(scope="module")
def served_text():
    """Contains the description as soon as a test needs it; it depends on the code only."""
    return []


@pytest.fixture
def description(build_services, served_text):
    if not served_text:
        served_text.append(TestClient(make_app(build_services())).get(DESCRIPTION).text)
    return json.loads(served_text[0])


@pytest.fixture
def operations(description):
    return [
        (f"{method.upper()} {path}", operation)
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_description_is_valid_openapi(description):
    assert description["openapi"].startswith("3.1")
    errors = Draft202012Validator(OPENAPI_31).iter_errors(description)
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_schema_names_are_unique(description):
    names = description["components"]["schemas"]
    assert [name for name in names if "__" in name] == []


def test_the_schemas_are_valid(description):
    for schema in description["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)


def test_each_pattern_has_an_error_message(description):
    def patterns(value):
        if isinstance(value, dict):
            yield from [value["pattern"]] if isinstance(value.get("pattern"), str) else ()
            value = list(value.values())
        if isinstance(value, list):
            for one in value:
                yield from patterns(one)

    checked_by_the_service = r"^[^:\x00]+:[^\x00]*$"
    assert {*patterns(description)} == {*PATTERN_MESSAGES, checked_by_the_service}


def test_the_description_explains_authentication(description):
    assert "Authorization: Bearer" in description["info"]["description"]
    [scheme] = description["components"]["securitySchemes"].values()
    assert (scheme["type"], scheme["scheme"]) == ("http", "bearer")


def test_each_operation_has_a_unique_id_and_a_summary(operations):
    names = [operation["operationId"] for _, operation in operations]
    assert len(set(names)) == len(names)
    for label, operation in operations:
        assert re.fullmatch("[a-z_]+", operation["operationId"]), label
        assert 8 <= len(operation["summary"]) <= 120, label
        assert len(operation["tags"]) == 1, label


def test_each_tag_is_described_and_used(description, operations):
    described = [tag["name"] for tag in description["tags"] if tag["description"]]
    assert sorted(described) == sorted({operation["tags"][0] for _, operation in operations})


def test_each_operation_says_which_scope_it_needs(operations):
    free, any_key = [], []
    for label, operation in operations:
        keys = operation.get("security", ())
        scopes = [scope for one in keys for scope in one["ApiKey"]]
        if not keys:
            free.append(label)
        elif not scopes:
            any_key.append(label)
            assert "a key of any scope" in operation["description"], label
        else:
            assert set(scopes) <= set(ApiScope), label
            assert f"scope `{scopes[0]}`" in operation["description"], label
    assert free == ["GET /api/v1/health", "GET /api/v1/ready"]
    assert any_key == ["GET /v1/models", "GET /v1/models/{model}"]


def test_each_operation_documents_its_problems(operations):
    for label, operation in operations:
        statuses = {status for status in operation["responses"] if status >= "400"}
        expected = {"422"}
        if "security" in operation:
            expected |= {"401", "403", "429", "500", "503"}
        if "requestBody" in operation:
            expected |= {"413", "415"}
        if any(is_free(one) for one in operation.get("parameters", ()) if one["in"] == "path"):
            expected |= {"404"}
        if f" {OPENAI}" in label:  # OpenAI's clients expect 400 for invalid requests
            expected = expected - {"422"} | {"400"}
        assert expected <= statuses, f"{label} lacks {expected - statuses}"


def is_free(parameter):
    return not {"enum", "const", "$ref"} & parameter["schema"].keys()


def test_problems_have_their_own_schema_and_media_type(operations):
    for label, operation in operations:
        if f" {OPENAI}" in label:
            continue
        for status, response in operation["responses"].items():
            if status >= "400":
                [(kind, content)] = response["content"].items()
                assert (kind, content["schema"]) == (
                    MEDIA_TYPE,
                    {"$ref": "#/components/schemas/Problem"},
                ), f"{label} {status}"


def test_the_schema_of_problems_matches_their_content(description):
    problem = problem_of_error(ProblemError(404, "There is none.")).model_dump()
    schema = description["components"]["schemas"]["Problem"]
    assert set(schema["properties"]) == set(problem) == set(Problem.model_fields)
    Draft202012Validator(schema).validate(problem)


def test_each_body_has_a_valid_example(description, operations):
    problems = []
    for label, operation in operations:
        for side, content in bodies(operation):
            examples = (
                [content["example"]]
                if "example" in content
                else [one["value"] for one in content.get("examples", {}).values()]
            )
            schema = {**content["schema"], "components": description["components"]}
            errors = [
                f"{error.json_path}: {error.message}"
                for example in examples
                for error in Draft202012Validator(schema).iter_errors(example)
            ]
            problems += [f"{label} {side} {one}" for one in errors or [] if examples]
            problems += [] if examples else [f"{label} {side} has none"]
    assert not problems, "\n".join(problems)


def bodies(operation):
    for side, body in [
        ("takes", operation.get("requestBody", {})),
        *operation["responses"].items(),
    ]:
        content = body.get("content", {}).get("application/json", {})
        if side < "300" or side == "takes":
            yield from [(side, content)] if content.get("schema") else []


def test_each_property_parameter_and_response_has_a_description(description, operations):
    missing = [
        f"{name}.{field}"
        for name, schema in description["components"]["schemas"].items()
        for field, definition in schema.get("properties", {}).items()
        if not definition.get("description")
    ]
    for label, operation in operations:
        parts = [(one["name"], one) for one in operation.get("parameters", ())]
        parts += operation["responses"].items()
        missing += [f"{label} {name}" for name, part in parts if not part.get("description")]
    assert not missing, "\n".join(missing)


def parts_of(schema, description, visited):
    """The schema and everything that it consists of."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in visited:
            return
        visited.add(name)
        schema = description["components"]["schemas"][name]
    yield schema
    parts = [*schema.get("properties", {}).values(), *schema.get("anyOf", ())]
    parts += schema.get("oneOf", [])
    parts += [schema[name] for name in ("items", "additionalProperties") if name in schema]
    for part in parts:
        if isinstance(part, dict):
            yield from parts_of(part, description, visited)


def request_schemas(description, operations):
    visited = set()
    for _, operation in operations:
        contents = operation.get("requestBody", {}).get("content", {}).values()
        for part in (*operation.get("parameters", ()), *contents):
            yield from parts_of(part["schema"], description, visited)


def test_no_text_of_a_request_may_contain_nul(description, operations):
    texts = 0
    for schema in request_schemas(description, operations):
        if schema.get("type") == "string" and not {"enum", "const", "format"} & schema.keys():
            texts += 1
            validator = Draft202012Validator(schema)
            assert not validator.is_valid("x\0"), schema
            assert not validator.is_valid("x:\0:2026-01-01"), schema
        if isinstance(schema.get("additionalProperties"), dict):
            assert not Draft202012Validator(schema["propertyNames"]).is_valid("x\0"), schema
    assert texts > 100


def test_files_of_uploads_are_binary(description):
    for name, field in (("UploadForm", "files"), ("Body_import_conversation", "file")):
        schema = description["components"]["schemas"][name]["properties"][field]
        assert schema.get("items", schema)["format"] == "binary", name


def test_streams_describe_their_events_their_data_and_their_text(description, operations):
    streams = {}
    for label, operation in operations:
        content = operation["responses"].get("200", {}).get("content", {})
        if "text/event-stream" in content:
            streams[label] = content["text/event-stream"]["schema"]
    assert len(streams) == 5
    events = {
        "POST /api/v1/ask/stream": {"event": "token", "data": '{"text": "25"}'},
        "POST /api/v1/chat/search/stream": {"event": "token", "data": '{"text": "25"}'},
        "GET /api/v1/imports/{import_id}/events": {"event": "gone", "data": '{"detail": "x"}'},
        "POST /v1/chat/completions": {"data": "[DONE]"},
        "POST /v1/responses": {
            "event": "response.created",
            "data": '{"type": "response.created", "sequence_number": 0}',
        },
    }
    for label, schema in streams.items():
        event = events[label]
        whole = {**schema, "components": description["components"]}
        validator = Draft202012Validator(whole)
        assert validator.is_valid(event), label
        assert validator.is_valid("data: ...")
        assert not validator.is_valid({**event, "data": 1}), label
        if "event" in event:
            assert validator.is_valid(json.loads(event["data"])), label
            assert not validator.is_valid({**event, "event": "other"}), label


def test_long_query_strings_are_documented(operations):
    for label, operation in operations:
        has_query = any(one["in"] == "query" for one in operation.get("parameters", ()))
        assert ("414" in operation["responses"]) == has_query, label
