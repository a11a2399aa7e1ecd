"""Which model answers, as the command line says it, and answers that end at a limit."""

import json
import socket

import pytest

from domain import EXTRACTIVE
from tests.fakes.openai import MODEL, Endless, Text

QUESTION = "How many days of annual leave do new employees get?"
GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


@pytest.fixture
def library(line, handbook):
    line.run("import", handbook)
    return line


def test_a_key_alone_sends_nothing_and_is_explained_once(library):
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        proxy.setblocking(False)
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        done = library.run(
            "ask", QUESTION, OPENAI_API_KEY="sk-1", HTTPS_PROXY=address, ALL_PROXY=address
        )
        with pytest.raises(BlockingIOError):
            proxy.accept()
    assert "25 days" in done.stdout
    assert EXTRACTIVE in done.stdout
    assert done.stderr.count("OPENAI_API_KEY is set, but FOOTNOTE_CHAT_MODEL is not") == 1


def test_the_only_model_of_a_server_answers_and_is_named(library, model_server):
    model_server.models = [MODEL]
    model_server.will(Text(GOOD))
    done = library.run("ask", QUESTION, "--json", OPENAI_BASE_URL=model_server.url)
    assert f"answers come from {MODEL}" in done.stderr
    told = json.loads(done.stdout)
    assert (told["model"], told["state"], told["error"]) == (MODEL, "complete", "")


def test_of_several_models_the_names_are_shown(library, model_server):
    done = library.run("ask", QUESTION, OPENAI_BASE_URL=model_server.url)
    assert "one of them: test-chat, test-embedding" in done.stderr
    assert EXTRACTIVE in done.stdout


def test_a_command_that_asks_no_model_asks_no_server(library, handbook, model_server):
    done = library.run("import", handbook, OPENAI_BASE_URL=model_server.url)
    assert done.stderr == ""
    assert model_server.requests == []


def test_an_unproven_answer_has_the_extract_below_it(library, model_server):
    model_server.will(Text("Thirty days of holidays [8]."))
    done = library.run("ask", QUESTION, OPENAI_BASE_URL=model_server.url, FOOTNOTE_CHAT_MODEL=MODEL)
    assert done.stdout.startswith("Thirty days of holidays [8].\n\n**The text above cites nothing")
    assert "“New employees get 25 days of annual leave a year.” [1]\n" in done.stdout
    assert "[8] no such source\n" in done.stdout
    assert "[1] found in the document: Leave policy" in done.stdout


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
def test_an_answer_that_never_ends_is_kept_as_far_as_it_came(library, model_server, limit, setting):
    model_server.will(Endless(content="word "))
    settings = {"OPENAI_BASE_URL": model_server.url, "FOOTNOTE_CHAT_MODEL": MODEL, **limit}
    done = library.run("ask", QUESTION, **settings)
    assert done.stdout.startswith("word word ")
    assert "This answer is incomplete." in done.stderr
    assert setting in done.stderr
    assert model_server.hung_up.wait(10)
