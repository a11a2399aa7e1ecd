import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_classic.retrievers import EnsembleRetriever
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from domain import Normalization
from retrievers import rankers
from retrievers.rankers import scored as without_parts

ids = st.text("abcdefghij", min_size=1, max_size=2)
ranking = st.lists(ids, unique=True, max_size=12)
score = st.floats(-50, 50).map(lambda value: round(value, 3))
scored = st.dictionaries(ids, score, max_size=12).map(
    lambda scores: sorted(scores.items(), key=lambda pair: -pair[1])
)
weight = st.floats(0, 1)
normalization = st.sampled_from(Normalization)


def named(rankings):
    return {
        f"list {n}": [(item, -float(rank)) for rank, item in enumerate(ranking)]
        for n, ranking in enumerate(rankings)
    }


def fuse_reciprocal_ranks(rankings, **options):
    return without_parts(rankers.fuse_reciprocal_ranks(named(rankings), **options))


def combine_convex(dense, sparse, **options):
    return without_parts(rankers.combine_convex(dense, sparse, **options))


@given(st.lists(ranking, max_size=4))
def test_each_id_occurs_once_and_scores_never_increase(rankings):
    fused = fuse_reciprocal_ranks(rankings)
    assert sorted(item for item, _ in fused) == sorted({item for one in rankings for item in one})
    assert all(a[1] >= b[1] for a, b in zip(fused, fused[1:], strict=False))


@given(ranking)
def test_a_single_ranking_keeps_its_order(one):
    assert [item for item, _ in fuse_reciprocal_ranks([one])] == one


def test_an_id_in_both_lists_ranks_above_the_first_of_each():
    fused = fuse_reciprocal_ranks([["a", "both"], ["b", "both"]])
    assert fused[0] == ("both", pytest.approx(2 / 62))


class Fixed(BaseRetriever):
    results: list[str]

    def _get_relevant_documents(self, query, *, run_manager):
        return [Document(item, metadata={"id": item}) for item in self.results]


@given(st.lists(ranking, min_size=1, max_size=3), st.data())
def test_fusion_agrees_with_the_classic_ensemble(rankings, data):
    weights = data.draw(
        st.lists(st.floats(0.01, 1), min_size=len(rankings), max_size=len(rankings))
    )
    oracle = EnsembleRetriever(
        retrievers=[Fixed(results=one) for one in rankings], weights=weights, id_key="id"
    )
    expected = [document.page_content for document in oracle.invoke("question")]
    assert [item for item, _ in fuse_reciprocal_ranks(rankings, weights=weights)] == expected


def test_the_number_of_weights_must_equal_the_number_of_lists():
    with pytest.raises(ValueError):
        fuse_reciprocal_ranks([["a"], ["b"]], weights=[1.0])


@given(scored, scored, weight)
def test_combined_scores_are_between_0_and_1_and_never_increase(dense, sparse, share):
    fused = combine_convex(dense, sparse, dense_weight=share)
    assert {item for item, _ in fused} == {item for item, _ in [*dense, *sparse]}
    assert all(-1e-9 <= value <= 1 + 1e-9 for _, value in fused)
    assert all(a[1] >= b[1] for a, b in zip(fused, fused[1:], strict=False))


@given(scored.filter(bool), weight)
def test_a_single_list_keeps_its_order_and_has_the_full_weight(alone, share):
    without_dense = combine_convex([], alone, dense_weight=share)
    assert without_dense == combine_convex(alone, [], dense_weight=share)
    assert [item for item, _ in without_dense] == [item for item, _ in alone]
    assert without_dense[0][1] == 1


@given(scored, scored, weight, st.integers(1, 50), st.integers(-20, 20))
def test_scaling_and_shifting_a_list_changes_nothing(dense, sparse, share, scale, shift):
    moved = [(item, value * scale + shift) for item, value in sparse]
    before = dict(combine_convex(dense, sparse, dense_weight=share))
    after = dict(combine_convex(dense, moved, dense_weight=share))
    assert after == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize("share", [-0.1, 1.1, 2])
def test_a_weight_outside_0_to_1_is_rejected(share):
    with pytest.raises(ValueError, match="dense_weight"):
        combine_convex([], [], dense_weight=share)


@given(st.lists(ranking, min_size=1, max_size=4), st.data(), st.floats(0, 1000))
def test_the_shares_of_fused_ranks_add_up_to_the_score(rankings, data, c):
    weights = data.draw(st.lists(weight, min_size=len(rankings), max_size=len(rankings)))
    for hit in rankers.fuse_reciprocal_ranks(named(rankings), weights=weights, c=c):
        assert sum(part.share for part in hit.parts) == pytest.approx(hit.score)
        assert [part.ranker for part in hit.parts] == list(named(rankings))


@given(scored, scored, weight, normalization)
def test_the_shares_of_a_convex_combination_add_up_to_the_score(dense, sparse, share, method):
    for hit in rankers.combine_convex(dense, sparse, dense_weight=share, normalization=method):
        assert sum(part.share for part in hit.parts) == pytest.approx(hit.score)


@given(st.lists(ranking, max_size=3))
def test_a_part_has_the_rank_and_score_of_its_list_if_any(rankings):
    lists = named(rankings)
    for hit in rankers.fuse_reciprocal_ranks(lists):
        for part in hit.parts:
            if part.rank is None:
                assert hit.id not in dict(lists[part.ranker])
                assert (part.score, part.share) == (None, 0)
            else:
                assert lists[part.ranker][part.rank - 1] == (hit.id, part.score)


@given(scored, scored, weight, normalization, st.integers(1, 5))
def test_a_limit_only_truncates_the_list(dense, sparse, share, method, limit):
    options = {"dense_weight": share, "normalization": method}
    whole = rankers.combine_convex(dense, sparse, **options)
    assert rankers.combine_convex(dense, sparse, limit=limit, **options) == whole[:limit]


def test_z_scores_give_a_missing_id_the_lowest_score_of_the_list():
    dense, sparse = [("a", 3.0), ("b", 1.0)], [("c", 9.0), ("a", 5.0)]
    hits = rankers.combine_convex(
        dense, sparse, dense_weight=0.5, normalization=Normalization.Z_SCORE
    )
    assert {hit.id: hit.score for hit in hits} == {"a": 0, "c": 0, "b": -1}
    missing = next(part for hit in hits if hit.id == "c" for part in hit.parts)
    assert missing == ("dense", None, None, -0.5)


@given(scored, scored, weight, st.integers(1, 50), st.integers(-20, 20))
def test_z_scores_are_invariant_to_scale_and_shift(dense, sparse, share, scale, shift):
    moved = [(item, value * scale + shift) for item, value in sparse]
    options = {"dense_weight": share, "normalization": Normalization.Z_SCORE}
    before = dict(combine_convex(dense, sparse, **options))
    assert dict(combine_convex(dense, moved, **options)) == pytest.approx(before, abs=1e-5)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize("method", list(Normalization))
def test_a_score_that_is_not_finite_is_rejected(bad, method):
    with pytest.raises(ValueError, match="finite"):
        rankers.combine_convex(
            [("a", bad), ("b", 1.0)], [("a", 1.0)], dense_weight=0.5, normalization=method
        )


@pytest.mark.parametrize("weights", [[-1.0], [float("nan")], [float("inf")], []])
def test_invalid_weights_are_rejected(weights):
    with pytest.raises(ValueError, match="weights"):
        rankers.fuse_reciprocal_ranks({"one": []}, weights=weights)
