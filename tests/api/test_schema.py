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
from api.openapi_description import TAGS
from tests.api.conftest import bearer
from tests.fakes.restaurants import import_restaurants

EXAMPLES = 20
NO_TURN = re.compile("there is no turn|A turn belongs to a conversation", re.IGNORECASE)
SEED = 6
REJECTIONS = ("400", "401", "403", "404", "405", "409", "413", "415", "422", "429")
"""Statuses of rejected requests; schemathesis omits 413, which a list that is too long gets."""

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

    The rate limit must not reject requests. NUL, which no text may contain, is documented in prose
    only: a schema would have to exclude it in each text, and could not in free-form JSON.
    `test_bodies.py` sends it.
    """
    return schema_of(imported(api_requests_per_minute=1_000_000))


def schema_of(services):
    project = ProjectConfig(
        headers=bearer(services),
        continue_on_failure=True,
        request_timeout=120,
        generation=GenerationConfig(max_examples=EXAMPLES, deterministic=True, allow_x00=False),
        checks=ChecksConfig(negative_data_rejection=CheckConfig(expected_statuses=REJECTIONS)),
    )
    config = SchemathesisConfig(projects=ProjectsConfig(default=project), seed=SEED)
    return schemathesis.openapi.from_asgi(
        f"{PREFIX}/openapi.json", make_app(services), config=config
    )


@pytest.mark.parametrize("tag", TAGS)
def test_answers_to_generated_requests_conform_to_the_description(schema, tag):
    selection = schema.include(tag=tag)
    counts = run(selection)
    # Deletions run out of existing IDs; the test of deletions uses generated IDs.
    few = {label for label in operations_with_input(selection) if counts[label] < EXAMPLES}
    assert {label for label in few if not label.startswith("DELETE ")} == set()


def test_answers_about_a_catalog_conform_to_the_description(imported, tmp_path):
    services = imported(api_requests_per_minute=1_000_000)
    import_restaurants(services, tmp_path / "restaurants")
    counts = run(schema_of(services).include(tag="catalog"))
    assert counts["POST /api/v1/chat/search"] >= EXAMPLES


def test_answers_to_deletions_conform_to_the_description(schema):
    phase = FuzzingPhaseConfig(extra_data_sources=ExtraDataSourcesConfig(responses=False))
    schema.config.phases.fuzzing = phase
    selection = schema.include(method="DELETE")
    counts = run(selection)
    assert {
        label for label in operations_with_input(selection) if counts[label] < EXAMPLES
    } == set()


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
    A created resource exists although the answer is 404 if the body names another resource that
    does not: a turn of another conversation, or a generated turn.
    """
    if title == "Deleted resource still available":
        return any(is_queued_removal(one) for one in recorder.interactions.values())
    if title == "Server error":
        return response.status_code == 503 and "can't be reached" in response.text
    return title == "Created resource not found" and NO_TURN.search(response.text)


def is_queued_removal(interaction):
    response = interaction.response
    return interaction.request.method == "DELETE" and response and response.status_code == 202
