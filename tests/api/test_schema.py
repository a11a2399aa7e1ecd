"""All that the description allows, and much that it does not, sent to the true app.

All checks of schemathesis: no 5xx; no status, kind of content or shape that is not described; what
the schema allows is taken, what it forbids is refused; nothing opens without a key; what was
deleted is gone.
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
REFUSED = ("400", "401", "403", "404", "405", "409", "413", "415", "422", "429")
"""How what is wrong may be refused; schemathesis alone would not take 413, of a list too long."""

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def network_refuses(monkeypatch):
    """Addresses that are made up ("0") are refused as a network does, not as a fault of a test."""
    connect = socket.socket.connect

    def connect_or_refuse(self, *address):
        try:
            return connect(self, *address)
        except SocketConnectBlockedError as blocked:
            raise ConnectionRefusedError(str(blocked)) from blocked

    monkeypatch.setattr(socket.socket, "connect", connect_or_refuse)


@pytest.fixture
def schema(imported):
    """The description that the app gives, over a library with the handbook.

    Whatever is asked must not wait for the bound of a key. NUL, which no text may hold, is said in
    words there: a schema could say it only at each text, and not at all of those in free JSON.
    `test_bodies.py` sends it.
    """
    return described(imported(api_requests_per_minute=1_000_000))


def described(services):
    """The description that the app over these services gives."""
    project = ProjectConfig(
        headers=bearer(services),
        continue_on_failure=True,
        request_timeout=120,
        generation=GenerationConfig(max_examples=EXAMPLES, deterministic=True, allow_x00=False),
        checks=ChecksConfig(negative_data_rejection=CheckConfig(expected_statuses=REFUSED)),
    )
    config = SchemathesisConfig(projects=ProjectsConfig(default=project), seed=SEED)
    return schemathesis.openapi.from_asgi(
        f"{PREFIX}/openapi.json", make_app(services), config=config
    )


@pytest.mark.parametrize("tag", TAGS)
def test_whatever_is_sent_is_answered_as_described(schema, tag):
    asked = schema.include(tag=tag)
    sent = run(asked)
    # What is deleted by ids that were told runs out of them: below it is by ids that are made up.
    few = {label for label in inputs(asked) if sent[label] < EXAMPLES}
    assert {label for label in few if not label.startswith("DELETE ")} == set()


def test_whatever_is_sent_about_a_catalog_is_answered_as_described(imported, tmp_path):
    services = imported(api_requests_per_minute=1_000_000)
    import_restaurants(services, tmp_path / "restaurants")
    sent = run(described(services).include(tag="catalog"))
    assert sent["POST /api/v1/chat/search"] >= EXAMPLES


def test_whatever_is_to_be_deleted_is_answered_as_described(schema):
    made_up = FuzzingPhaseConfig(extra_data_sources=ExtraDataSourcesConfig(responses=False))
    schema.config.phases.fuzzing = made_up
    asked = schema.include(method="DELETE")
    sent = run(asked)
    assert {label for label in inputs(asked) if sent[label] < EXAMPLES} == set()


def run(asked):
    """How often each operation was sent something made up, where nothing was found."""
    found: dict[tuple[str, str], str] = {}
    sent: Counter[str] = Counter()
    for event in from_schema(asked).execute():
        if isinstance(event, events.ScenarioFinished):
            found.update(failures(event.recorder))
            sent.update(generated(event.recorder))
        elif isinstance(event, events.NonFatalError | events.FatalError):
            found[("the run", type(event).__name__)] = str(event)
    assert not found, "\n\n".join(found.values())
    return sent


def inputs(asked):
    """The operations that are sent anything: the others are asked the same each time."""
    operations = [one.ok() for one in asked.get_all_operations()]
    return {
        one.label for one in operations if {"parameters", "requestBody"} & one.definition.raw.keys()
    }


def generated(recorder):
    """The operation of each request that was made up: neither an example nor a bound of a field."""
    for case in (node.value for node in recorder.cases.values()):
        if case.meta.phase.name is TestPhase.FUZZING:
            yield case.operation.label


def failures(recorder):
    """By operation and kind, one of each, with the request that shows it."""
    for case_id, checks in recorder.checks.items():
        for check in checks:
            if check.status is Status.FAILURE:
                case, failure = recorder.cases[case_id].value, check.failure_info.failure
                response = recorder.interactions[case_id].response
                answer = response and f"{response.status_code} {response.text[:500]}"
                told = f"{failure.title}: {failure.message}\n{case.as_curl_command()}\n{answer}"
                if not is_misjudged(failure.title, response, recorder):
                    yield (f"{case.method} {case.path}", failure.title), told


def is_misjudged(title, response, recorder):
    """Whether it is taken for what it is not.

    A site that is made up can't be reached, and the answer says so (503).
    What is to be deleted by a worker (202) is there until then, and stays if that is cancelled.
    What was made is there, where it is another thing named in the body that is not: a turn made in
    one conversation, or made up, asked again or shown in another.
    """
    if title == "Deleted resource still available":
        return any(is_queued_removal(one) for one in recorder.interactions.values())
    if title == "Server error":
        return response.status_code == 503 and "can't be reached" in response.text
    return title == "Created resource not found" and NO_TURN.search(response.text)


def is_queued_removal(interaction):
    response = interaction.response
    return interaction.request.method == "DELETE" and response and response.status_code == 202
