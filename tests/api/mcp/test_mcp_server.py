"""The library as an MCP server, called by the real client over both transports."""

from datetime import timedelta

import httpx2
import pytest
from mcp import MCPError

from api.mcp.mcp_resources import PAGE, SPAN_CHARS
from api.mcp.mcp_tools import NUMBERING_NOTE
from domain import LOCAL_USER, ApiScope, DocumentFilter, Principal
from services.chat.running_answer import BLANK, CALLED_TOOLS, FILTERED
from tests.api.mcp.documents import LEAVE, LONG, QUESTION, key, uri_of
from tests.fakes.mcp_clients import connected, over_http, serving_mcp
from tests.fakes.openai import Call, Fault, Text, ToolCalls

pytestmark = pytest.mark.slow


def text_of(result):
    [content] = result.content
    return content.text


def test_instructions_and_tool_descriptions_explain_that_calls_are_independent(client):
    assert "search_documents first" in client.client.instructions
    tools = {tool.name: tool for tool in client.ask("list_tools").tools}
    assert list(tools) == ["search_documents", "ask_documents", "open_document", "list_sources"]
    for name in ("search_documents", "ask_documents", "open_document"):
        assert NUMBERING_NOTE in tools[name].description
        assert "stay the same" not in tools[name].description
    assert all(tool.annotations.read_only_hint for tool in tools.values())


def test_a_search_returns_text_and_passages_with_their_spans(client):
    result = client.call("search_documents", query="annual leave", k=2)
    passages = result.structured_content["passages"]
    assert [passage["n"] for passage in passages] == [1, 2]
    first = passages[0]
    assert LEAVE[first["start"] : first["end"]] == first["text"]
    assert first["headings"][0] == "Leave policy"
    assert first["score"] > 0
    assert first["text"] in text_of(result)
    assert "Sources:\n[1] " in text_of(result)


def test_the_passages_of_each_result_are_numbered_from_one(client):
    for _ in range(2):
        passages = client.call("search_documents", query="note", k=3).structured_content["passages"]
        assert [passage["n"] for passage in passages] == [1, 2, 3]


def test_an_answer_has_verified_citations(client):
    result = client.call("ask_documents", question=QUESTION)
    answer = result.structured_content
    assert answer["state"] == "complete"
    assert answer["answer"].endswith("[1]")
    [citation] = answer["citations"]
    assert citation["state"] == "verified"
    assert LEAVE[citation["start"] : citation["end"]] == citation["quote"]
    assert [passage["n"] for passage in answer["passages"]] == [citation["n"]]
    assert text_of(result).startswith(answer["answer"])


def test_progress_is_reported(client):
    reports = []

    async def report(progress, total, message):
        reports.append((progress, message))

    client.ask("call_tool", "ask_documents", {"question": QUESTION}, progress_callback=report)
    assert [n for n, _ in reports] == sorted({n for n, _ in reports})
    assert f"Searching for: {QUESTION}" in [message for _, message in reports]
    assert any("passages found" in message for _, message in reports)


def test_the_document_of_a_passage_can_be_opened(client):
    hits = client.call("search_documents", query="annual leave", k=1).structured_content
    passage = hits["passages"][0]
    result = client.call("open_document", document_id=passage["document_id"])
    assert result.structured_content["passages"][0]["start"] == 0
    assert result.structured_content["passages"][0]["score"] is None
    assert "The document ends here." in text_of(result)


def test_sources_are_listed(client, library):
    result = client.call("list_sources")
    [source] = result.structured_content["sources"]
    assert (source["name"], source["documents"]) == ("files", PAGE + 2)
    assert "files (directory): 102 documents" in text_of(result)


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("search_documents", {"query": " "}, "query: "),
        ("search_documents", {"query": "x", "k": 1000}, "k: "),
        ("search_documents", {"query": "x", "colour": "red"}, "colour: "),
        ("ask_documents", {}, "question: "),
        ("list_sources", {"all": True}, "all: "),
        ("open_document", {"document_id": "none"}, "not in the library"),
        ("delete_everything", {}, "There is no tool delete_everything"),
    ],
)
def test_a_failed_call_returns_an_error_result_with_the_reason(client, tool, arguments, reason):
    result = client.call(tool, **arguments)
    assert result.is_error
    assert text_of(result).startswith("Failed: ")
    assert reason in text_of(result)
    assert "Traceback" not in text_of(result)


