"""Any Runnable can be a child of our retrievers, which agree with LangChain's own classes."""

import asyncio

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.retrievers import ContextualCompressionRetriever
from langchain_classic.retrievers import EnsembleRetriever as ClassicEnsembleRetriever
from langchain_classic.retrievers.document_compressors import CrossEncoderReranker
from langchain_community.cross_encoders.base import BaseCrossEncoder
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import ConfigurableField, RunnableLambda
from langchain_core.vectorstores import InMemoryVectorStore

from retrievers.ensemble import EnsembleRetriever, MultiQueryRetriever
from retrievers.passage_retrievers import WindowRetriever
from retrievers.rerank import RerankRetriever
from tests.storage.vectors.random_vectors import TextVectors


class LongestFirst(BaseCrossEncoder):
    """The cross-encoder of another package, such as langchain-community."""

    def score(self, text_pairs):
        return np.array([float(len(text)) for _, text in text_pairs])


def twice(question):
    return [f"{question} again", f"{question} once more"]


async def twice_async(question):
    return twice(question)


def composed(child):
    """One retriever of each class over the child."""
    return [
        EnsembleRetriever(retrievers=[child, child]),
        RerankRetriever(base=child, cross_encoder=LongestFirst(), budget_s=60),
        MultiQueryRetriever(base=child, rephrase=RunnableLambda(twice, twice_async)),
        WindowRetriever(base=child, neighbors=lambda _ids, _n: {}),
    ]


def named(*names):
    return [Document(name, id=name) for name in names]


MANY = named(*(f"document {n:02}" for n in range(12)))


def texts_of(documents):
    return sorted(one.page_content for one in documents)


KINDS = ["EnsembleRetriever", "RerankRetriever", "MultiQueryRetriever", "WindowRetriever"]


@pytest.fixture(params=range(4), ids=KINDS)
def over(request):
    """Builds a retriever of each class over a child."""
    return lambda child: composed(child)[request.param]


class AsyncOnly(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        raise AssertionError("the synchronous path was called")

    async def _aget_relevant_documents(self, query, *, run_manager):
        return MANY


async def async_only(_question):
    return MANY


@pytest.mark.parametrize(
    "child",
    [
        AsyncOnly(),
        RunnableLambda(async_only),
        RunnableLambda(async_only).with_retry(),
        RunnableLambda(str.strip) | AsyncOnly(),
        RunnableLambda(lambda _question: 1 / 0).with_fallbacks([AsyncOnly()]),
        AsyncOnly().with_config(tags=["tag"]),
    ],
    ids=["retriever", "function", "retry", "chain", "fallback", "config"],
)
async def test_asynchronous_calls_await_any_child_and_return_all_its_documents(over, child):
    assert texts_of(await over(child).ainvoke("question")) == texts_of(MANY)
    assert len(await over(child).ainvoke("question", k=3)) == 3


async def test_children_are_searched_at_the_same_time():
    both_started = asyncio.Barrier(2)

    async def child(question):
        await both_started.wait()
        return named(question)

    ensemble = EnsembleRetriever(retrievers=[RunnableLambda(child)] * 2)
    several = MultiQueryRetriever(
        base=RunnableLambda(child), rephrase=RunnableLambda(lambda _question: ["other"])
    )
    async with asyncio.timeout(60):
        assert texts_of(await ensemble.ainvoke("question")) == ["question"]
        assert texts_of(await several.ainvoke("question")) == ["other", "question"]


def test_children_may_return_texts(over):
    child = RunnableLambda(lambda _question: ["one text", "another"])
    assert texts_of(over(child).invoke("question")) == ["another", "one text"]


def vector_store():
    store = InMemoryVectorStore(TextVectors())
    store.add_texts([f"1 {n} | text" for n in range(9)])
    return store


@pytest.mark.parametrize("wrap", [lambda one: one, lambda one: one.with_retry()])
def test_a_vector_store_s_retriever_keeps_its_own_number_unless_k_is_set(wrap):
    child = wrap(vector_store().as_retriever(search_kwargs={"k": 7}))
    ensemble = EnsembleRetriever(retrievers=[child])
    assert len(ensemble.invoke("1 0")) == 7
    assert len(ensemble.invoke("1 0", k=9)) == 9
    assert len(EnsembleRetriever(retrievers=[child], k=2).invoke("1 0")) == 2


class SyncWithK(BaseRetriever):
    """LangChain's asynchronous call of such a retriever does not accept `k`."""

    def _get_relevant_documents(self, query, *, run_manager, k=2):
        return MANY[:k]


class AsyncWithoutK(SyncWithK):
    async def _aget_relevant_documents(self, query, *, run_manager):
        return MANY[:2]


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        (SyncWithK(), 9),
        (SyncWithK().with_retry(), 9),
        (AsyncWithoutK(), 2),
        (SyncWithK().with_fallbacks([AsyncOnly()]), 2),
    ],
    ids=["sync", "retry", "async", "fallback"],
)
async def test_k_is_passed_to_children_only_if_they_accept_it(over, child, expected):
    assert len(over(child).invoke("question", k=9)) == expected
    assert len(await over(child).ainvoke("question", k=9)) == expected
    assert len(await over(child).ainvoke("question")) == 2


