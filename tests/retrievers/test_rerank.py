import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.cross_encoders import BaseCrossEncoder
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_tests.integration_tests import RetrieversIntegrationTests
from pydantic import Field, ValidationError

from domain.errors import ConfigError, ModelError, ModelUnavailableError
from retrievers.rerank import Reranking, RerankRetriever

TEXTS = ["vpn", "sick leave", "annual leave", "leave", "annual leave days"]


class Base(BaseRetriever):
    """Returns the texts in order and records its calls."""

    texts: list = TEXTS
    calls: list = Field(default_factory=list)
    results: list = Field(default_factory=list)

    def _get_relevant_documents(self, query, *, run_manager, k=5):
        self.calls.append((query, k))
        self.results[:] = [
            Document(text, id=f"p{place}", metadata={"score": 1 / place, "parts": [place]})
            for place, text in enumerate(self.texts[:k], start=1)
        ]
        return self.results


class Words(BaseCrossEncoder):
    """Counts the words that question and passage share."""

    def __init__(self):
        self.batches = []

    def score(self, text_pairs):
        self.batches.append(len(text_pairs))
        return [len(set(left.split()) & set(right.split())) for left, right in text_pairs]


class Scripted(BaseCrossEncoder):
    """Returns, raises, or calls one step of the script per batch."""

    def __init__(self, *script):
        self.script = list(script)

    def score(self, text_pairs):
        step = self.script.pop(0)
        if isinstance(step, Exception):
            raise step
        return step(text_pairs) if callable(step) else step


def build(cross_encoder=None, **options):
    # Far more than any test takes: only a hanging reranker exceeds it.
    limits = {"budget_s": 60, "base": Base()}
    return RerankRetriever(cross_encoder=cross_encoder or Words(), **(limits | options))


def ids(results):
    return [document.id for document in results]


def skipped(results):
    return {document.metadata["rerank"]["skipped"] for document in results}


class TestRerankRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return RerankRetriever

    @property
    def retriever_constructor_params(self):
        return {"base": Base(), "cross_encoder": Words()}

    @property
    def retriever_query_example(self):
        return "annual leave"


def test_passages_are_sorted_by_score_and_ties_by_the_order_of_the_base():
    assert ids(build().invoke("annual leave")) == ["p3", "p5", "p2", "p4", "p1"]


def test_each_passage_has_its_score_and_its_ranks_before_and_after():
    moves = [document.metadata["rerank"] for document in build().invoke("annual leave", k=3)]
    assert moves == [
        {"score": 2.0, "rank": 1, "rank_before": 3},
        {"score": 2.0, "rank": 2, "rank_before": 5},
        {"score": 1.0, "rank": 3, "rank_before": 2},
    ]


def test_score_and_parts_of_the_base_are_preserved_and_its_documents_unchanged():
    retriever = build()
    first = retriever.invoke("annual leave", k=1)[0]
    assert (first.metadata["score"], first.metadata["parts"]) == (1 / 3, [3])
    assert all("rerank" not in document.metadata for document in retriever.base.results)


def test_the_base_is_searched_to_the_depth_for_any_k():
    retriever = build(k=1, depth=4)
    assert ids(retriever.invoke("annual leave")) == ["p3"]
    assert retriever.base.calls == [("annual leave", 4)]


def test_passages_below_the_depth_keep_their_order_with_a_reason():
    results = build(k=5, depth=3).invoke("annual leave")
    assert ids(results) == ["p3", "p2", "p1", "p4", "p5"]
    assert skipped(results[3:]) == {"Only the first 3 passages were reranked."}


def test_scoring_is_done_in_batches():
    words = Words()
    build(words, pairs_per_batch=2).invoke("annual leave")
    assert words.batches == [2, 2, 1]


def test_without_passages_the_reranker_is_not_called():
    words = Words()
    assert build(words, base=Base(texts=[])).invoke("annual leave") == []
    assert words.batches == []


async def test_async_calls_are_reranked():
    assert ids(await build().ainvoke("annual leave", k=2)) == ["p3", "p5"]


def test_an_exceeded_budget_keeps_the_order_of_the_base_with_a_reason():
    over = threading.Event()
    stuck = Scripted(lambda _pairs: over.wait())
    try:
        results = build(stuck, budget_s=0.05).invoke("annual leave", k=3)
    finally:
        over.set()
    assert ids(results) == ["p1", "p2", "p3"]
    assert skipped(results) == {"Reranking took longer than 0.05 s."}


