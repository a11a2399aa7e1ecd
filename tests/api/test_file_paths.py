"""Answers name files without the folders of this machine; a document's metadata has its path."""

import pytest

from tests.api.openai.conversations import QUESTION, chat_messages

API = "/api/v1"


@pytest.fixture
def client(build_client):
    return build_client()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (f"{API}/ask", {"question": QUESTION}),
        (f"{API}/ask/stream", {"question": QUESTION}),
        (f"{API}/search", {"query": QUESTION}),
        (f"{API}/search/compare", {"query": QUESTION}),
        ("/v1/chat/completions", {"model": "footnote", "messages": chat_messages(QUESTION)}),
        ("/v1/responses", {"model": "footnote", "input": QUESTION}),
    ],
)
def test_an_answer_names_a_file_without_its_folder(client, handbook, tmp_path, path, body):
    answer = client.post(path, json=body)
    assert answer.status_code == 200
    assert "leave.md" in answer.text
    assert str(handbook.parent) not in answer.text
    assert str(tmp_path) not in answer.text


def test_a_stored_conversation_names_files_without_their_folders(client, handbook, tmp_path):
    turn = client.post(f"{API}/ask", json={"question": QUESTION}).json()
    stored = client.get(f"{API}/conversations/{turn['conversation_id']}").text
    assert "leave.md" in stored
    assert str(handbook.parent) not in stored
    assert str(tmp_path) not in stored


def test_the_metadata_of_a_document_has_its_path(client, handbook):
    turn = client.post(f"{API}/ask", json={"question": QUESTION}).json()
    document_id = turn["citations"][0]["document_id"]
    document = client.get(f"{API}/documents/{document_id}").json()
    assert document["location"] == str(handbook / "leave.md")
