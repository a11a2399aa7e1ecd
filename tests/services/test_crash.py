"""An import that is killed with signal 9 at random times; `benchmarks/crash.py` repeats it more."""

import os

import pytest

from benchmarks.crash import lost, run, summary, texts_of


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no signal 9")
def test_after_a_kill_at_any_time_the_stores_agree_and_nothing_is_lost():
    rounds = run(6, seed=1)
    assert [one.faults for one in rounds] == [()] * 6
    assert any(one.cut_short for one in rounds), summary(rounds)


def test_reverted_mixed_missing_and_stray_documents_count_as_lost():
    before, after = texts_of(4), texts_of(5)
    edited = next(key for key in before if key in after and before[key] != after[key])

    assert lost(before, 4) == lost(after, 4) == lost(before | {edited: after[edited]}, 4) == []
    for damaged in (
        {key: text for key, text in before.items() if key != edited},
        before | {edited: texts_of(14)[edited]},
        before | {edited: before[edited][:50] + after[edited][50:]},
        before | {"stray": "x"},
    ):
        assert len(lost(damaged, 4)) == 1
