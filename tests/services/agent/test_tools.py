import re
from datetime import UTC, datetime
from pathlib import PurePath

import pytest

from domain import (
    LOCAL_USER,
    CitationState,
    DocumentFilter,
    Principal,
    RetrievedPassage,
    Scope,
    SearchChoice,
    Turn,
    TurnState,
)
from domain.errors import NotFoundError
from services.agent.agent_tools import OUT_OF_SCOPE, answer_tool, document_tools
from services.agent.tool_results import SourceNumbers, answer_with_sources, numbered_answer
from tests.fakes.openai import Fault, Text

GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


def call(tool, **arguments):
    return tool.invoke({"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"})


def tools_of(services, principal=LOCAL_USER, **options):
    return {tool.name: tool for tool in document_tools(services, principal, **options)}


def is_failure(message):
    return message.status == "error" and message.content.startswith("Failed: ")


def listed_numbers(content):
    """The numbers in the list of sources at the end."""
    return [int(n) for n in re.findall(r"^\[(\d+)\]", content.partition("\nSources:\n")[2], re.M)]


def test_the_tools_have_a_fixed_order_and_describe_their_use(services):
    tools = document_tools(services, LOCAL_USER)
    assert [tool.name for tool in tools] == [
        "search_documents",
        "ask_documents",
        "open_document",
        "list_sources",
    ]
    assert all("Use it" in tool.description and "Return" in tool.description for tool in tools)
    assert all(argument["description"] for tool in tools for argument in tool.args.values())


def test_a_search_returns_numbered_text_and_its_documents(services):
    message = call(tools_of(services)["search_documents"], query="annual leave", k=2)
    documents = message.artifact["documents"]
    assert message.status == "success"
    assert message.artifact["numbers"] == [1, 2] == listed_numbers(message.content)
    for n, document in enumerate(documents, start=1):
        assert f"[{n}] {document.metadata['title']}" in message.content
        assert document.page_content in message.content
        assert f", {PurePath(document.metadata['location']).name}" in message.content
        assert document.metadata["location"] not in message.content
        assert document.metadata["document_id"] in message.content
    assert message.artifact["citations"] == []


def test_two_searches_of_one_conversation_share_the_numbers(services):
    tools = tools_of(services)
    first = call(tools["search_documents"], query="annual leave", k=1)
    second = call(tools["search_documents"], query="annual leave of new employees", k=4)
    passage_id = first.artifact["documents"][0].id
    numbers = dict(
        zip(
            [document.id for document in second.artifact["documents"]],
            second.artifact["numbers"],
            strict=True,
        )
    )
    assert numbers[passage_id] == 1
    assert sorted(numbers.values()) == [1, 2, 3, 4]


def test_a_search_stays_within_its_scope(services):
    empty_scope = SearchChoice(scope=Scope(formats=("pdf",)))
    message = call(tools_of(services, search=empty_scope)["search_documents"], query="annual leave")
    assert message.status == "success"
    assert message.content.startswith("Nothing was found.")
    assert message.artifact == {"documents": [], "numbers": [], "citations": []}


def test_a_search_uses_the_requested_mode(services):
    tool = tools_of(services)["search_documents"]
    message = call(tool, query="WireGuard", mode="bm25")
    assert [document.metadata["title"] for document in message.artifact["documents"]] == ["VPN"]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": " "},
        {"query": "x", "k": 0},
        {"query": "x", "k": 99},
        {"query": "x", "mode": "magic"},
        {"query": "x", "where": "here"},
    ],
)
def test_invalid_arguments_are_a_failure(services, arguments):
    message = call(tools_of(services)["search_documents"], **arguments)
    assert is_failure(message)
    assert message.content.endswith("Call the tool again with other arguments.")


def test_a_blank_query_is_reported_as_blank(services):
    message = call(tools_of(services)["search_documents"], query=" ")
    assert message.content.startswith("Failed: query: It is empty or blank.")


def test_a_start_above_the_maximum_is_a_failure(services):
    message = call(tools_of(services)["open_document"], document_id="x", start=10**30)
    assert is_failure(message)
    assert "start: Input should be less than or equal to 999999999" in message.content


def test_the_answer_of_the_chain_continues_the_numbers_of_the_conversation(services, model_server):
    numbers = SourceNumbers()
    tools = tools_of(services, numbers=numbers)
    call(tools["search_documents"], query="WireGuard", mode="bm25")
    model_server.will(Text(GOOD))
    message = call(tools["ask_documents"], question="How many days of annual leave?")
    assert message.content.startswith("They get 25 days [2].")
    assert message.artifact["numbers"] == [2] == listed_numbers(message.content)
    assert message.artifact["documents"][0].page_content in message.content
    [citation] = message.artifact["citations"]
    assert citation["n"] == 2
    assert citation["state"] == CitationState.VERIFIED
    assert citation["quote"] == "New employees get 25 days of annual leave a year"
    assert numbers.documents[1].id == citation["passage_id"]


