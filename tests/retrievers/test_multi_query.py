"""A question searched in several phrasings."""

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import Field

from domain.errors import ModelUnavailableError
from retrievers.ensemble import MultiQueryRetriever

TEXTS = {
    "leave": "annual leave is 15 days",
    "vacation": "vacation days lapse in March",
    "vpn": "the VPN runs WireGuard",
    "days": "15 days",
}


class Words(BaseRetriever):
    """Finds the texts that share a word with the query, most shared words first."""

    queries: list[tuple[str, int]] = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager, k=5):
        self.queries.append((query, k))
        query_words = set(query.split())
        shared = {id_: len(query_words & set(text.split())) for id_, text in TEXTS.items()}
        best = sorted((id_ for id_ in TEXTS if shared[id_]), key=lambda id_: -shared[id_])
        return [
            Document(TEXTS[id_], id=id_, metadata={"score": float(shared[id_])}) for id_ in best[:k]
        ]


def failing(_question):
    raise ModelUnavailableError("the model is overloaded: try again later")


def build(*rephrasings, rephrase=None, **options):
    rephrase = RunnableLambda(rephrase or (lambda _question: list(rephrasings)))
    return MultiQueryRetriever(base=Words(), rephrase=rephrase, **options)


def ids(results):
    return [document.id for document in results]


class TestMultiQueryRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return MultiQueryRetriever

    @property
    def retriever_constructor_params(self):
        return {"base": Words(), "rephrase": RunnableLambda(lambda _question: ["vacation days"])}

    @property
    def retriever_query_example(self):
        return "leave days"


def test_rephrasings_find_passages_that_the_question_misses():
    assert ids(build().invoke("leave")) == ["leave"]
    assert ids(build("vacation", "WireGuard").invoke("leave")) == ["leave", "vacation", "vpn"]


def test_the_question_and_each_distinct_rephrasing_are_searched_once():
    retriever = build("vacation", "leave", "vacation", " ")
    retriever.invoke("leave", k=3)
    assert retriever.base.queries == [("leave", 100), ("vacation", 100)]


def test_agreeing_rephrasings_do_not_outvote_the_question():
    results = build("VPN", "WireGuard", "the VPN runs").invoke("leave")
    assert ids(results) == ["leave", "vpn"]
    assert [document.metadata["score"] for document in results] == pytest.approx([1 / 61, 1 / 61])


def test_each_passage_has_the_rephrasings_and_their_shares():
    results = build("vacation days").invoke("annual leave")
    assert all(d.metadata["multi_query"] == {"rephrasings": ["vacation days"]} for d in results)
    both = results[0]
    assert [(part["ranker"], part["rank"], part["score"]) for part in both.metadata["parts"]] == [
        ("question", 1, 2.0),
        ("rephrasing 1", 2, 1.0),
    ]
    for document in results:
        shares = [part["share"] for part in document.metadata["parts"]]
        assert sum(shares) == pytest.approx(document.metadata["score"], abs=1e-12)


async def test_a_model_failure_is_reported_and_only_the_question_is_searched():
    retriever = build(rephrase=failing)
    results = retriever.invoke("15 days", k=2)
    assert [(d.id, d.metadata["score"]) for d in results] == [("leave", 2.0), ("days", 2.0)]
    report = {"skipped": "the model is overloaded: try again later"}
    assert [document.metadata["multi_query"] for document in results] == [report, report]
    assert retriever.base.queries == [("15 days", 2)]
    assert await retriever.ainvoke("15 days", k=2) == results


def test_a_program_error_is_not_handled_as_a_model_failure():
    with pytest.raises(ZeroDivisionError):
        build(rephrase=lambda _question: 1 / 0).invoke("leave")


def test_without_a_rephrasing_the_results_are_those_of_the_base():
    results = build().invoke("15 days", k=1)
    assert [(d.id, d.metadata["score"]) for d in results] == [("leave", 2.0)]
    assert results[0].metadata["multi_query"] == {"rephrasings": []}


async def test_async_results_equal_sync_results():
    retriever = build("vacation")
    assert await retriever.ainvoke("leave", k=1) == retriever.invoke("leave", k=1)


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_1_is_rejected(k):
    with pytest.raises(ValueError, match="k must be at least 1"):
        build().invoke("leave", k=k)
    with pytest.raises(ValueError):
        build(k=k)
