import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrievers.fusion import hits_of
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
).map(lambda found: sorted(found.items(), key=lambda pair: -pair[1]))


def place_list(places):
    passages = [(f"{place}1", score) for place, score in places]
    return PlaceList(places, passages, {f"{place}1": place for place, _ in places})


class Ranked:
    """Ranks passages named by place and number, and keeps how deep it was asked."""

    def __init__(self, passages):
        self.passages = passages
        self.depths = []

    def __call__(self, depth):
        self.depths.append(depth)
        scored = [(id_, -float(n)) for n, id_ in enumerate(self.passages)]
        return hits_of("list", scored[:depth])


def place_of(passage_ids):
    return {id_: id_[0] for id_ in passage_ids if not id_.startswith("?")}


def ranked(passages, count):
    rank = Ranked(passages)
    return rank, rank_places(rank, place_of, count, 5 * count)


def test_a_place_has_the_score_of_its_best_passage():
    _, found = ranked(["a1", "a2", "b1", "a3", "c1"], 2)
    assert found.places == [("a", 0.0), ("b", -2.0)]
    assert [id_ for id_, _ in found.passages] == ["a1", "a2", "b1", "a3", "c1"]


def test_passages_below_those_of_enough_places_are_not_looked_up():
    asked = []

    def noted(passage_ids):
        asked.extend(passage_ids)
        return place_of(passage_ids)

    found = rank_places(Ranked(["a1", "b1"] * 500), noted, 2, 1000)
    assert len(found.places) == 2
    assert len(asked) < 10


def test_passages_are_ranked_deeper_until_there_are_enough_places():
    rank, found = ranked([f"a{n}" for n in range(50)] + ["b1", "c1"], 2)
    assert [place for place, _ in found.places] == ["a", "b"]
    assert rank.depths == [10, 20, 40, 80]


def test_a_list_that_ends_is_ranked_once():
    rank, found = ranked(["a1", "b1"], 5)
    assert len(found.places) == 2
    assert rank.depths == [25]


def test_a_list_of_one_place_is_not_ranked_for_ever():
    rank, found = ranked([f"a{n}" for n in range(100_000)], 2)
    assert found.places == [("a", 0.0)]
    assert max(rank.depths) == 2 * MAX_PASSAGES_PER_PLACE


def test_passages_that_are_not_committed_are_no_place():
    _, found = ranked(["?1", "a1"], 2)
    assert (found.places, found.passages) == ([("a", -1.0)], [("a1", -1.0)])


@given(scores, scores, weight)
def test_hybrid_scores_lie_between_0_and_1_and_never_rise(dense, sparse, share):
    found = combine(place_list(dense), place_list(sparse), share)
    assert {one.document_id for one in found} == {place for place, _ in [*dense, *sparse]}
    assert all(-1e-9 <= one.hybrid <= 1 + 1e-9 for one in found)
    assert all(a.hybrid >= b.hybrid for a, b in zip(found, found[1:], strict=False))


@given(scores, scores, weight, st.integers(1, 50), st.integers(-20, 20))
def test_scaling_and_shifting_a_list_changes_no_hybrid_score(dense, sparse, share, scale, shift):
    moved = [(place, score * scale + shift) for place, score in dense]

    def hybrid(dense):
        found = combine(place_list(dense), place_list(sparse), share)
        return {one.document_id: one.hybrid for one in found}

    assert hybrid(moved) == pytest.approx(hybrid(dense), abs=1e-6)


@given(scores, weight)
def test_where_one_list_is_empty_the_other_has_all_the_weight(alone, share):
    found = combine(place_list(alone), place_list([]), share)
    assert found == combine(place_list([]), place_list(alone), share)
    assert [one.hybrid for one in found][:1] == [1.0] * bool(alone)


@given(scores, scores)
def test_a_tenth_of_the_words_and_nine_tenths_of_the_vectors(dense, sparse):
    def scaled(places):
        values = [score for _, score in places]
        spread = max(values, default=0) - min(values, default=0)
        return {p: (s - min(values)) / spread if spread else 1.0 for p, s in places}

    if dense and sparse:
        near, told = scaled(dense), scaled(sparse)
        for one in combine(place_list(dense), place_list(sparse), 0.9):
            expected = 0.1 * told.get(one.document_id, 0) + 0.9 * near.get(one.document_id, 0)
            assert one.hybrid == pytest.approx(expected, abs=1e-9)


def test_passages_of_both_lists_are_given_best_first_and_once():
    words = PlaceList([("a", 9.0)], [("a2", 9.0), ("a1", 1.0)], {"a1": "a", "a2": "a"})
    near = PlaceList([("a", 0.9)], [("a1", 0.9), ("a3", 0.1)], {"a1": "a", "a3": "a"})
    (one,) = combine(near, words, 0.9)
    assert one.passage_ids == ("a1", "a2", "a3")


def test_each_word_of_both_wordings_is_looked_for_once():
    assert keyword_query("Italian restaurants", "an italian restaurant nearby").split() == [
        "italian",
        "restaurant",
        "nearby",
    ]
    assert keyword_query("분위기 좋은 곳", "good ambience") == "분위기 좋은 곳 good ambience"
    assert keyword_query("?!", "") == ""
