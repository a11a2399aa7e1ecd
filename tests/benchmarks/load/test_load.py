"""The load and the soak run with tiny numbers; speed and memory are not tested."""

import json

import pytest

from benchmarks.load import __main__ as load

SIZES = ["--people", "3", "--documents", "6", "--before", "3", "--think", "0.3"]
TIMES = ["--warm-up", "0", "--baseline", "3"]

pytestmark = pytest.mark.slow


def report_of(tmp_path, *words):
    file = tmp_path / "figures.json"
    load.main([*words, "--json", str(file)])
    report = json.loads(file.read_text())
    figures = {one["name"]: one["value"] for one in report["ratios"] + report["absolute"]}
    return report, figures


def test_people_are_answered_before_and_during_an_import(tmp_path):
    report, figures = report_of(tmp_path, *SIZES, *TIMES)
    answers, memory = report["tables"]
    assert all(row[1] > 0 for row in answers["rows"])
    assert {"API", "pages", "worker"} <= {row[0] for row in memory["rows"]}
    assert figures["answers that failed"] == 0
    assert figures["documents per second"] > 0


def test_a_soak_does_everything_and_fails_at_nothing(tmp_path):
    report, figures = report_of(tmp_path, "--soak", "0.4")
    assert figures["failures"] == 0, report["notes"]
    done = ["answers", "imports", "upload boxes", "browser sessions", "GET metrics"]
    assert all(figures[one] > 0 for one in done)
    growth, kinds, curve = report["tables"]
    assert {row[0] for row in growth["rows"]} == {"API", "pages", "worker", "supervisor"}
    assert all(len(row) == 11 and min(row[1:]) > 0 for row in curve["rows"])
    assert {"API: ledger", "pages: event loops"} <= {row[0] for row in kinds["rows"]}
