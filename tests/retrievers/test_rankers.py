import pytest

from domain import SearchMode
from retrievers.rankers import ConvexRanker, DenseRanker, EnsembleRanker, hits_of, scored
from storage.vectors.passage_store import DeepLakePassages
from tests.fakes.models import HashingEmbeddings


@pytest.fixture
def store(tmp_path):
    texts = ["annual leave days", "sick leave note", "vpn client install"]
    store = DeepLakePassages(tmp_path, HashingEmbeddings())
    store.add_texts(texts, ids=[text.split()[0] for text in texts])
    return store


def fixed(*pairs):
    return lambda _question, depth, _condition: hits_of("fixed", pairs)[:depth]


def test_similarity_ranks_the_nearest_first(store):
    assert DenseRanker(store)("sick leave", 3, None)[0][0] == "sick"


def test_the_threshold_excludes_distant_passages(store):
    ranker = DenseRanker(store, SearchMode.SIMILARITY_SCORE_THRESHOLD, score_threshold=0.5)
    assert [hit.id for hit in ranker("vpn client", 3, None)] == ["vpn"]


def test_mmr_scores_decrease_with_the_rank(store):
    scores = [hit.score for hit in DenseRanker(store, SearchMode.MMR)("leave", 3, None)]
    assert scores == [1, 1 / 2, 1 / 3]


@pytest.mark.parametrize(
    ("question", "finds"), [("sick leave", True), ("휴가는 며칠인가요?", False), ("2026", True)]
)
def test_a_question_in_an_unsupported_script_finds_nothing(store, question, finds):
    ranker = DenseRanker(store, known_scripts=frozenset({"latin"}))
    assert bool(ranker(question, 3, None)) is finds


def test_a_mode_that_is_not_dense_is_rejected(store):
    with pytest.raises(ValueError, match="not a dense search mode"):
        DenseRanker(store, SearchMode.BM25)


def test_the_ensemble_fuses_ranks_and_ignores_scores():
    ranker = EnsembleRanker({"x": fixed(("a", 9.0), ("b", 8.9)), "y": fixed(("b", 0.1))})
    assert scored(ranker("q", 5, None)) == [
        ("b", pytest.approx(1 / 62 + 1 / 61)),
        ("a", pytest.approx(1 / 61)),
    ]


def test_an_empty_list_leaves_the_other_in_order():
    ranker = ConvexRanker(fixed(), fixed(("a", 3.0), ("b", 2.0), ("c", 1.0)), dense_weight=0.6)
    assert [hit.id for hit in ranker("질문", 2, None)] == ["a", "b"]


def test_the_script_of_the_question_selects_the_dense_weight():
    by_meaning, by_words = fixed(("near", 1.0), ("word", 0.1)), fixed(("word", 2.0), ("near", 0.1))
    ranker = ConvexRanker(by_meaning, by_words, 0.6, weights_by_script={"korean": 0.3})
    assert [hit.id for hit in ranker("question", 2, None)] == ["near", "word"]
    assert [hit.id for hit in ranker("질문", 2, None)] == ["word", "near"]
    assert [hit.id for hit in ranker("質問は？", 2, None)] == ["near", "word"]


def test_more_candidates_are_ranked_than_requested():
    depths = []

    def ranker(_question, depth, _condition):
        depths.append(depth)
        return []

    EnsembleRanker({"x": ranker, "y": ranker}, candidates=50)("q", 3, None)
    EnsembleRanker({"x": ranker}, candidates=50)("q", 80, None)
    assert depths == [50, 50, 80]


@pytest.mark.parametrize("weight", [-0.1, 2, float("nan")])
def test_a_dense_weight_outside_0_to_1_is_rejected_at_construction(weight):
    with pytest.raises(ValueError, match="dense_weight"):
        ConvexRanker(fixed(), fixed(), dense_weight=weight)
    with pytest.raises(ValueError, match="dense_weight"):
        ConvexRanker(fixed(), fixed(), weights_by_script={"korean": weight})