def test_unsupported_sentences_are_counted_and_not_cited(services, model_server):
    invented = 'Fridays are free [2: "Fridays are free"]. Lunch is free in every office [9].'
    model_server.will(Text(f"{GOOD} {invented}"))
    message = call(tools_of(services)["ask_documents"], question="How many days of annual leave?")
    assert {citation["n"] for citation in message.artifact["citations"]} == {1}
    assert "[9]" not in message.content
    assert "Not supported by any source: 2 sentences." in message.content


def test_the_chain_answers_without_a_chat_model(extractive):
    message = call(tools_of(extractive)["ask_documents"], question="How many days of annual leave?")
    assert "25 days" in message.content
    assert {citation["state"] for citation in message.artifact["citations"]} == {"verified"}


def test_an_answer_has_the_documents_of_its_example_questions_as_its_basis(extractive):
    message = call(tools_of(extractive)["ask_documents"], question="What can you do?")
    assert "For example" in message.content
    document_ids = {
        one.id for one in extractive.documents.page(LOCAL_USER, DocumentFilter()).documents
    }
    assert message.artifact["documents"] == []
    assert {*message.artifact["basis"]} & document_ids


def test_ask_documents_does_not_start_another_agent(services, model_server):
    model_server.will(Text(GOOD))
    tool = tools_of(services, search=SearchChoice(by_agent=True))["ask_documents"]
    assert call(tool, question="How many days?").status == "success"
    assert not any("tools" in request.body for request in model_server.requests)


def test_a_model_error_is_a_failure(services, model_server):
    model_server.will(Fault(503))
    message = call(tools_of(services)["ask_documents"], question="How many days?")
    assert is_failure(message)
    assert "HTTP 503" in message.content


def test_an_answer_that_was_cut_off_is_reported_as_incomplete(services, model_server):
    model_server.will(Text(GOOD, finish_reason="length"))
    message = call(tools_of(services)["ask_documents"], question="How many days?")
    assert "The answer is incomplete: " in message.content


def test_a_document_is_read_from_the_requested_start(services):
    tools = tools_of(services)
    hit = call(tools["search_documents"], query="Tell your lead", k=1).artifact["documents"][0]
    document_id = hit.metadata["document_id"]
    opened = call(tools["open_document"], document_id=document_id)
    passages = opened.artifact["documents"]
    assert [passage.metadata["start"] for passage in passages] == sorted(
        passage.metadata["start"] for passage in passages
    )
    assert (
        dict(zip([passage.id for passage in passages], opened.artifact["numbers"], strict=True))[
            hit.id
        ]
        == 1
    )
    assert opened.content.endswith("The document ends here.")
    last = call(
        tools["open_document"], document_id=document_id, start=passages[-1].metadata["start"]
    )
    assert passages[-1].page_content in last.content
    beyond = call(tools["open_document"], document_id=document_id, start=10_000)
    assert beyond.content == "The document has no text after character 10000."


def test_a_long_document_can_be_read_to_its_end(build_services, tmp_path):
    folder = tmp_path / "long"
    folder.mkdir()
    sections = [f"## Rule {n}\n\n" + f"Rule {n} is about matter {n}. " * 30 for n in range(25)]
    (folder / "rules.md").write_text("\n\n".join(sections))
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, folder)
    [document] = services.library.documents.list()
    tool = tools_of(services)["open_document"]
    ids, start = [], 0
    for _ in range(30):
        part = call(tool, document_id=document.id, start=start)
        ids += [passage.id for passage in part.artifact["documents"]]
        next_call = re.search(r"call open_document with start=(\d+)\.$", part.content)
        if not next_call:
            break
        start = int(next_call[1])
    passages = services.reader.passages(LOCAL_USER, document.id, limit=1000)
    assert ids == [passage.id for passage in passages]
    assert len(ids) > 20


def test_an_unknown_document_is_a_failure(services):
    message = call(tools_of(services)["open_document"], document_id="no such")
    assert is_failure(message)
    assert "not in the library" in message.content


def test_a_document_outside_the_scope_is_a_failure(services):
    [document, *_] = services.library.documents.list()
    for formats, is_refused in ((("pdf",), True), (("md",), False)):
        tools = tools_of(services, search=SearchChoice(Scope(formats=formats)))
        message = call(tools["open_document"], document_id=document.id)
        assert is_failure(message) is is_refused
    assert (
        OUT_OF_SCOPE
        in call(
            tools_of(services, search=SearchChoice(Scope(formats=("pdf",))))["open_document"],
            document_id=document.id,
        ).content
    )


def test_a_file_of_another_conversation_is_a_failure(services):
    own, other = (services.conversations.begin(LOCAL_USER, name).id for name in ("own", "other"))
    box = services.uploads.add(LOCAL_USER, [("a.md", b"# A")], conversation_id=own).source_id
    services.worker.wait(LOCAL_USER, services.queue.enqueue(LOCAL_USER, box).id)
    document = next(one for one in services.library.documents.list() if one.key == "a.md")
    outcomes = {
        name: is_failure(
            call(tools_of(services, conversation_id=name)["open_document"], document_id=document.id)
        )
        for name in (own, other, "")
    }
    assert outcomes == {own: False, other: True, "": True}