def test_documents_are_resources_listed_page_by_page(client):
    first = client.ask("list_resources")
    assert len(first.resources) == PAGE
    second = client.ask("list_resources", cursor=first.next_cursor)
    assert second.next_cursor is None
    resources = [*first.resources, *second.resources]
    assert len({resource.uri for resource in resources}) == PAGE + 2
    titles = [resource.title.lower() for resource in resources]
    assert titles == sorted(titles)
    types = {resource.title: resource.mime_type for resource in resources}
    assert (types["Leave policy"], types["note 000"]) == ("text/markdown", "text/plain")


def test_a_resource_contains_the_text_of_its_document(client):
    [content] = client.ask("read_resource", uri_of(client, "Leave policy")).contents
    assert content.text == LEAVE
    assert content.mime_type == "text/markdown"


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ("start=2&end=14", "Leave policy"),
        ("start=2&end=999999999", LEAVE[2:]),
        ("start=14&end=2", ""),
        ("start=999999999", ""),
    ],
)
def test_a_span_of_a_resource_can_be_read(client, span, text):
    uri = uri_of(client, "Leave policy")
    [content] = client.ask("read_resource", f"{uri}?{span}").contents
    assert content.text == text


def test_a_long_document_is_read_span_by_span(client):
    uri, text = uri_of(client, "lift"), ""
    while uri:
        first, *more = client.ask("read_resource", uri).contents
        assert len(first.text) <= SPAN_CHARS
        text += first.text
        uri = more[0].uri if more else None
        assert not more or f"Continue at {uri}" in more[0].text
    assert text == LONG


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("footnote://documents/none", "There is no document none"),
        ("footnote://sources/none", "Resources are documents"),
        ("file:///etc/passwd", "Resources are documents"),
        ("footnote://documents/none?start=-1", "start must be a number"),
        ("http://[none", "The address is invalid"),
    ],
)
def test_reading_a_missing_resource_fails_with_the_reason(client, uri, reason):
    with pytest.raises(MCPError, match=reason):
        client.ask("read_resource", uri)


def test_an_unknown_cursor_is_rejected(client):
    with pytest.raises(MCPError, match="cursor"):
        client.ask("list_resources", cursor="x")


def test_the_uri_template_of_documents_is_listed(client):
    [template] = client.ask("list_resource_templates").resource_templates
    assert template.uri_template == "footnote://documents/{document_id}{?start,end}"


def test_a_request_without_a_valid_key_returns_401(library):
    with serving_mcp(library) as url:
        for headers in ({}, {"Authorization": "Bearer fn-wrong"}):
            answer = httpx2.post(url, headers=headers, json={}, timeout=30)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"].startswith("Bearer ")


def test_a_request_that_opens_no_session_names_none(library):
    headers = {"Authorization": f"Bearer {key(library)}", "Accept": "text/event-stream"}
    with serving_mcp(library) as url:
        early = httpx2.get(url, headers=headers, timeout=30)
        unknown = httpx2.get(url, headers=headers | {"mcp-session-id": "0"}, timeout=30)
    assert (early.status_code, unknown.status_code) == (400, 404)
    assert "mcp-session-id" not in early.headers
    assert "mcp-session-id" not in unknown.headers


def test_a_revoked_key_is_rejected(library):
    created = library.api_keys.create(LOCAL_USER, LOCAL_USER, "test", tuple(ApiScope))
    with serving_mcp(library) as url:
        with connected(over_http(url, created.secret)) as client:
            assert not client.call("list_sources").is_error
            library.api_keys.revoke(LOCAL_USER, created.key.id)
            with pytest.raises(MCPError):
                client.call("list_sources")


def test_an_expired_key_is_rejected_with_its_own_reason(library):
    lifetime = timedelta(microseconds=1)
    secret = library.api_keys.create(
        LOCAL_USER, LOCAL_USER, "test", tuple(ApiScope), lifetime
    ).secret
    headers = {"Authorization": f"Bearer {secret}"}
    with serving_mcp(library) as url:
        answer = httpx2.post(url, headers=headers, json={}, timeout=30)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
    assert answer.json()["detail"].startswith("This API key expired on ")


def test_the_groups_of_a_key_decide_what_it_may_read(imported):
    services = imported()
    [status] = services.sources.list(LOCAL_USER)
    services.permissions.set_readers(LOCAL_USER, status.source.id, ["group:hr"])
    with serving_mcp(services) as url:
        for group, names in (("hr", ["handbook"]), ("it", [])):
            secret = key(services, principal=Principal("anna", frozenset({group})))
            with connected(over_http(url, secret)) as client:
                sources = client.call("list_sources").structured_content["sources"]
                assert [one["name"] for one in sources] == names


