"""The parts of the load: documents, dialogs, usage of processes, slopes, and verdicts."""

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest

from benchmarks.load.documents import Writer
from benchmarks.load.people import dialogs
from benchmarks.load.soak import growth_of, is_flat, lowest, slope_of
from benchmarks.processes import LOOPS, Sample, Usage, kind_of, usage_by_role
from loaders.formats import read_document


def test_documents_of_all_formats_and_languages_can_be_read(tmp_path):
    Writer(tmp_path, seed=1).write(24)
    files = sorted(tmp_path.iterdir())
    assert {file.suffix for file in files} == {".md", ".html", ".docx", ".pdf"}
    texts = [read_document(file.name, file.read_bytes()).page_content for file in files]
    assert all(len(text) > 700 for text in texts)
    assert len(set(texts)) == 24


def test_a_document_changes_each_time_it_is_written(tmp_path):
    writer = Writer(tmp_path, seed=1)
    first = writer.write_one(1).read_text(encoding="utf-8")
    assert writer.write_one(1).read_text(encoding="utf-8") != first


def test_dialogs_have_follow_up_questions_in_three_languages():
    lengths = {len(dialog) for dialog in dialogs()}
    assert {1, 2, 3} <= lengths
    questions = [dialog[0] for dialog in dialogs() if len(dialog) > 1]
    assert any("가" <= letter <= "힣" for question in questions for letter in question)
    assert any("ぁ" <= letter <= "ん" for question in questions for letter in question)
    assert any(question.isascii() for question in questions)


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_usage_includes_the_children_of_a_process():
    script = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
    child = [sys.executable, "-c", "print('up', flush=True); input()", "cli.py api"]
    with subprocess.Popen(
        [sys.executable, "-c", script, *child],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        parent.stdout.readline()
        usage = usage_by_role([parent.pid])
        parent.communicate("\n")
    assert usage["API"].threads == 2
    assert usage["API"].files.total() >= 6
    assert usage["API"].files["pipes"] >= 4
    assert usage["API"].pss > 0


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_files_of_event_loops_are_counted_separately():
    script = (
        "import asyncio; print('up', flush=True); input();"
        " loops = [asyncio.new_event_loop() for _ in range(3)]; print('up', flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        child.stdout.readline()
        (before,) = usage_by_role([child.pid]).values()
        child.stdin.write("\n")
        child.stdin.flush()
        child.stdout.readline()
        (during,) = usage_by_role([child.pid]).values()
        child.communicate("\n")
    assert during.files[LOOPS] == before.files[LOOPS] + 3
    assert during.files.total() > before.files.total() + 3
    assert during.other_files == before.other_files


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("/data/footnote.db-wal", "ledger"),
        ("/data/indexes/ab12/passages/rows/0", "index"),
        ("/data/indexes/ab12/keywords/1.store (deleted)", "index"),
        ("socket:[123]", "sockets"),
        ("/dev/null", "other files"),
    ],
)
def test_open_files_are_counted_by_what_they_refer_to(target, kind):
    assert kind_of(target) == kind


def test_the_slope_of_a_line_has_no_error():
    slope, error = slope_of([0, 1, 2, 3], [5, 7, 9, 11])
    assert slope == pytest.approx(2)
    assert error == pytest.approx(0, abs=1e-6)


def used(mib_per_hour, files=0, threads=0, loops=0):
    """Samples of an hour that grow evenly; the other figures grow by that much in the middle."""
    first = [Sample(60 * n, {"API": usage(mib_per_hour * n / 60)}) for n in range(30)]
    last = [
        Sample(60 * n, {"API": usage(mib_per_hour * n / 60, files, threads, loops)})
        for n in range(30, 60)
    ]
    return first + last


def usage(mib, files=0, threads=0, loops=0):
    kinds = {"other files": 20 + files, LOOPS: 30 + loops, "sockets": 60 + 2 * loops}
    return Usage(own=100 + mib, files=Counter(kinds), threads=5 + threads)


@pytest.mark.parametrize(
    ("samples", "flat"),
    [
        (used(0), True),
        (used(4), True),
        (used(6), False),
        (used(0, files=3), False),
        (used(0, threads=3), False),
        (used(0, loops=5), True),
        (used(0, loops=10), False),
    ],
    ids=["same", "within", "memory", "files", "threads", "kept sessions", "sessions"],
)
def test_a_process_is_flat_if_memory_and_handles_stay(samples, flat):
    assert is_flat(growth_of("API", samples, 0)) is flat


def test_a_warm_up_does_not_count_as_growth():
    samples = [Sample(60 * n, {"API": usage(min(n, 30))}) for n in range(60)]
    growth = growth_of("API", samples, 60 * 30)
    assert growth.before == 30
    assert growth.slope == pytest.approx(0, abs=1e-6)
    assert is_flat(growth)


def test_memory_that_is_returned_after_each_task_does_not_count_as_growth():
    samples = [Sample(10 * n, {"API": usage(40 if n % 3 else 0)}) for n in range(360)]
    growth = growth_of("API", samples, 1800)
    assert (growth.slope, growth.error) == pytest.approx((0, 0), abs=1e-6)


def test_the_lowest_point_of_each_group_of_samples_counts():
    x, y = list(range(60)), [7, 5] * 30
    assert lowest(x, y) == ([2 * n + 1 for n in range(30)], [5] * 30)
    assert lowest(x[:7], y[:7]) == (x[:7], y[:7])


def test_the_slope_of_steps_is_less_certain_than_that_of_independent_samples():
    hours, steps = [n / 60 for n in range(40)], [n // 10 for n in range(40)]
    zigzag = [n % 2 for n in range(40)]
    _, covariance = np.polyfit(hours, steps, 1, cov=True)
    assert slope_of(hours, steps)[1] > 1.5 * np.sqrt(covariance[0, 0])
    _, covariance = np.polyfit(hours, zigzag, 1, cov=True)
    assert slope_of(hours, zigzag)[1] == pytest.approx(np.sqrt(covariance[0, 0]))
