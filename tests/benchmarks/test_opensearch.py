"""The benchmark of OpenSearch runs and reports what must be true at any size."""

import json

import pytest

from benchmarks.opensearch import passages, writes
from benchmarks.opensearch.__main__ import Options, measure

pytestmark = [
    pytest.mark.slow,
    pytest.mark.opensearch,
    pytest.mark.usefixtures("opensearch_programs"),
]


def test_everything_is_found_and_counted_as_by_exact_search(tmp_path, monkeypatch):
    for module in (passages, writes):
        monkeypatch.setattr(module, "BATCH", 60)
    file = tmp_path / "figures.json"
    options = Options(passages=300, questions=3, compared=60, prefill=180, heap_mb=512, json=file)
    report = measure(options)
    figures = {figure.name: figure.value for figure in (*report.ratios, *report.absolute)}
    assert [value for name, value in figures.items() if "recall@20" in name] == [1.0] * 14
    assert [value for name, value in figures.items() if name.endswith(": equal")] == [100.0] * 4
    assert figures["bulk: Footnote, all that it wrote"] > 0
    saved = json.loads(file.read_text())["parts"]["opensearch"]
    assert [table["title"] for table in saved["tables"]] == [
        "Files, as filled",
        "Searches, as filled",
        "Files, one segment",
        "Searches, one segment",
    ]