def test_a_key_is_limited_to_its_scopes(library):
    with serving_mcp(library) as url:
        with connected(over_http(url, key(library, ApiScope.READ))) as client:
            names = [tool.name for tool in client.ask("list_tools").tools]
            assert names == ["search_documents", "open_document", "list_sources"]
            result = client.call("ask_documents", question=QUESTION)
            assert result.is_error
            assert text_of(result) == 'Failed: This key lacks the scope "ask".'
        with connected(over_http(url, key(library, ApiScope.ASK))) as client:
            assert not client.call("ask_documents", question=QUESTION).is_error
            assert client.call("search_documents", query="x").is_error
            with pytest.raises(MCPError, match='lacks the scope "read"'):
                client.ask("list_resources")


def test_a_file_attached_to_a_conversation_is_private_and_not_searchable(build_services):
    services = build_services(embed=True)
    conversation_id = services.conversations.begin(LOCAL_USER, "Plans").id
    file = ("plan.md", b"# Plan\n\nThe secret plan.")
    source_id = services.uploads.add(LOCAL_USER, [file], conversation_id=conversation_id).source_id
    services.worker.wait(
        LOCAL_USER, services.queue.enqueue(LOCAL_USER, source_id).id, lambda _: None
    )
    [document] = services.documents.page(LOCAL_USER, DocumentFilter(sources=(source_id,))).documents
    other_key = key(services, principal=Principal("somebody"))
    with serving_mcp(services) as url:
        with connected(over_http(url, key(services))) as client:
            result = client.call("open_document", document_id=document.id)
            assert "outside the search scope" in text_of(result)
            assert client.ask("list_resources").resources == []
            result = client.call("search_documents", query="secret plan")
            assert result.structured_content == {"passages": []}
        with connected(over_http(url, other_key)) as client:
            assert client.call("open_document", document_id=document.id).is_error
            with pytest.raises(MCPError, match="no document"):
                client.ask("read_resource", f"footnote://documents/{document.id}")


@pytest.mark.parametrize(
    "header",
    [
        {"Host": "evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://localhost:9999"},
        {"Host": "footnote.example", "Origin": "http://footnote.example:9999"},
    ],
)
def test_requests_with_another_host_or_origin_are_rejected(library, header):
    headers = {"Authorization": f"Bearer {key(library)}", "Content-Type": "application/json"}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    with serving_mcp(library, ["footnote.example"]) as url:
        assert httpx2.post(url, headers=headers | header, json=body).status_code == 403
        response = httpx2.post(url, headers=headers | {"Host": "footnote.example"}, json=body)
        assert response.status_code not in (401, 403)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_canceled_call_closes_the_stream_of_the_model(imported, model_server, mode):
    services = imported(chat=True, embed=True)
    model_server.will(Text(*["word "] * 600, pause_s=0.05))

    def is_called():
        return any("messages" in one.body for one in model_server.requests)

    with serving_mcp(services) as url:
        with connected(over_http(url, key(services)), mode=mode) as client:
            client.cancel_call("ask_documents", is_called, question="annual leave?")
            assert model_server.hung_up.wait(10)
            assert not client.call("list_sources").is_error


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Text(""), BLANK),
        (ToolCalls(Call("search", {})), CALLED_TOOLS),
        (Text("They get", finish_reason="content_filter"), FILTERED),
    ],
)
def test_a_reply_without_an_answer_is_explained_below_the_extract(
    imported, model_server, reply, reason
):
    services = imported(chat=True)
    model_server.will(reply)
    with serving_mcp(services) as url:
        with connected(over_http(url, key(services))) as client:
            result = client.call("ask_documents", question=QUESTION)
    assert not result.is_error
    extract, _, note = text_of(result).partition(f"(The answer is incomplete: {reason})")
    assert "New employees get 25 days of annual leave" in extract
    assert "\n\nSources:\n" in note


def test_a_failure_of_the_model_is_reported(imported, model_server):
    services = imported(chat=True, embed=True)
    model_server.answer = lambda _: Fault(401, "no such key")
    with serving_mcp(services) as url:
        with connected(over_http(url, key(services))) as client:
            result = client.call("ask_documents", question="annual leave?")
    assert result.is_error
    assert text_of(result).startswith("Failed: ")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_documents", {"query": "annual leave"}),
        ("ask_documents", {"question": QUESTION}),
        ("list_sources", {}),
    ],
)
def test_tools_name_files_without_their_folders(client, library, tool, arguments):
    result = client.call(tool, **arguments)
    assert "leave.md" in text_of(result) or tool == "list_sources"
    assert str(library.root) not in result.model_dump_json()


def test_resources_name_files_without_their_folders(client, library):
    resources = client.ask("list_resources").model_dump_json()
    assert "leave.md" in resources
    assert str(library.root) not in resources
