"""Prompts and completions of the MCP server, and its request limits, with the real client."""

import httpx2
import pytest
from mcp import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from api.mcp.mcp_resources import SPAN_CHARS
from domain import ApiScope
from tests.api.mcp.documents import LEAVE, LONG, QUESTION, key, uri_of
from tests.fakes.mcp_clients import connected, over_http, serving_mcp

pytestmark = pytest.mark.slow


def text_of_prompt(prompt):
    return "\n".join(message.content.text for message in prompt.messages)


def test_the_prompts_are_listed_with_their_arguments(client):
    prompts = {prompt.name: prompt for prompt in client.ask("list_prompts").prompts}
    assert {name: prompt.title for name, prompt in prompts.items()} == {
        "ask_library": "Ask the library",
        "summarize_document": "Summarize a document",
    }
    arguments = [(one.name, bool(one.required)) for one in prompts["ask_library"].arguments]
    assert arguments == [("question", True), ("collection", False), ("source", False)]


def test_the_prompt_ask_the_library_contains_the_passages_for_the_question(client):
    prompt = client.ask("get_prompt", "ask_library", {"question": QUESTION})
    assert f"Question: {QUESTION}" in text_of_prompt(prompt)
    assert "New employees get 25 days" in text_of_prompt(prompt)
    assert "\n[1] Leave policy" in text_of_prompt(prompt)


@pytest.mark.parametrize("scope", [{"collection": "files"}, {"source": "files"}])
def test_the_prompt_ask_the_library_can_be_narrowed(client, scope):
    prompt = client.ask("get_prompt", "ask_library", {"question": QUESTION, **scope})
    assert "New employees get 25 days" in text_of_prompt(prompt)


@pytest.mark.parametrize("name", ["Leave policy", "leave POLICY", "its id"])
def test_the_prompt_summarize_a_document_contains_the_document(client, name):
    uri = uri_of(client, "Leave policy")
    document = uri.rpartition("/")[2] if name == "its id" else name
    prompt = client.ask("get_prompt", "summarize_document", {"document": document})
    instruction, resource = (message.content for message in prompt.messages)
    assert "Summarize the document that follows" in instruction.text
    assert "Leave policy" not in instruction.text  # a title is material too
    assert (resource.resource.text, str(resource.resource.uri)) == (LEAVE, uri)


def test_the_prompt_summarize_a_document_says_where_a_long_document_continues(client):
    prompt = client.ask("get_prompt", "summarize_document", {"document": "lift"})
    first, rest = (message.content.resource.text for message in prompt.messages[1:])
    assert first == LONG[:SPAN_CHARS]
    assert f"?start={SPAN_CHARS}" in rest


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("translate", {}, "Prompts: ask_library, summarize_document"),
        ("ask_library", {}, "needs the argument question"),
        ("ask_library", {"question": " "}, "needs the argument question"),
        ("ask_library", {"question": "x", "colour": "red"}, "no argument 'colour'"),
        ("ask_library", {"question": "x", "source": "none"}, "none"),
        ("ask_library", {"question": "x" * 20_001}, "20,000"),
        ("summarize_document", {"document": "none"}, "no document none"),
    ],
)
def test_a_wrong_prompt_is_rejected_with_the_reason(client, name, arguments, reason):
    with pytest.raises(MCPError, match=reason):
        client.ask("get_prompt", name, arguments)


def completed(client, name, argument, value, kind=PromptReference):
    reference = kind(name=name) if kind is PromptReference else kind(uri=name)
    completion = client.ask("complete", reference, {"name": argument, "value": value}).completion
    return completion.values, completion.total, completion.has_more


def test_collections_sources_and_titles_are_completed(client):
    assert completed(client, "ask_library", "collection", "fi") == (["files"], 1, False)
    assert completed(client, "ask_library", "source", "ILE") == (["files"], 1, False)
    assert completed(client, "ask_library", "source", "z") == ([], 0, False)
    assert completed(client, "ask_library", "question", "how") == ([], 0, False)
    assert completed(client, "summarize_document", "document", "leave") == (
        ["Leave policy"],
        1,
        False,
    )
    values, _, has_more = completed(client, "summarize_document", "document", "")
    assert (len(values), has_more) == (100, True)
    template = "footnote://documents/{document_id}{?start,end}"
    kind = ResourceTemplateReference
    assert completed(client, template, "document_id", "", kind) == ([], 0, False)


def test_prompts_and_completions_require_the_scope_read(library):
    with serving_mcp(library) as url:
        with connected(over_http(url, key(library, ApiScope.ASK))) as client:
            assert client.ask("list_prompts").prompts == []
            with pytest.raises(MCPError, match='lacks the scope "read"'):
                client.ask("get_prompt", "ask_library", {"question": QUESTION})
            with pytest.raises(MCPError, match='lacks the scope "read"'):
                completed(client, "ask_library", "source", "f")


def test_each_key_may_send_a_limited_number_of_requests(build_services):
    services = build_services(api_requests_per_minute=2)
    headers = {"Authorization": f"Bearer {key(services)}"}
    other = {"Authorization": f"Bearer {key(services)}"}
    with serving_mcp(services) as url:
        answers = [httpx2.post(url, headers=headers, json={}, timeout=30) for _ in range(3)]
        assert [answer.headers["ratelimit-remaining"] for answer in answers] == ["1", "0", "0"]
        assert [answer.status_code == 429 for answer in answers] == [False, False, True]
        assert 1 <= int(answers[2].headers["retry-after"]) <= 60
        assert answers[2].json()["type"] == "urn:footnote:too-many-requests"
        assert httpx2.post(url, headers=other, json={}, timeout=30).status_code != 429
        assert httpx2.post(url, json={}, timeout=30).status_code == 401


def test_a_body_larger_than_a_mebibyte_is_rejected(library):
    headers = {"Authorization": f"Bearer {key(library)}", "Content-Type": "application/json"}
    body = b"[" + b" " * 1024 * 1024 + b"]"
    with serving_mcp(library) as url:
        assert httpx2.post(url, headers=headers, content=body, timeout=30).status_code == 413
