import re

import pytest

from domain import LOCAL_USER, CitationState, Principal, Scope, SearchChoice
from errors import NotFoundError
from services.agent.agent_tools import answer_tool, document_tools
from services.agent.tool_results import SourceNumbers
from tests.fakes.openai import Fault, Text

GOOD = 'They get 25 days [1: "New employees get 25 days of annual leave a year"].'


def call(tool, **arguments):
    return tool.invoke({"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"})


def tools_of(services, *args, **options):
    return {tool.name: tool for tool in document_tools(services, *args, **options)}


def is_failure(message):
    return message.status == "error" and message.content.startswith("Failed: ")


def listed(content):
    """The numbers of the Sources list."""
    return [int(n) for n in re.findall(r"^\[(\d+)\]", content.partition("\nSources:\n")[2], re.M)]


def test_the_tools_come_in_one_order_and_say_when_to_use_them(services):
    tools = document_tools(services)
    assert [tool.name for tool in tools] == [
        "search_documents",
        "ask_documents",
        "open_document",
        "list_sources",
    ]
    assert all("Use it" in tool.description and "Return" in tool.description for tool in tools)
    assert all(one["description"] for tool in tools for one in tool.args.values())


def test_a_search_gives_numbered_text_with_its_sources_and_the_documents(services):
    told = call(tools_of(services)["search_documents"], query="annual leave", k=2)
    documents = told.artifact["documents"]
    assert told.status == "success"
    assert told.artifact["numbers"] == [1, 2] == listed(told.content)
    for n, document in enumerate(documents, start=1):
        assert f"[{n}] {document.metadata['title']}" in told.content
        assert document.page_content in told.content
        assert document.metadata["location"] in told.content
        assert document.metadata["document_id"] in told.content
    assert told.artifact["citations"] == []


def test_two_tools_of_one_conversation_share_the_numbers(services):
    tools = tools_of(services)
    first = call(tools["search_documents"], query="annual leave", k=1)
    again = call(tools["search_documents"], query="annual leave of new employees", k=4)
    known = first.artifact["documents"][0].id
    numbers = dict(
        zip([one.id for one in again.artifact["documents"]], again.artifact["numbers"], strict=True)
    )
    assert numbers[known] == 1
    assert sorted(numbers.values()) == [1, 2, 3, 4]


def test_a_search_looks_only_where_it_was_told_to(services):
    nowhere = SearchChoice(scope=Scope(formats=("pdf",)))
    told = call(tools_of(services, search=nowhere)["search_documents"], query="annual leave")
    assert told.status == "success"
    assert told.content.startswith("Nothing was found.")
    assert told.artifact == {"documents": [], "numbers": [], "citations": []}


def test_a_search_uses_the_mode_that_it_is_told(services):
    tool = tools_of(services)["search_documents"]
    told = call(tool, query="WireGuard", mode="bm25")
    assert [one.metadata["title"] for one in told.artifact["documents"]] == ["VPN"]


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
def test_wrong_arguments_are_told_as_a_failure(services, arguments):
    told = call(tools_of(services)["search_documents"], **arguments)
    assert is_failure(told)
    assert told.content.endswith("Call the tool again with other arguments.")


def test_a_blank_text_is_called_that_and_not_measured_against_a_pattern(services):
    told = call(tools_of(services)["search_documents"], query=" ")
    assert told.content.startswith("Failed: query: It is empty or blank.")


def test_a_start_beyond_what_can_be_counted_is_told_as_a_failure(services):
    told = call(tools_of(services)["open_document"], document_id="x", start=10**30)
    assert is_failure(told)
    assert "start: Input should be less than or equal to 999999999" in told.content


def test_the_answer_of_the_chain_takes_the_numbers_of_the_conversation(services, model_server):
    numbers = SourceNumbers()
    tools = tools_of(services, numbers=numbers)
    call(tools["search_documents"], query="WireGuard", mode="bm25")
    model_server.will(Text(GOOD))
    told = call(tools["ask_documents"], question="How many days of annual leave?")
    assert told.content.startswith("They get 25 days [2].")
    assert told.artifact["numbers"] == [2] == listed(told.content)
    assert told.artifact["documents"][0].page_content in told.content
    [citation] = told.artifact["citations"]
    assert citation["n"] == 2
    assert citation["state"] == CitationState.VERIFIED
    assert citation["quote"] == "New employees get 25 days of annual leave a year"
    assert numbers.documents[1].id == citation["passage_id"]


def test_what_is_not_proven_is_said_and_is_no_citation(services, model_server):
    invented = 'Fridays are free [2: "Fridays are free"]. Lunch is free in every office [9].'
    model_server.will(Text(f"{GOOD} {invented}"))
    told = call(tools_of(services)["ask_documents"], question="How many days of annual leave?")
    assert {one["n"] for one in told.artifact["citations"]} == {1}
    assert "[9]" not in told.content
    assert "Not supported by any source: 2 sentences." in told.content


def test_the_chain_answers_without_a_model_too(extractive):
    told = call(tools_of(extractive)["ask_documents"], question="How many days of annual leave?")
    assert "25 days" in told.content
    assert {one["state"] for one in told.artifact["citations"]} == {"verified"}


def test_asking_does_not_start_another_agent(services, model_server):
    model_server.will(Text(GOOD))
    tool = tools_of(services, search=SearchChoice(by_agent=True))["ask_documents"]
    assert call(tool, question="How many days?").status == "success"
    assert not any("tools" in request.body for request in model_server.requests)


def test_a_model_that_fails_is_told_as_a_failure(services, model_server):
    model_server.will(Fault(503))
    told = call(tools_of(services)["ask_documents"], question="How many days?")
    assert is_failure(told)
    assert "HTTP 503" in told.content


