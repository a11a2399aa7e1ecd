import pytest
from langchain_core.documents import Document
from langchain_tests.integration_tests import RetrieversIntegrationTests

from retrievers.passage_retrievers import SPARE, PassageRetriever
from retrievers.rankers import KeywordRanker, hits_of

TEXTS = {f"p{number}": f"annual leave, rule {number}" for number in range(6)}


class Words:
    """Scores a passage by the words that it shares with the question."""

    def search(self, query, k, condition=None):
        query_words = set(query.split())
        scored = [
            (item, float(len(query_words & set(text.split())))) for item, text in TEXTS.items()
        ]
        only = (condition or {}).get("id")
        results = [pair for pair in scored if pair[1] and only in (None, pair[0])]
        return sorted(results, key=lambda pair: -pair[1])[:k]


def hydrate(ids):
    return [Document(TEXTS[item], id=item, metadata={"page": 1}) for item in ids if item in TEXTS]


def build(rank, **options):
    return PassageRetriever(rank=rank, hydrate=hydrate, **options)


class TestPassageRetriever(RetrieversIntegrationTests):
    @property
    def retriever_constructor(self):
        return PassageRetriever

    @property
    def retriever_constructor_params(self):
        ranker = KeywordRanker(Words())
        return {"rank": ranker, "hydrate": hydrate}

    @property
    def retriever_query_example(self):
        return "annual leave"


def test_passages_have_scores_and_are_sorted_best_first():
    results = build(KeywordRanker(Words())).invoke("rule 3")
    assert results[0].id == "p3"
    assert [document.metadata["score"] for document in results] == [2.0, 1.0, 1.0, 1.0, 1.0]


def test_each_passage_has_the_contribution_of_each_list():
    best = build(KeywordRanker(Words())).invoke("rule 3")[0]
    assert best.metadata["parts"] == [{"ranker": "bm25", "rank": 1, "score": 2.0, "share": 2.0}]


def test_uncommitted_passages_do_not_reduce_the_results():
    ghosts = [(f"ghost{number}", 2.0) for number in range(SPARE)]
    hits = hits_of("bm25", [*ghosts, ("p1", 1.0)])
    retriever = build(lambda _question, depth, _condition: hits[:depth], k=1)
    assert [document.id for document in retriever.invoke("leave")] == ["p1"]


def test_spare_passages_are_loaded_only_if_others_are_uncommitted():
    loaded = []

    def recording_hydrate(ids):
        loaded.append(list(ids))
        return hydrate(ids)

    hits = hits_of("bm25", [("p1", 3.0), ("p2", 2.0), ("p3", 1.0)])
    retriever = PassageRetriever(rank=lambda *_: hits, hydrate=recording_hydrate, k=2)
    assert [document.id for document in retriever.invoke("leave")] == ["p1", "p2"]
    assert loaded == [["p1", "p2"]]


def test_a_condition_reaches_the_ranker():
    ranker = KeywordRanker(Words())
    results = build(ranker, condition={"id": "p4"}).invoke("annual leave")
    assert [document.id for document in results] == ["p4"]


def test_unknown_words_find_nothing():
    assert build(KeywordRanker(Words())).invoke("zebra") == []


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_1_is_rejected(k):
    with pytest.raises(ValueError, match="k must be at least 1"):
        build(KeywordRanker(Words())).invoke("leave", k=k)
