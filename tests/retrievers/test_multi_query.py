"""A question searched in several wordings."""

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import Field

from errors import ModelUnavailableError
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
        wanted = set(query.split())
        shared = {id_: len(wanted & set(text.split())) for id_, text in TEXTS.items()}
        best = sorted((id_ for id_ in TEXTS if shared[id_]), key=lambda id_: -shared[id_])
        return [
            Document(TEXTS[id_], id=id_, metadata={"score": float(shared[id_])}) for id_ in best[:k]
        ]


def failing(_question):
    raise ModelUnavailableError("the model is overloaded: try again later")


def build(*rephrasings, rephrase=None, **options):
    rephrase = RunnableLambda(rephrase or (lambda _question: list(rephrasings)))
    return MultiQueryRetriever(base=Words(), rephrase=rephrase, **options)


def ids(found):
    return [document.id for document in found]


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


def test_another_wording_finds_what_the_question_misses():
    assert ids(build().invoke("leave")) == ["leave"]
    assert ids(build("vacation", "WireGuard").invoke("leave")) == ["leave", "vacation", "vpn"]


def test_the_question_is_always_searched_and_each_wording_once():
    retriever = build("vacation", "leave", "vacation", " ")
    retriever.invoke("leave", k=3)
    assert retriever.base.queries == [("leave", 100), ("vacation", 100)]


def test_rephrasings_that_agree_do_not_outvote_the_question():
    found = build("VPN", "WireGuard", "the VPN runs").invoke("leave")
    assert ids(found) == ["leave", "vpn"]
    assert [document.metadata["score"] for document in found] == pytest.approx([1 / 61, 1 / 61])


def test_each_passage_tells_the_rephrasings_and_what_each_of_them_gave():
    found = build("vacation days").invoke("annual leave")
    assert all(d.metadata["multi_query"] == {"rephrasings": ["vacation days"]} for d in found)
    both = found[0]
    assert [(part["ranker"], part["rank"], part["score"]) for part in both.metadata["parts"]] == [
        ("question", 1, 2.0),
        ("rephrasing 1", 2, 1.0),
    ]
    for document in found:
        shares = [part["share"] for part in document.metadata["parts"]]
        assert sum(shares) == pytest.approx(document.metadata["score"], abs=1e-12)


async def test_where_the_model_fails_the_question_alone_is_searched_and_that_is_said():
    retriever = build(rephrase=failing)
    found = retriever.invoke("15 days", k=2)
    assert [(d.id, d.metadata["score"]) for d in found] == [("leave", 2.0), ("days", 2.0)]
    told = {"skipped": "the model is overloaded: try again later"}
    assert [document.metadata["multi_query"] for document in found] == [told, told]
    assert retriever.base.queries == [("15 days", 2)]
    assert await retriever.ainvoke("15 days", k=2) == found


def test_a_fault_of_the_program_is_not_taken_for_one_of_the_model():
    with pytest.raises(ZeroDivisionError):
        build(rephrase=lambda _question: 1 / 0).invoke("leave")


def test_without_a_rephrasing_the_passages_come_as_the_base_gives_them():
    found = build().invoke("15 days", k=1)
    assert [(d.id, d.metadata["score"]) for d in found] == [("leave", 2.0)]
    assert found[0].metadata["multi_query"] == {"rephrasings": []}


async def test_asynchronously_it_finds_the_same():
    retriever = build("vacation")
    assert await retriever.ainvoke("leave", k=1) == retriever.invoke("leave", k=1)


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_1_is_refused(k):
    with pytest.raises(ValueError, match="k must be at least 1"):
        build().invoke("leave", k=k)
    with pytest.raises(ValueError):
        build(k=k)
