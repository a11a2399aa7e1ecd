"""How the command line names the answering model, and answers cut off at a limit."""

import json
import socket

import pytest

from domain import EXTRACTIVE
from tests.fakes.openai import MODEL, Endless, Text

pytestmark = pytest.mark.slow

QUESTION = "How many days of annual leave do new employees get?"
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


@pytest.fixture
def library(line, handbook):
    line.run("import", handbook)
    return line


def test_a_key_without_a_model_sends_nothing_and_is_explained_once(library):
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        result = library.run(
            "ask", QUESTION, OPENAI_API_KEY="sk-1", HTTPS_PROXY=address, ALL_PROXY=address
        )
        with pytest.raises(BlockingIOError):
            proxy.accept()
    assert "25 days" in result.stdout
    assert EXTRACTIVE in result.stdout
    assert result.stderr.count("OPENAI_API_KEY is set, but FOOTNOTE_CHAT_MODEL is not") == 1


def test_the_only_model_of_a_server_is_used_and_named(library, model_server):
    model_server.models = [MODEL]
    model_server.will(Text(GOOD))
    result = library.run("ask", QUESTION, "--json", OPENAI_BASE_URL=model_server.url)
    assert f"answers come from {MODEL}" in result.stderr
    turn = json.loads(result.stdout)
    assert (turn["model"], turn["state"], turn["error"]) == (MODEL, "complete", "")


def test_several_available_models_are_listed(library, model_server):
    result = library.run("ask", QUESTION, OPENAI_BASE_URL=model_server.url)
    assert "one of them: test-chat, test-embedding" in result.stderr
    assert EXTRACTIVE in result.stdout


def test_commands_that_need_no_model_contact_no_server(library, handbook, model_server):
    result = library.run("import", handbook, OPENAI_BASE_URL=model_server.url)
    assert result.stderr == ""
    assert model_server.requests == []


def test_an_unverified_answer_is_followed_by_an_extract(library, model_server):
    model_server.will(Text("Thirty days of holidays [8]."))
    result = library.run(
        "ask", QUESTION, OPENAI_BASE_URL=model_server.url, FOOTNOTE_CHAT_MODEL=MODEL
    )
    assert result.stdout.startswith(
        "Thirty days of holidays [8].\n\n**The text above cites nothing"
    )
    assert "“New employees get 25 days of annual leave a year.” [1]\n" in result.stdout
    assert "[8] no such source\n" in result.stdout
    assert "[1] found in the document: Leave policy" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "setting"),
    [
        ({"FOOTNOTE_CHAT_MAX_TOKENS": "16"}, "FOOTNOTE_CHAT_MAX_TOKENS"),
        (
            {"FOOTNOTE_CHAT_ANSWER_TIMEOUT_S": "5", "FOOTNOTE_CHAT_MAX_TOKENS": "0"},
            "FOOTNOTE_CHAT_ANSWER_TIMEOUT_S",
        ),
    ],
)
def test_an_endless_answer_is_truncated_and_stored(library, model_server, limit, setting):
    model_server.will(Endless(content="word "))
    settings = {"OPENAI_BASE_URL": model_server.url, "FOOTNOTE_CHAT_MODEL": MODEL, **limit}
    result = library.run("ask", QUESTION, **settings)
    assert result.stdout.startswith("word word ")
    assert "This answer is incomplete." in result.stderr
    assert setting in result.stderr
    assert model_server.hung_up.wait(10)
