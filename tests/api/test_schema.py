"""Requests that the description allows, and many that it forbids, sent to the real app.

All checks of schemathesis: no 5xx; no undocumented status, media type, or schema; what the schema
allows is accepted, and what it forbids is rejected; nothing is accessible without a key; deleted
resources are not found.
"""

import re
import socket
from collections import Counter

import pytest
import schemathesis
from pytest_socket import SocketConnectBlockedError
from schemathesis.config import (
    CheckConfig,
    ChecksConfig,
    ExtraDataSourcesConfig,
    FuzzingPhaseConfig,
    GenerationConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)
from schemathesis.engine import Status, events, from_schema
from schemathesis.generation.meta import TestPhase

from api.application import PREFIX, make_app
from api.field_types import NO_NUL, NOT_BLANK
from api.openapi_description import TAGS
from tests.api.conftest import bearer

EXAMPLES = 20
NO_TURN = re.compile("there is no turn|A turn belongs to a conversation", re.IGNORECASE)
UNDECLARED = re.compile(
    "need a chat model|followed by one result|in `tools`|Two tools are named|Schema can't be used"
    "|The question is empty"
)
"""Rejections of OpenAI requests whose fields contradict each other, whose last question is blank,
or that need a chat model."""
SEED = 6
ONE_CHARACTER = NOT_BLANK.removeprefix(r"^[^\x00]*").removesuffix(r"[^\x00]*$")
"""Like `NOT_BLANK`, for texts without NUL."""
REJECTIONS = ("400", "401", "403", "404", "405", "409", "413", "414", "415", "422", "429")
"""Statuses of rejected requests; schemathesis omits those for long lists."""

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def network_refuses(monkeypatch):
    """Connections to generated addresses ("0") are refused instead of failing the test."""
    connect = socket.socket.connect

    def connect_or_refuse(self, *address):
        try:
            return connect(self, *address)
        except SocketConnectBlockedError as error:
            raise ConnectionRefusedError(str(error)) from error

    monkeypatch.setattr(socket.socket, "connect", connect_or_refuse)


@pytest.fixture
def schema(imported):
    """The description of the app, for a library with the handbook.

    The rate limit must not reject requests.
    """
    return schema_of(imported(api_requests_per_minute=1_000_000))


def schema_of(services, *, with_nul=False):
    """The description of the app; unless `with_nul`, generated texts contain no NUL.

    Patterns that exclude it make texts slow to generate, so they are then removed.
    """
    project = ProjectConfig(
        headers=bearer(services),
        continue_on_failure=True,
        request_timeout=120,
        generation=GenerationConfig(max_examples=EXAMPLES, deterministic=True, allow_x00=with_nul),
        checks=ChecksConfig(negative_data_rejection=CheckConfig(expected_statuses=REJECTIONS)),
    )
    config = SchemathesisConfig(projects=ProjectsConfig(default=project), seed=SEED)
    app = make_app(services)
    if not with_nul:
        simplify(app.openapi())
    return schemathesis.openapi.from_asgi(f"{PREFIX}/openapi.json", app, config=config)


def simplify(value):
    """Remove the patterns that only exclude NUL, in place."""
    for schema in value if isinstance(value, list) else [value]:
        if isinstance(schema, dict):
            if schema.get("pattern") == NO_NUL:
                del schema["pattern"]
            elif schema.get("pattern") == NOT_BLANK:
                schema["pattern"] = ONE_CHARACTER
            if schema.get("propertyNames") == {"pattern": NO_NUL}:
                del schema["propertyNames"]
            simplify(list(schema.values()))
        elif isinstance(schema, list):
            simplify(schema)


@pytest.mark.parametrize("tag", [tag for tag in TAGS if tag != "catalog"])
def test_answers_to_generated_requests_conform_to_the_description(schema, tag):
    selection = schema.include(tag=tag)
    counts = run(selection)
    # Deletions run out of existing IDs; the test of deletions uses generated IDs.
    assert {label for label in few(selection, counts) if not label.startswith("DELETE ")} == set()


