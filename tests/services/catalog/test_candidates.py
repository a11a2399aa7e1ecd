import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrievers.rankers import hits_of
from services.catalog.candidates import (
    MAX_PASSAGES_PER_PLACE,
    PlaceList,
    combine,
    keyword_query,
    rank_places,
)

weight = st.floats(0, 1)
scores = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=1), st.floats(0, 50).map(lambda x: round(x, 2))
).map(lambda scores: sorted(scores.items(), key=lambda pair: -pair[1]))


def place_list(places):
    passages = [(f"{place}1", score) for place, score in places]
    return PlaceList(places, passages, {f"{place}1": place for place, _ in places})


class RecordingRanker:
    """Ranks passages named by place and number, and records the depth of each request."""

    def __init__(self, passages):
        self.passages = passages
        self.depths = []

    def __call__(self, depth):
        self.depths.append(depth)
        scores = [(id_, -float(n)) for n, id_ in enumerate(self.passages)]
        return hits_of("list", scores[:depth])


def place_of(passage_ids):
    return {id_: id_[0] for id_ in passage_ids if not id_.startswith("?")}


def rank_and_record(passages, count):
    ranker = RecordingRanker(passages)
    return ranker, rank_places(ranker, place_of, count, 5 * count)


def test_a_place_is_scored_by_its_best_passage():
    _, ranking = rank_and_record(["a1", "a2", "b1", "a3", "c1"], 2)
    assert ranking.places == [("a", 0.0), ("b", -2.0)]
    assert [id_ for id_, _ in ranking.passages] == ["a1", "a2", "b1", "a3", "c1"]


def test_lookups_stop_once_there_are_enough_places():
    lookups = []

    def record_lookup(passage_ids):
        lookups.extend(passage_ids)
        return place_of(passage_ids)

    ranking = rank_places(RecordingRanker(["a1", "b1"] * 500), record_lookup, 2, 1000)
    assert len(ranking.places) == 2
    assert len(lookups) < 10


def test_ranking_goes_deeper_until_there_are_enough_places():
    ranker, ranking = rank_and_record([f"a{n}" for n in range(50)] + ["b1", "c1"], 2)
    assert [place for place, _ in ranking.places] == ["a", "b"]
    assert ranker.depths == [10, 20, 40, 80]


def test_a_short_list_is_ranked_once():
    ranker, ranking = rank_and_record(["a1", "b1"], 5)
    assert len(ranking.places) == 2
    assert ranker.depths == [25]


def test_a_long_list_of_one_place_is_ranked_to_a_maximum_depth():
    ranker, ranking = rank_and_record([f"a{n}" for n in range(100_000)], 2)
    assert ranking.places == [("a", 0.0)]
    assert max(ranker.depths) == 2 * MAX_PASSAGES_PER_PLACE


def test_uncommitted_passages_are_ignored():
    _, ranking = rank_and_record(["?1", "a1"], 2)
    assert (ranking.places, ranking.passages) == ([("a", -1.0)], [("a1", -1.0)])


@given(scores, scores, weight)
def test_hybrid_scores_are_between_0_and_1_in_descending_order(dense, sparse, share):
    candidates = combine(place_list(dense), place_list(sparse), share)
    assert {candidate.document_id for candidate in candidates} == {
        place for place, _ in [*dense, *sparse]
    }
    assert all(-1e-9 <= candidate.hybrid <= 1 + 1e-9 for candidate in candidates)
    assert all(a.hybrid >= b.hybrid for a, b in zip(candidates, candidates[1:], strict=False))


@given(scores, scores, weight, st.integers(1, 50), st.integers(-20, 20))
def test_hybrid_scores_do_not_depend_on_the_scale_or_offset_of_a_list(
    dense, sparse, share, scale, shift
):
    rescaled = [(place, score * scale + shift) for place, score in dense]

    def hybrid(dense):
        candidates = combine(place_list(dense), place_list(sparse), share)
        return {candidate.document_id: candidate.hybrid for candidate in candidates}

    assert hybrid(rescaled) == pytest.approx(hybrid(dense), abs=1e-6)


@given(scores, weight)
def test_with_one_list_empty_the_other_has_all_the_weight(only_list, share):
    candidates = combine(place_list(only_list), place_list([]), share)
    assert candidates == combine(place_list([]), place_list(only_list), share)
    assert [candidate.hybrid for candidate in candidates][:1] == [1.0] * bool(only_list)


@given(scores, scores)
def test_the_hybrid_score_is_a_weighted_sum_of_both_lists(dense, sparse):
    def normalize(places):
        values = [score for _, score in places]
        spread = max(values, default=0) - min(values, default=0)
        return {place: (score - min(values)) / spread if spread else 1.0 for place, score in places}

    if dense and sparse:
        vector_scores, keyword_scores = normalize(dense), normalize(sparse)
        for candidate in combine(place_list(dense), place_list(sparse), 0.9):
            expected = 0.1 * keyword_scores.get(candidate.document_id, 0) + 0.9 * vector_scores.get(
                candidate.document_id, 0
            )
            assert candidate.hybrid == pytest.approx(expected, abs=1e-9)


def test_passages_of_both_lists_are_merged_best_first_without_duplicates():
    keywords = PlaceList([("a", 9.0)], [("a2", 9.0), ("a1", 1.0)], {"a1": "a", "a2": "a"})
    vectors = PlaceList([("a", 0.9)], [("a1", 0.9), ("a3", 0.1)], {"a1": "a", "a3": "a"})
    (candidate,) = combine(vectors, keywords, 0.9)
    assert candidate.passage_ids == ("a1", "a2", "a3")


def test_the_keyword_query_has_each_word_of_both_wordings_once():
    assert keyword_query("Italian restaurants", "an italian restaurant nearby").split() == [
        "italian",
        "restaurant",
        "nearby",
    ]
    assert keyword_query("분위기 좋은 곳", "good ambience") == "분위기 좋은 곳 good ambience"
    assert keyword_query("?!", "") == ""