def test_an_answer_that_was_cut_short_says_so(services, model_server):
    model_server.will(Text(GOOD, finish_reason="length"))
    told = call(tools_of(services)["ask_documents"], question="How many days?")
    assert "The answer is incomplete: " in told.content


def test_a_document_is_read_from_where_it_is_told(services):
    tools = tools_of(services)
    found = call(tools["search_documents"], query="Tell your lead", k=1).artifact["documents"][0]
    document_id = found.metadata["document_id"]
    read = call(tools["open_document"], document_id=document_id)
    passages = read.artifact["documents"]
    assert [one.metadata["start"] for one in passages] == sorted(
        one.metadata["start"] for one in passages
    )
    assert (
        dict(zip([one.id for one in passages], read.artifact["numbers"], strict=True))[found.id]
        == 1
    )
    assert read.content.endswith("The document ends here.")
    last = call(
        tools["open_document"], document_id=document_id, start=passages[-1].metadata["start"]
    )
    assert passages[-1].page_content in last.content
    after = call(tools["open_document"], document_id=document_id, start=10_000)
    assert after.content == "The document has no text after character 10000."


def test_a_long_document_is_read_on_until_its_end(build_services, tmp_path):
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
        read = call(tool, document_id=document.id, start=start)
        ids += [one.id for one in read.artifact["documents"]]
        more = re.search(r"call open_document with start=(\d+)\.$", read.content)
        if not more:
            break
        start = int(more[1])
    whole = services.reader.passages(LOCAL_USER, document.id, limit=1000)
    assert ids == [one.id for one in whole]
    assert len(ids) > 20


def test_a_document_that_is_not_there_is_told_as_a_failure(services):
    told = call(tools_of(services)["open_document"], document_id="no such")
    assert is_failure(told)
    assert "not in the library" in told.content


def test_the_sources_are_listed_with_what_they_hold(services):
    told = call(tools_of(services)["list_sources"])
    assert told.content == "- handbook (directory): 4 documents, collection handbook"
    assert told.artifact["documents"] == []


def test_an_empty_library_says_so(build_services):
    tools = tools_of(build_services(embed=True))
    assert call(tools["list_sources"]).content == "The library is empty."
    assert call(tools["search_documents"], query="leave").content.startswith("Nothing was found.")


class _Broken:
    """Services whose search has a defect."""

    def __init__(self, services):
        self.chat, self.conversations = services.chat, services.conversations
        self.reader, self.sources = services.reader, services.sources

    @property
    def search(self):
        raise KeyError("a defect")


def test_a_defect_is_logged_and_told_without_raising(services, caplog):
    told = call(tools_of(_Broken(services))["search_documents"], query="leave")
    assert is_failure(told)
    assert "KeyError" in told.content
    assert "a defect" not in told.content
    (failure,) = [one for one in caplog.records if one.getMessage() == "tool failed"]
    assert failure.fields == {"tool": "search_documents"}


def given_to_a_conversation(services):
    """A conversation with a file of its own, and its id."""
    *_, last = services.chat.stream(LOCAL_USER, "What is in here?")
    conversation_id = last.turn.conversation_id
    given = services.uploads.add(
        LOCAL_USER,
        [("secret.md", b"# Secret\n\nThe password is swordfish.")],
        conversation_id=conversation_id,
    )
    services.imports.run(
        LOCAL_USER,
        services.sources.get(LOCAL_USER, given.source_id).source,
        services.uploads.loader(services.sources.get(LOCAL_USER, given.source_id).source),
    )
    return conversation_id


def test_files_of_a_conversation_are_found_and_listed_in_it_alone(extractive):
    conversation_id = given_to_a_conversation(extractive)
    inside = tools_of(extractive, conversation_id=conversation_id)
    outside = tools_of(extractive)
    asked = {"query": "What is the password?", "mode": "bm25"}
    assert "swordfish" in call(inside["search_documents"], **asked).content
    assert "swordfish" not in call(outside["search_documents"], **asked).content
    question = {"question": "What is the password?"}
    assert "swordfish" in call(inside["ask_documents"], **question).content
    assert "swordfish" not in call(outside["ask_documents"], **question).content
    assert "(upload)" in call(inside["list_sources"]).content
    assert "(upload)" not in call(outside["list_sources"]).content


def test_nobody_gets_tools_for_a_conversation_of_somebody_else(extractive):
    conversation_id = given_to_a_conversation(extractive)
    with pytest.raises(NotFoundError):
        document_tools(extractive, Principal("stranger"), conversation_id=conversation_id)


def test_the_plain_form_is_the_answer_and_its_sources_one_a_line(services, model_server):
    model_server.will(Text(GOOD))
    tool = answer_tool(services)
    told = call(tool, question="How many days of annual leave?")
    text, _, sources = told.content.partition("\n\nSources:\n")
    assert tool.return_direct
    assert text == "They get 25 days [1]."
    assert re.fullmatch(r"\[1\] Leave policy, .*leave\.md", sources)
    assert told.artifact is None


def test_the_plain_form_without_a_source_is_the_answer_alone(services, model_server):
    model_server.will(Text("The sources do not say."))
    assert call(answer_tool(services), question="Why?").content == "The sources do not say."


def test_the_plain_form_tells_a_failure(services, model_server):
    model_server.will(Fault(503))
    assert is_failure(call(answer_tool(services), question="Why?"))


async def test_the_tools_work_asynchronously(services):
    tool = tools_of(services)["search_documents"]
    arguments = {"query": "annual leave", "k": 1}
    told = await tool.ainvoke(
        {"name": tool.name, "args": arguments, "id": "1", "type": "tool_call"}
    )
    assert told.artifact["numbers"] == [1]