documents = st.builds(
    lambda text, id_: Document(text, id=id_),
    st.sampled_from("ABCDEFGHIJ"),
    st.one_of(st.none(), st.text(max_size=2)),
)
lists = st.lists(
    st.lists(documents, max_size=10, unique_by=lambda one: one.page_content), min_size=1, max_size=3
).filter(lambda some: any(one.id is None for each in some for one in each))


@given(lists=lists, data=st.data())
def test_documents_without_ids_are_merged_by_text_as_in_the_classic_ensemble(lists, data):
    weights = data.draw(st.lists(st.floats(0.01, 1), min_size=len(lists), max_size=len(lists)))
    children = [RunnableLambda(lambda _question, some=some: some) for some in lists]
    classic = ClassicEnsembleRetriever(retrievers=children, weights=weights)
    ours = EnsembleRetriever(retrievers=children, weights=weights)
    expected = [(one.page_content, one.id) for one in classic.invoke("question")]
    assert [(one.page_content, one.id) for one in ours.invoke("question")] == expected
    found = asyncio.run(ours.ainvoke("question"))
    assert [(one.page_content, one.id) for one in found] == expected


class Names(BaseCallbackHandler):
    """Collects the questions of all retrievers."""

    def __init__(self):
        self.questions = []

    def on_retriever_start(self, serialized, query, **kwargs):
        self.questions.append(query)


async def test_a_retriever_within_a_runnable_inherits_its_callbacks():
    retriever = EnsembleRetriever(retrievers=[vector_store().as_retriever()])
    sync, later = Names(), Names()
    RunnableLambda(lambda question: retriever.invoke(question)).invoke("1 0", {"callbacks": [sync]})

    async def search(question):
        return await retriever.ainvoke(question)

    await RunnableLambda(search).ainvoke("1 0", {"callbacks": [later]})
    assert sync.questions == later.questions == ["1 0", "1 0"]  # its own, and its child's


async def test_children_are_configurable_at_run_time_as_in_the_classic_ensemble():
    child = vector_store().as_retriever(search_kwargs={"k": 1})
    child = child.configurable_fields(search_kwargs=ConfigurableField(id="search_kwargs"))
    config = {"configurable": {"search_kwargs": {"k": 6}}}
    classic = ClassicEnsembleRetriever(retrievers=[child])
    ours = EnsembleRetriever(retrievers=[child])
    expected = texts_of(classic.invoke("1 0", config))
    assert len(expected) == 6
    assert texts_of(ours.invoke("1 0", config)) == expected
    assert texts_of(await ours.ainvoke("1 0", config)) == expected
    assert len(ours.invoke("1 0")) == 1


@given(texts=st.lists(st.text("ab", max_size=5), max_size=12))
def test_reranking_agrees_with_langchains_cross_encoder_reranker(texts):
    child = RunnableLambda(lambda _question: [Document(text) for text in texts])
    compressor = CrossEncoderReranker(model=LongestFirst(), top_n=len(texts))
    theirs = ContextualCompressionRetriever(base_compressor=compressor, base_retriever=child)
    ours = RerankRetriever(base=child, cross_encoder=LongestFirst(), budget_s=60)
    expected = [one.page_content for one in theirs.invoke("question")]
    assert [one.page_content for one in ours.invoke("question")] == expected
