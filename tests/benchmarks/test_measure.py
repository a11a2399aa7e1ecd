"""Percentiles, comparisons, and saved figures of the benchmarks."""

import time
from importlib import import_module

from benchmarks.__main__ import PARTS, read, write
from benchmarks.contest import Contender, contest
from benchmarks.growth import GROWTH
from benchmarks.measure import Report, Times, compare, compare_clocks


def test_a_contender_with_a_missing_package_is_reported(tmp_path, monkeypatch):
    module = import_module("benchmarks.keyword_search")
    absent = Contender(module.open_bm25s, module.build_bm25s, "no_such_package")
    monkeypatch.setattr(module, "CONTENDERS", {"theirs": absent})
    outcomes, notes = contest(module.__name__, tmp_path, size=1, apart=False, budget_s=1)
    assert outcomes == {}
    assert notes == ["theirs took no part: no_such_package is not installed"]


def test_saved_figures_are_shown_unchanged(tmp_path):
    report = Report("Keyword search", "on two texts")
    report.table(f"Keyword search: {GROWTH}", ["", "10", "20", "20 / 10"], [["Us", 1.0, 2.0, 2.0]])
    report.ratio("theirs / ours", 3.0)
    write(tmp_path / "figures.json", "a machine", {"keyword_search": report}, small=True)
    where, reports = read(tmp_path / "figures.json")
    assert (where, reports) == ("a machine", {"keyword_search": report})


def test_every_part_can_be_selected_by_name():
    assert all(hasattr(import_module(f"benchmarks.{part}"), "measure") for part in PARTS)


def test_percentiles_are_measured_times():
    times = Times([float(n) for n in range(100, 0, -1)])
    assert (times.p50, times.p95) == (51.0, 95.0)


def test_waiting_takes_no_processor_time():
    clocks = compare_clocks({"a": time.sleep}, [0.02], rounds=1)["a"]
    assert clocks.elapsed.p50 >= 20 > clocks.processor.p50


def test_every_contender_answers_every_question():
    calls = []
    compare({"a": calls.append, "b": calls.append}, [1, 2], rounds=2)
    assert calls == [1, 1, 2] * 4
