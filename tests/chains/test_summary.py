import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.utils import AddableDict

from chains.condensing.condense import RuleCondenser
from chains.requests.request_kinds import is_summary_request
from chains.requests.summary import Summarizer
from tests.chains.documents import EXPENSES, LEAVE, passages_of


class Library:
    """Two documents; `only` is the one document that the conversation can refer to."""

    def __init__(self, only=()):
        self._only = list(only)

    def named(self, name):
        return LEAVE if name.casefold() == "leave policy" else []

    def nearest(self, text):
        return EXPENSES if "hotel" in text else []

    def only(self):
        return self._only

    def known(self, document_id):
        return LEAVE if document_id == "d1" else []


def chain_answer(inputs):
    return AddableDict(answer=f"Answered: {inputs['question']}")


def answer(question, history=(), library=None, **inputs):
    summarizer = Summarizer(library or Library(), RuleCondenser(), RunnableLambda(chain_answer))
    return summarizer.invoke({"question": question, "chat_history": list(history), **inputs})


def test_a_summary_is_an_extract_of_the_named_document():
    output = answer("Summarize the leave policy")
    assert output["answer"].startswith("This is an extract of “Leave policy”, not a summary")
    assert "**Annual leave**\n\n“" in output["answer"]
    assert output["searched_questions"] == ["leave policy"]
    numbers = [one["extras"]["n"] for one in output["answer_citations"]]
    assert numbers == list(range(1, len(output["source_documents"]) + 1))
    for cited in output["answer_citations"]:
        source = output["source_documents"][cited["extras"]["n"] - 1]
        assert cited["cited_text"] in source.page_content


@pytest.mark.parametrize(
    ("question", "phrase"),
    [
        ("Leave policy 요약해줘", "발췌한 것입니다"),
        ("Leave policyを要約して", "抜粋です"),
        ("Give me a summary of the leave policy", "an extract"),
    ],
)
def test_the_introduction_is_in_the_language_of_the_request(question, phrase):
    assert phrase in answer(question)["answer"].split("\n\n")[0]


def test_without_a_matching_title_the_nearest_document_is_offered_as_such():
    output = answer("Summarize the hotel rules")
    assert output["answer"].startswith("The nearest document is “Expenses”.")


def test_a_request_with_a_pronoun_refers_to_the_topic_of_the_conversation():
    output = answer("Summarize it", [("How much is a hotel?", "Up to 120 pounds a night.")])
    assert output["answer"].startswith("The nearest document is “Expenses”.")
    assert "hotel" in output["searched_questions"][0]


def test_a_request_with_a_pronoun_refers_to_the_last_cited_document():
    cited = [{"type": "citation", "cited_text": "x", "extras": {"n": 1, "document_id": "d1"}}]
    history = [
        HumanMessage("How many days?"),
        AIMessage("25 days.", additional_kwargs={"citations": cited}),
        HumanMessage("Thanks!"),
        AIMessage("Glad to help.", additional_kwargs={"citations": []}),
    ]
    assert answer("Summarize it", history)["answer"].startswith(
        "This is an extract of “Leave policy”"
    )


def test_the_only_document_in_question_is_summarized():
    output = answer("Summarize this document", library=Library(only=LEAVE))
    assert output["answer"].startswith("This is an extract of “Leave policy”")
    assert output["searched_questions"] == ["Leave policy"]


@pytest.mark.parametrize(
    ("question", "reply"),
    [
        ("Summarize", "Which document"),
        ("요약해줘", "어느 문서를"),
        ("要約して", "どの文書を"),
        ("Summarize the treaty", "Which document"),
    ],
)
def test_an_unknown_document_leads_to_a_question_for_its_title(question, reply):
    output = answer(question)
    assert output["answer"].startswith(reply)
    assert "source_documents" not in output


def test_a_request_for_a_part_is_answered_as_a_question_without_the_verb():
    assert answer("Summarize the steps to sign in")["answer"] == "Answered: steps to sign in"


def test_an_ambiguous_request_is_answered_unchanged():
    question = "What is the hotel rule about?"
    assert answer(question)["answer"] == f"Answered: {question}"


def test_a_standalone_question_names_the_document_to_summarize():
    output = answer("Summarize it", standalone_question="Leave policy")
    assert output["answer"].startswith("This is an extract of “Leave policy”")


def test_brackets_and_stars_in_titles_and_headings_are_escaped():
    passages = passages_of(
        "[1] *Draft*",
        [
            ([], "The draft of the plan begins with this sentence."),
            (["Goals [2]"], "The harbor needs a new gate before the winter storms."),
            (["*Costs*"], "The new gate of the harbor costs less than a new pier."),
        ],
    )
    output = answer("Summarize it", library=Library(only=passages))["answer"]
    assert "an extract of “\\[1\\] \\*Draft\\*”" in output
    assert "**Goals \\[2\\]**" in output


def test_only_requests_for_summaries_are_recognized():
    assert is_summary_request({"question": "Summarize the leave policy"})
    assert not is_summary_request({"question": "How do I summarize logs?"})
