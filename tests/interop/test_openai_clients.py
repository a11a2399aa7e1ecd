"""OpenAI's clients for Python and Node.js, each at a pinned version in its own environment.

Each runs its program in `clients/` once; it calls everything and prints what it received.
"""

import json

import pytest

from tests.api.conftest import bearer
from tests.api.openai.conversations import ANSWER, QUESTION, QUOTE
from tests.api.serving import serving
from tests.fakes.openai import EMBEDDING_MODEL
from tests.fakes.openai_wire import DIMENSION
from tests.interop.programs import INTEROP, node_packages, python_of, run

pytestmark = pytest.mark.slow

CLIENTS = ["openai-2", "openai-3", "openai for Node.js"]
TEXT = f'{ANSWER}\n\nSources:\n[1] Leave policy: "{QUOTE}" leave.md'


@pytest.fixture(scope="module", params=CLIENTS)
def received(request, served_library):
    """What the client received from each call."""
    services, _ = served_library
    if request.param in ("openai-2", "openai-3"):
        command = [python_of(request.param), "client.py"]
        folder = INTEROP / "clients" / "openai_python"
    else:
        command = ["node", "client.mjs"]
        folder = node_packages("clients/openai_node").parent
    secret = bearer(services)["Authorization"].removeprefix("Bearer ")
    with serving(services) as url:
        return json.loads(run([*command, url, secret, QUESTION, EMBEDDING_MODEL], folder))


def test_the_models_are_listed(received):
    assert received["models"] == ["footnote", "footnote-agent", EMBEDDING_MODEL]


@pytest.mark.parametrize("endpoint", ["chat", "responses"])
@pytest.mark.parametrize("mode", ["", ", streamed"])
def test_an_answer_comes_with_its_citations(received, endpoint, mode):
    answer = received[endpoint + mode]
    assert answer["text"] == TEXT
    assert answer["citations"] == [[1, "verified", QUOTE]]
    assert answer["sources"][0] == "Leave policy"
    assert answer["tokens"] == 51


@pytest.mark.parametrize("endpoint", ["chat", "responses"])
def test_a_tool_of_the_caller_is_called_and_its_result_leads_to_the_answer(received, endpoint):
    assert received[f"tools of {endpoint}"] == {
        "call": ["weather", {"city": "Busan"}],
        "text": TEXT,
    }


@pytest.mark.parametrize("endpoint", ["chat", "responses"])
def test_an_answer_in_json_matches_the_schema(received, endpoint):
    assert received[f"JSON of {endpoint}"] == {"days": 25}


def test_texts_are_embedded(received):
    assert received["embeddings"] == [DIMENSION, DIMENSION]


@pytest.mark.parametrize(
    ("case", "kind", "status", "param"),
    [
        ("wrong dimensions", "BadRequestError", 400, "dimensions"),
        ("unsupported option", "BadRequestError", 400, "n"),
        ("wrong key", "AuthenticationError", 401, None),
    ],
)
def test_an_error_names_the_field(received, case, kind, status, param):
    error = received[case]
    assert (error["kind"], error["status"], error["param"]) == (kind, status, param)