def test_answers_about_a_catalog_conform_to_the_description(imported, restaurants):
    services = imported(api_requests_per_minute=1_000_000, restaurants=restaurants)
    selection = schema_of(services).include(tag="catalog")
    # Requests for a place run out of existing IDs.
    assert few(selection, run(selection)) <= {"GET /api/v1/restaurants/{place_id}"}


def test_answers_to_texts_with_nul_conform_to_the_description(imported):
    services = imported(api_requests_per_minute=1_000_000)
    operations = ["list_conversations", "create_conversation", "create_embedding"]
    selection = schema_of(services, with_nul=True).include(operation_id=operations)
    assert few(selection, run(selection)) == set()


def test_answers_to_deletions_conform_to_the_description(schema):
    phase = FuzzingPhaseConfig(extra_data_sources=ExtraDataSourcesConfig(responses=False))
    schema.config.phases.fuzzing = phase
    selection = schema.include(method="DELETE")
    counts = run(selection)
    assert few(selection, counts) == set()


def run(selection):
    """The number of generated requests for each operation; fails if a check fails."""
    problems: dict[tuple[str, str], str] = {}
    counts: Counter[str] = Counter()
    for event in from_schema(selection).execute():
        if isinstance(event, events.ScenarioFinished):
            problems.update(failures(event.recorder))
            counts.update(generated(event.recorder))
        elif isinstance(event, events.NonFatalError | events.FatalError):
            problems[("the run", type(event).__name__)] = str(event)
    assert not problems, "\n\n".join(problems.values())
    return counts


def few(selection, counts):
    """The operations with input for which too few requests were generated."""
    return {label for label in operations_with_input(selection) if counts[label] < EXAMPLES}


def operations_with_input(selection):
    """The operations with input; all requests for the others are the same."""
    operations = [one.ok() for one in selection.get_all_operations()]
    return {
        one.label for one in operations if {"parameters", "requestBody"} & one.definition.raw.keys()
    }


def generated(recorder):
    """The operation of each generated request that is neither an example nor a boundary value."""
    for case in (node.value for node in recorder.cases.values()):
        if case.meta.phase.name is TestPhase.FUZZING:
            yield case.operation.label


def failures(recorder):
    """One failure for each operation and kind, with the request that reproduces it."""
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.status is Status.FAILURE:
                case, failure = recorder.cases[case_id].value, check.failure_info.failure
                response = recorder.interactions[case_id].response
                answer = response and f"{response.status_code} {response.text[:500]}"
                message = f"{failure.title}: {failure.message}\n{case.as_curl_command()}\n{answer}"
                if not is_misjudged(failure.title, response, recorder):
                    yield (f"{case.method} {case.path}", failure.title), message


def is_misjudged(title, response, recorder):
    """Whether schemathesis reports a failure for correct behavior.

    A generated site can't be reached, and the answer says so (503).
    What a worker is to delete (202) exists until then, and remains if the deletion is canceled.
    What was deleted may have been restored.
    JSON Schema can't express which tools, calls, and results belong together.
    A created resource exists although the answer is 404 if the body names another resource that
    does not: a turn of another conversation, or a generated turn.
    """
    if title == "Deleted resource still available":
        interactions = recorder.interactions.values()
        return any(is_queued_removal(one) or is_restoration(one) for one in interactions)
    if title == "Schema-valid request rejected":
        return response.status_code == 400 and UNDECLARED.search(response.text)
    if title == "Server error":
        return response.status_code == 503 and "can't be reached" in response.text
    return title == "Created resource not found" and NO_TURN.search(response.text)


def is_restoration(interaction):
    response = interaction.response
    return interaction.request.uri.endswith("/restore") and response and response.status_code < 300


def is_queued_removal(interaction):
    response = interaction.response
    return interaction.request.method == "DELETE" and response and response.status_code == 202