def test_the_sources_are_listed_with_their_documents_and_collection(services):
    message = call(tools_of(services)["list_sources"])
    assert message.content == "- handbook (directory): 4 documents, collection handbook"
    assert message.artifact["documents"] == []
    assert message.artifact["basis"] == [services.sources.list(LOCAL_USER)[0].source.id]


def test_an_empty_library_is_reported(build_services):
    tools = tools_of(build_services(embed=True))
    assert call(tools["list_sources"]).content == "The library is empty."
    assert call(tools["search_documents"], query="leave").content.startswith("Nothing was found.")


class _BrokenServices:
    """Services whose search raises an unexpected error."""

    def __init__(self, services):
        self.chat, self.conversations = services.chat, services.conversations
        self.reader, self.sources = services.reader, services.sources

    @property
    def search(self):
        raise KeyError("a defect")


def test_an_unexpected_error_is_logged_and_reported_without_raising(services, caplog):
    message = call(tools_of(_BrokenServices(services))["search_documents"], query="leave")
    assert is_failure(message)
    assert "KeyError" in message.content
    assert "a defect" not in message.content
    (failure,) = [record for record in caplog.records if record.getMessage() == "tool failed"]
    assert failure.fields == {"tool": "search_documents"}


def conversation_with_file(services):
    """Create a conversation with an uploaded file and return its id."""
    *_, last = services.chat.stream(LOCAL_USER, "What is in here?")
    conversation_id = last.turn.conversation_id
    upload = services.uploads.add(
        LOCAL_USER,
        [("secret.md", b"# Secret\n\nThe password is swordfish.")],
        conversation_id=conversation_id,
    )
    services.imports.run(
        LOCAL_USER,
        services.sources.get(LOCAL_USER, upload.source_id).source,
        services.uploads.loader(services.sources.get(LOCAL_USER, upload.source_id).source),
    )
    return conversation_id


def test_files_of_a_conversation_are_visible_only_there(extractive):
    conversation_id = conversation_with_file(extractive)
    inside = tools_of(extractive, conversation_id=conversation_id)
    outside = tools_of(extractive)
    query = {"query": "What is the password?", "mode": "bm25"}
    assert "swordfish" in call(inside["search_documents"], **query).content
    assert "swordfish" not in call(outside["search_documents"], **query).content
    question = {"question": "What is the password?"}
    assert "swordfish" in call(inside["ask_documents"], **question).content
    assert "swordfish" not in call(outside["ask_documents"], **question).content
    assert "(upload)" in call(inside["list_sources"]).content
    assert "(upload)" not in call(outside["list_sources"]).content


def test_tools_for_the_conversation_of_another_user_are_refused(extractive):
    conversation_id = conversation_with_file(extractive)
    with pytest.raises(NotFoundError):
        document_tools(extractive, Principal("stranger"), conversation_id=conversation_id)


def test_the_answer_tool_returns_the_answer_and_one_line_per_source(services, model_server):
    model_server.will(Text(GOOD))
    tool = answer_tool(services, LOCAL_USER)
    message = call(tool, question="How many days of annual leave?")
    text, _, sources = message.content.partition("\n\nSources:\n")
    assert tool.return_direct
    assert text == "They get 25 days [1]."
    assert re.fullmatch(r"\[1\] Leave policy, .*leave\.md", sources)
    assert message.artifact is None


def test_the_answer_tool_returns_no_live_markup():
    passage = RetrievedPassage(1, "p", "d", "![x](http://evil/)", "http://wiki/![x](y)", "Text.")
    now = datetime(2026, 11, 26, tzinfo=UTC)
    turn = Turn(
        "t", "c", "?", TurnState.COMPLETE, now, answer="a <[9]img src=x> [1]", sources=(passage,)
    )
    text = answer_with_sources(numbered_answer(turn, SourceNumbers()))
    assert text == (
        "a \\<img src=x> [1]\n\nSources:\n[1] !\\[x\\](http://evil/), http://wiki/!%5Bx%5D(y)"
    )


def test_the_answer_tool_omits_an_empty_list_of_sources(services, model_server):
    model_server.will(Text("The sources do not say."))
    assert (
        call(answer_tool(services, LOCAL_USER), question="Why?").content
        == "The sources do not say."
    )


def test_the_answer_tool_reports_a_failure(services, model_server):
    model_server.will(Fault(503))
    assert is_failure(call(answer_tool(services, LOCAL_USER), question="Why?"))


async def test_the_tools_work_asynchronously(services):
    tool = tools_of(services)["search_documents"]
    arguments = {"query": "annual leave", "k": 1}
    message = await tool.ainvoke(
        {"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"}
    )
    assert message.artifact["numbers"] == [1]
