import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import NotFoundError
from storage.ledger.conversation_store import LATEST, TurnTree


@st.composite
def trees(draw):
    """Trees in which each turn follows an older one or none."""
    parents = {}
    for n in range(draw(st.integers(1, 12))):
        parents[f"t{n}"] = draw(st.sampled_from([None, *parents]))
    return TurnTree(draw(st.sampled_from(sorted(parents))), parents)


@given(trees())
def test_a_branch_leads_from_a_first_turn_to_the_requested_one(tree):
    for last in tree.parents:
        branch = tree.branch(last)
        assert branch[-1] == last
        assert [tree.parents[turn] for turn in branch] == [None, *branch[:-1]]
    assert tree.branch(None) == []


@given(trees())
def test_the_versions_of_a_turn_are_all_turns_with_its_parent_from_the_oldest(tree):
    versions = tree.versions()
    assert versions.keys() == tree.parents.keys()
    ages = list(tree.parents)
    for turn, siblings in versions.items():
        assert set(siblings) == {
            other for other, parent in tree.parents.items() if parent == tree.parents[turn]
        }
        assert list(siblings) == sorted(siblings, key=ages.index)


@given(trees())
def test_the_newest_turn_below_another_is_the_end_of_a_branch_through_it(tree):
    for turn in tree.parents:
        newest = tree.newest_below(turn)
        assert turn in tree.branch(newest)
        assert newest not in tree.parents.values()
        below = [other for other in tree.parents if turn in tree.branch(other)]
        assert newest == below[-1]


def test_the_latest_turn_resolves_to_the_shown_one():
    assert TurnTree("t1", {"t0": None, "t1": "t0"}).resolve(LATEST) == "t1"
    assert TurnTree("", {}).resolve(LATEST) is None
    assert TurnTree("t0", {"t0": None}).resolve(None) is None
    with pytest.raises(NotFoundError, match="t9"):
        TurnTree("t0", {"t0": None}).resolve("t9")