def test_a_hanging_batch_does_not_block_program_exit():
    over = threading.Event()
    threads = []

    def stuck(_pairs):
        threads.append(threading.current_thread())
        over.wait()

    try:
        build(Scripted(stuck), budget_s=0.5).invoke("annual leave")
        assert [thread.daemon for thread in threads] == [True]
    finally:
        over.set()


def test_no_batch_is_started_after_the_budget_is_exceeded():
    over, done = threading.Event(), threading.Event()

    def stuck(pairs):
        done.thread = threading.current_thread()
        over.wait()
        return [1.0] * len(pairs)

    reranker = Scripted(stuck, AssertionError("a second batch"))
    build(reranker, budget_s=0.5, pairs_per_batch=2).invoke("annual leave")
    over.set()
    done.thread.join()
    assert len(reranker.script) == 1


@pytest.mark.parametrize("error", [ModelError("It broke."), ModelUnavailableError("It broke.")])
def test_a_reranker_failure_keeps_the_order_of_the_base_with_a_reason(error):
    results = build(Scripted([9.0, 8.0], error), pairs_per_batch=2, depth=4).invoke("annual leave")
    assert ids(results) == ["p1", "p2", "p3", "p4", "p5"]
    assert skipped(results) == {"It broke."}


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        ([1.0] * 4, "The reranker returned 4 scores for 5 passages."),
        ([], "The reranker returned 0 scores for 5 passages."),
        ([1.0, float("nan"), 2.0, 3.0, 4.0], "The reranker returned nan as a score."),
        ([1.0, 2.0, float("-inf"), 3.0, 4.0], "The reranker returned -inf as a score."),
    ],
)
def test_invalid_scores_keep_the_order_of_the_base_with_a_reason(scores, reason):
    results = build(Scripted(scores)).invoke("annual leave")
    assert ids(results) == ["p1", "p2", "p3", "p4", "p5"]
    assert skipped(results) == {reason}


@pytest.mark.parametrize("error", [ConfigError("no such model"), ZeroDivisionError()])
def test_configuration_errors_and_bugs_are_not_hidden(error):
    with pytest.raises(type(error)):
        build(Scripted(error)).invoke("annual leave")


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_1_is_rejected(k):
    with pytest.raises(ValueError, match="k must be at least 1"):
        build().invoke("leave", k=k)


@pytest.mark.parametrize("limits", [{"depth": 0}, {"budget_s": 0}, {"pairs_per_batch": 0}])
def test_invalid_limits_are_rejected(limits):
    with pytest.raises(ValidationError):
        build(**limits)


@given(
    scores=st.lists(st.floats(-9, 9), min_size=1, max_size=12),
    k=st.integers(1, 14),
    depth=st.integers(1, 14),
    batch=st.integers(1, 5),
)
def test_no_passage_is_lost_or_duplicated_and_ranks_start_at_1(scores, k, depth, batch):
    base = Base(texts=[f"t{place}" for place in range(len(scores))])
    known = {f"t{place}": score for place, score in enumerate(scores)}
    encoder = Scripted(*[lambda pairs: [known[text] for _, text in pairs]] * len(scores))
    options = {"k": max(k, depth), "depth": depth, "pairs_per_batch": batch}
    results = build(encoder, base=base, **options).invoke("anything")
    assert sorted(ids(results)) == sorted(
        f"p{n + 1}" for n in range(min(max(k, depth), len(scores)))
    )
    moves = [document.metadata["rerank"] for document in results[:depth]]
    assert [move["rank"] for move in moves] == list(range(1, len(moves) + 1))
    assert [move["score"] for move in moves] == sorted(scores[:depth], reverse=True)
    assert ids(results)[:depth] == [f"p{move['rank_before']}" for move in moves]


def test_pairs_can_be_scored_without_a_retriever():
    reranking = Reranking(Words(), depth=1, budget_s=60, pairs_per_batch=2)
    pairs = [("annual leave", text) for text in TEXTS]
    assert reranking.scores(pairs) == [0, 1, 2, 1, 2]
    assert reranking.cross_encoder.batches == [2, 2, 1]
    with pytest.raises(ModelError, match="2 scores for 1"):
        Reranking(Scripted([1.0, 2.0]), depth=1, budget_s=60).scores(pairs[:1])
