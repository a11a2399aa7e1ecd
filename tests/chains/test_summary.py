import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.utils import AddableDict

from chains.condensing.condense import RuleCondenser
from chains.requests.request_kinds import is_summary_request
from chains.requests.summary import Summarizer
from tests.chains.documents import EXPENSES, LEAVE, passages_of


class Library:
    """Two documents; `only` is what the conversation can only mean."""

    def __init__(self, only=()):
        self._only, self.asked_for = list(only), []

    def named(self, name):
        self.asked_for.append(name)
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


def test_a_summary_is_an_extract_of_the_document_that_is_named():
    said = answer("Summarize the leave policy")
    assert said["answer"].startswith("This is an extract of “Leave policy”, not a summary")
    assert "**Annual leave**\n\n“" in said["answer"]
    assert said["searched_questions"] == ["leave policy"]
    numbers = [one["extras"]["n"] for one in said["answer_citations"]]
    assert numbers == list(range(1, len(said["source_documents"]) + 1))
    for cited in said["answer_citations"]:
        source = said["source_documents"][cited["extras"]["n"] - 1]
        assert cited["cited_text"] in source.page_content


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Leave policy 요약해줘", "발췌한 것입니다"),
        ("Leave policyを要約して", "抜粋です"),
        ("Give me a summary of the leave policy", "an extract"),
    ],
)
def test_the_introduction_is_in_the_language_of_the_request(question, says):
    assert says in answer(question)["answer"].split("\n\n")[0]


def test_where_nothing_is_called_so_the_nearest_document_is_said_to_be_no_more():
    said = answer("Summarize the hotel rules")
    assert said["answer"].startswith("The nearest document is “Expenses”.")


def test_a_request_that_only_points_is_for_what_the_conversation_is_about():
    said = answer("Summarize it", [("How much is a hotel?", "Up to 120 pounds a night.")])
    assert said["answer"].startswith("The nearest document is “Expenses”.")
    assert "hotel" in said["searched_questions"][0]


def test_a_request_that_only_points_is_for_the_document_that_was_cited_last():
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


def test_the_only_document_that_can_be_meant_is_summarized():
    said = answer("Summarize this document", library=Library(only=LEAVE))
    assert said["answer"].startswith("This is an extract of “Leave policy”")
    assert said["searched_questions"] == ["Leave policy"]


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Summarize", "Which document"),
        ("요약해줘", "어느 문서를"),
        ("要約して", "どの文書を"),
        ("Summarize the treaty", "Which document"),
    ],
)
def test_a_document_that_is_not_found_is_asked_for(question, asks):
    said = answer(question)
    assert said["answer"].startswith(asks)
    assert "source_documents" not in said


def test_a_request_for_a_part_is_answered_as_a_question_without_the_request():
    assert answer("Summarize the steps to sign in")["answer"] == "Answered: steps to sign in"


def test_what_may_ask_something_else_is_answered_as_it_stands():
    question = "What is the hotel rule about?"
    assert answer(question)["answer"] == f"Answered: {question}"


def test_another_question_to_search_for_says_what_to_summarize():
    said = answer("Summarize it", standalone_question="Leave policy")
    assert said["answer"].startswith("This is an extract of “Leave policy”")


def test_brackets_and_stars_of_titles_and_headings_mean_nothing():
    passages = passages_of(
        "[1] *Draft*",
        [
            ([], "The draft of the plan begins with this sentence."),
            (["Goals [2]"], "The harbor needs a new gate before the winter storms."),
            (["*Costs*"], "The new gate of the harbor costs less than a new pier."),
        ],
    )
    said = answer("Summarize it", library=Library(only=passages))["answer"]
    assert "an extract of “\\[1\\] \\*Draft\\*”" in said
    assert "**Goals \\[2\\]**" in said


def test_only_requests_are_taken():
    assert is_summary_request({"question": "Summarize the leave policy"})
    assert not is_summary_request({"question": "How do I summarize logs?"})
