import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import NotFoundError
from storage.ledger.conversation_store import LATEST, TurnTree


@st.composite
def trees(draw):
    """A tree as turns make it: each follows an older one, or none."""
    parents = {}
    for n in range(draw(st.integers(1, 12))):
        parents[f"t{n}"] = draw(st.sampled_from([None, *parents]))
    return TurnTree(draw(st.sampled_from(sorted(parents))), parents)


@given(trees())
def test_a_branch_goes_from_a_first_turn_to_the_one_that_was_asked_for(tree):
    for last in tree.parents:
        branch = tree.branch(last)
        assert branch[-1] == last
        assert [tree.parents[turn] for turn in branch] == [None, *branch[:-1]]
    assert tree.branch(None) == []


@given(trees())
def test_every_turn_is_among_its_versions_which_follow_the_same_turn_oldest_first(tree):
    versions = tree.versions()
    assert versions.keys() == tree.parents.keys()
    ages = list(tree.parents)
    for turn, siblings in versions.items():
        assert set(siblings) == {
            other for other, parent in tree.parents.items() if parent == tree.parents[turn]
        }
        assert list(siblings) == sorted(siblings, key=ages.index)


@given(trees())
def test_the_newest_below_a_turn_is_the_end_of_a_branch_through_it(tree):
    for turn in tree.parents:
        newest = tree.newest_below(turn)
        assert turn in tree.branch(newest)
        assert newest not in tree.parents.values()
        below = [one for one in tree.parents if turn in tree.branch(one)]
        assert newest == below[-1]


def test_the_latest_is_what_is_shown_and_nothing_before_the_first_turn():
    assert TurnTree("t1", {"t0": None, "t1": "t0"}).resolve(LATEST) == "t1"
    assert TurnTree("", {}).resolve(LATEST) is None
    assert TurnTree("t0", {"t0": None}).resolve(None) is None
    with pytest.raises(NotFoundError, match="t9"):
        TurnTree("t0", {"t0": None}).resolve("t9")
