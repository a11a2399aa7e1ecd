"""What was cited before comes a little earlier in what is found for a follow-up."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage

from chains.condensing.follow_ups import RANKS_AHEAD, prefer_cited


def history(*document_ids):
    cited = [{"type": "citation", "extras": {"document_id": one}} for one in document_ids]
    answer = AIMessage("25 days [1].", additional_kwargs={"citations": cited})
    return [HumanMessage("How much leave?"), answer]


def order(found, question="And in Japan?", said=(), **inputs):
    documents = [Document(one, metadata={"document_id": one}) for one in found]
    asked = {"question": question, "chat_history": list(said), **inputs}
    return "".join(document.page_content for document in prefer_cited(documents, asked))


def test_a_passage_of_the_document_cited_last_moves_up_one_place():
    assert order("abc", said=history("c")) == "acb"
    assert order("abc", said=history("b")) == "bac"
    assert order("abc", said=history("b", "c")) == "bac"
    assert order("abc", said=[*history("c"), *history("b")]) == "bac"


def test_a_stopped_question_in_between_leaves_the_preference():
    assert order("abc", said=[*history("b"), HumanMessage("Why?"), AIMessage("")]) == "bac"


def test_the_order_stays_where_nothing_is_known_to_be_cited():
    assert order("abc", said=[("How much leave?", "25 days.")]) == "abc"
    assert order("abc", said=history(None)) == "abc"


def test_the_order_stays_for_a_question_that_stands_alone():
    complete = "How do I connect to the gateway in Bristol?"
    assert order("abc", complete, history("c")) == "abc"
    assert order("abc", said=history("c"), standalone_question="Gateway") == "abc"


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.sets(st.sampled_from("abcdef")))
def test_passages_are_only_moved_and_the_cited_ones_by_few_places(found, cited):
    moved = order(found, said=history(*cited))
    assert sorted(moved) == sorted(found)
    for place, one in enumerate(found):
        assert one not in cited or place - RANKS_AHEAD <= moved.index(one) <= place
