"""Answers of a real chat model through the API, the command line, and the page."""

import json

import pytest
from fastapi.testclient import TestClient
from streamlit.testing.v1 import AppTest

from api.application import make_app
from domain import LOCAL_USER
from tests.api.conftest import bearer
from tests.api.serving import events_of
from tests.chat_model.test_answers import reported_usage
from tests.fakes.command_line import CommandLine
from tests.pages.conftest import APP, install_services, page_text

pytestmark = [pytest.mark.chat_model, pytest.mark.timeout(1200)]

QUESTIONS = [
    "How many days of annual leave do new employees get?",
    "노트북을 잃어버리면 어떻게 해야 하나요?",
    "障害のあと、ふりかえりの会はいつまでに開きますか？",
]
in_each_language = pytest.mark.parametrize("question", QUESTIONS, ids=["en", "ko", "ja"])


@pytest.fixture
def client(services):
    return TestClient(make_app(services), headers=bearer(services))


def data_of(response):
    assert response.status_code == 200, response.text
    lines = response.text.splitlines()
    return [(name, json.loads(data)) for name, data in events_of(lines) if data != "[DONE]"]


@in_each_language
def test_the_api_streams_the_stored_answer(client, services, recorder, question):
    response = client.post("/api/v1/ask/stream", json={"question": question})
    events = data_of(response)
    name, turn = events[-1]
    assert name == "end"
    assert "".join(data["text"] for name, data in events if name == "token") == turn["answer"]
    assert turn["state"] in {"complete", "incomplete"}
    assert turn["usage"] == reported_usage(recorder.exchanges)
    stored = services.turns.get(LOCAL_USER, turn["conversation_id"], turn["id"])
    assert (stored.answer, stored.error) == (turn["answer"], turn["error"])


@in_each_language
def test_the_openai_protocol_streams_an_answer_with_finish_reason_and_usage(
    client, recorder, question
):
    request = {
        "model": "footnote",
        "messages": [{"role": "user", "content": question}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    chunks = [data for _, data in data_of(client.post("/v1/chat/completions", json=request))]
    choices = [chunk["choices"][0] for chunk in chunks if chunk["choices"]]
    assert "".join(one["delta"].get("content") or "" for one in choices).strip()
    evidence = choices[-1]["delta"]["footnote"]
    assert choices[-1]["finish_reason"] == ("length" if evidence["error"] else "stop")
    usage = reported_usage(recorder.exchanges)
    tokens = [usage.get(name, 0) for name in ("input_tokens", "output_tokens")]
    streamed = chunks[-1]["usage"]
    assert [streamed["prompt_tokens"], streamed["completion_tokens"]] == tokens


def test_the_openai_protocol_returns_a_whole_answer(client):
    request = {"model": "footnote", "messages": [{"role": "user", "content": QUESTIONS[0]}]}
    (choice,) = client.post("/v1/chat/completions", json=request).json()["choices"]
    assert choice["message"]["content"].strip()
    assert choice["finish_reason"] in {"stop", "length"}
    states = {one["state"] for one in choice["message"]["footnote"]["citations"]}
    assert states <= {"verified", "not found", "no such source"}


def test_the_command_line_prints_the_answer(library, model_settings, tmp_path):
    settings = {f"FOOTNOTE_{name.upper()}": str(value) for name, value in model_settings.items()}
    settings["OPENAI_BASE_URL"] = settings.pop("FOOTNOTE_OPENAI_BASE_URL")
    result = CommandLine(library, tmp_path).run("ask", QUESTIONS[0], "--json", **settings)
    reply = json.loads(result.stdout)
    assert reply["answer"].strip()
    assert reply["state"] in {"complete", "incomplete"}


def test_the_page_shows_the_answer_at_once_and_after_a_reload(services, monkeypatch):
    serving = install_services(services, monkeypatch)
    next(serving)
    page = AppTest.from_file(str(APP), default_timeout=600).run()
    page = page.chat_input[0].set_value(QUESTIONS[0]).run()
    assert not page.exception
    assert "fn-answer" in page_text(page)
    assert "fn-answer" in page_text(page.run())
    next(serving, None)
