from domain import LOCAL_USER, CitationState, Principal
from services.agent.agent_tools import document_tools
from services.agent.document_agent import checked_answer
from services.agent.tool_results import SourceNumbers

FACT = "New employees get 25 days of annual leave a year"


def retrieve(services, numbers):
    tool = document_tools(services, LOCAL_USER, numbers=numbers)[0]
    tool.invoke({"query": "annual leave", "k": 2})
    return numbers.documents


def test_an_answer_of_an_external_agent_is_checked_as_in_the_chat(services):
    documents = retrieve(services, SourceNumbers())
    n = next(n for n, document in enumerate(documents, 1) if FACT in document.page_content)
    answer = f'They get 25 days [{n}: "{FACT}"]. All get a car [{n}: "a car for all"]. So [9].'
    checked = checked_answer(services, answer, documents, LOCAL_USER)
    assert checked.text == f"They get 25 days [{n}]. All get a car [{n}]. So [9]."
    assert [citation.state for citation in checked.citations] == [
        CitationState.VERIFIED,
        CitationState.NOT_FOUND,
        CitationState.NO_SUCH_SOURCE,
    ]
    assert (
        services.reader.text(Principal("local"), checked.citations[0].document_id)[
            checked.citations[0].start : checked.citations[0].end
        ]
        == FACT
    )


def test_document_brackets_are_masked_for_the_model_and_checked_in_original_form(
    build_services, tmp_path
):
    (tmp_path / "paper.md").write_text("# Paper [3]\n\nThe method of Kim [42] is used [1, 2].\n")
    services = build_services(embed=True)
    services.directories.import_directory(LOCAL_USER, tmp_path)
    numbers = SourceNumbers()
    content = document_tools(services, LOCAL_USER, numbers=numbers)[0].invoke(
        {"query": "method of Kim"}
    )
    assert "[1] Paper ⟦3⟧" in content
    assert "The method of Kim ⟦42⟧ is used ⟦1, 2⟧." in content
    assert "[42]" not in content
    answer = 'It is known [1: "Kim ⟦42⟧ is used ⟦1, 2⟧"], says Kim ⟦42⟧ [1: "method of Kim"].'
    checked = checked_answer(services, answer, numbers.documents, LOCAL_USER)
    assert checked.text == "It is known [1], says Kim \\[42\\] [1]."
    assert [citation.quote for citation in checked.citations] == [
        "Kim [42] is used [1, 2]",
        "method of Kim",
    ]
    assert {citation.state for citation in checked.citations} == {CitationState.VERIFIED}


def test_without_passages_every_number_is_unknown(services):
    checked = checked_answer(services, "They get 25 days [1].", [], LOCAL_USER)
    assert [citation.state for citation in checked.citations] == [CitationState.NO_SUCH_SOURCE]
