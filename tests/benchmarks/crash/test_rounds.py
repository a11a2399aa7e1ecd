"""Kills of each operation, one of which interrupts it; `python -m benchmarks.crash` does many."""

import os

import pytest

from benchmarks.crash.operations import OPERATIONS
from benchmarks.crash.rounds import kills, lost
from benchmarks.crash.scene import Scene
from tests.fakes.openai import serving

BEGINNING_S = 0.3
MOST_KILLS = 10
"""On a fast machine, some kills come after the operation."""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    with serving() as model:
        scene = Scene(tmp_path_factory.mktemp("crash"), model.url, pages=20, notes=10)
        scene.prepare()
        yield scene


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no signal 9")
@pytest.mark.parametrize("kind", OPERATIONS, ids=[one.name for one in OPERATIONS])
def test_after_a_kill_nothing_is_lost_and_the_stores_agree(scene, kind):
    rounds = []
    for one in kills(kind, scene, MOST_KILLS, seed=1, lasts_s=BEGINNING_S):
        rounds.append(one)
        if len(rounds) > 1 and any(each.phase for each in rounds):
            break
    assert [one.faults for one in rounds] == [()] * len(rounds)
    assert any(one.phase for one in rounds), "no kill interrupted the operation"


def test_reverted_mixed_missing_and_stray_documents_count_as_lost():
    before = {"edited": "old", "same": "same", "removed": "old"}
    target = {"edited": "new", "same": "same", "added": "new"}
    for found in (before, target, before | {"edited": "new"}, before | {"added": "new"}):
        assert list(lost(before, found, target)) == []
    for damaged in (
        before | {"edited": "older"},
        before | {"edited": "nold"},
        before | {"stray": "x"},
        {"edited": "old", "removed": "old"},
    ):
        assert len(list(lost(before, damaged, target))) == 1
    assert list(lost(target, before, target)), "what was seen as complete may not be undone"
