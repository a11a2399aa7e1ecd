"""The estimated time left, in scripted and simulated imports."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import Progress, Stage
from services.imports.import_forecast import TimeLeft
from tests.services.imports.simulated_run import File, Run, Seconds

SMALL = [File(f"note{n:03}.md", 3 + n % 5) for n in range(200)]
HUGE = [File("m.md", 20_000)]


def embedding(passages, expected=1000):
    return Progress(
        Stage.EMBEDDING, 0, 1, passages=passages, part=passages, read=expected, expected=expected
    )


def embed(time_left, passages, seconds_each, start_s=0.0):
    """Note the passages in batches of ten, and return the estimates."""
    estimates = []
    for n, passage in enumerate(passages):
        at = start_s + 10 * n * seconds_each
        time_left.note(embedding(passage), at)
        estimates.append(time_left.at(at))
    return estimates


@pytest.mark.parametrize(
    "files",
    [SMALL, SMALL + HUGE, SMALL[:100] + HUGE + SMALL[100:], HUGE + SMALL],
    ids=["small files", "a huge file last", "a huge file in the middle", "a huge file first"],
)
def test_the_estimate_of_a_mix_of_files_is_right_within_a_quarter(files):
    estimates = list(Run(files).estimates())
    assert estimates[0][0] < 6, "there is an estimate soon after the first passages"
    for _, estimate, left in estimates:
        assert estimate == pytest.approx(left, rel=0.25, abs=12)


# Faster than 200 passages per second, fixed costs outweigh the rest.
EMBEDDING_S = st.floats(0.005, 0.5)


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=20), EMBEDDING_S)
def test_the_estimate_is_never_negative_and_shrinks_to_almost_nothing(passages, seconds):
    files = [File(f"{n}.md", count) for n, count in enumerate(passages)]
    estimates = [estimate for _, estimate, _ in Run(files, Seconds(embedding=seconds)).estimates()]
    assert min(estimates, default=0) >= 0
    assert not estimates or estimates[-1] <= max(1.0, 0.05 * estimates[0])


@given(st.floats(0.001, 10.0))
def test_the_estimate_never_rises_at_a_constant_pace(seconds_each):
    estimates = embed(TimeLeft(embeds=True), range(0, 1000, 10), seconds_each)
    known = [one for one in estimates if one is not None]
    assert known
    assert all(after <= before + 1e-6 for before, after in pairwise(known))


@given(st.floats(0.001, 1.0), st.floats(10, 1e6))
def test_the_estimate_recovers_after_an_interruption(seconds_each, interruption_s):
    time_left = TimeLeft(embeds=True)
    embed(time_left, range(0, 500, 10), seconds_each)
    start_s = 490 * seconds_each + interruption_s
    after = embed(time_left, range(500, 1000, 10), seconds_each, start_s)
    assert after[-1] <= 30 * seconds_each + 10


def test_waits_neither_count_as_work_nor_shrink_the_estimate():
    time_left = TimeLeft(embeds=True)
    *_, before = embed(time_left, range(0, 510, 10), 0.1)
    waiting = Progress(Stage.WAITING, 0, 1, passages=500, read=1000, expected=1000)
    time_left.note(waiting, 50.0)
    assert time_left.at(80.0) == pytest.approx(before)
    time_left.note(embedding(500), 110.0)
    time_left.note(embedding(510), 111.0)
    assert time_left.at(111.0) == pytest.approx(49, abs=2)


def test_the_estimate_shrinks_between_two_reports():
    time_left = TimeLeft(embeds=True)
    *_, before = embed(time_left, range(0, 510, 10), 0.1)
    assert time_left.at(50.0 + 20.0) == pytest.approx(before - 20.0)
    assert time_left.at(50.0 + 1000.0) == 0


def test_there_is_no_estimate_before_passages_are_embedded():
    time_left = TimeLeft(embeds=True)
    for second in range(10):
        time_left.note(Progress(Stage.READING, second, 20, read=second, expected=20), second)
    assert time_left.at(10.0) is None


def test_a_dry_run_has_an_estimate_from_reading_alone():
    time_left = TimeLeft(embeds=False)
    for second in range(11):
        progress = Progress(Stage.READING, second, 20, passages=second, read=second, expected=20)
        time_left.note(progress, second)
    assert time_left.at(10.0) == pytest.approx(10.0)


def test_removals_have_an_estimate_from_documents():
    time_left = TimeLeft(embeds=False)
    for second in range(11):
        time_left.note(Progress(Stage.REMOVING, 10 * second, 300), second)
    assert time_left.at(10.0) == pytest.approx(20.0)
