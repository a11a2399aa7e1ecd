"""Documents cited earlier rank slightly higher in the results for a follow-up."""

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage

from chains.condensing.follow_ups import RANKS_AHEAD, prefer_cited


def history(*document_ids):
    cited = [{"type": "citation", "extras": {"document_id": one}} for one in document_ids]
    answer = AIMessage("25 days [1].", additional_kwargs={"citations": cited})
    return [HumanMessage("How much leave?"), answer]


def order(ids, question="And in Japan?", turns=(), **inputs):
    documents = [Document(one, metadata={"document_id": one}) for one in ids]
    chain_inputs = {"question": question, "chat_history": list(turns), **inputs}
    return "".join(document.page_content for document in prefer_cited(documents, chain_inputs))


def test_a_passage_of_the_last_cited_document_moves_up_one_rank():
    assert order("abc", turns=history("c")) == "acb"
    assert order("abc", turns=history("b")) == "bac"
    assert order("abc", turns=history("b", "c")) == "bac"
    assert order("abc", turns=[*history("c"), *history("b")]) == "bac"


def test_a_stopped_question_in_between_does_not_reset_the_preference():
    assert order("abc", turns=[*history("b"), HumanMessage("Why?"), AIMessage("")]) == "bac"


def test_the_order_is_unchanged_without_citations():
    assert order("abc", turns=[("How much leave?", "25 days.")]) == "abc"
    assert order("abc", turns=history(None)) == "abc"


def test_the_order_is_unchanged_for_a_standalone_question():
    complete = "How do I connect to the gateway in Bristol?"
    assert order("abc", complete, history("c")) == "abc"
    assert order("abc", turns=history("c"), standalone_question="Gateway") == "abc"


@given(st.lists(st.sampled_from("abcdef"), unique=True), st.sets(st.sampled_from("abcdef")))
def test_passages_are_only_reordered_and_cited_ones_move_up_a_few_ranks(ids, cited):
    moved = order(ids, turns=history(*cited))
    assert sorted(moved) == sorted(ids)
    for place, one in enumerate(ids):
        assert one not in cited or place - RANKS_AHEAD <= moved.index(one) <= place
