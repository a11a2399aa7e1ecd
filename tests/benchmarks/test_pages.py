"""Pages open with the library that the benchmark generates, and their times are reported."""

from benchmarks import pages


def test_the_script_of_each_existing_page_runs_and_is_timed(tmp_path, monkeypatch):
    monkeypatch.setenv("FOOTNOTE_DATA_DIR", "restored after the test")
    (tmp_path / "cache").mkdir()
    report = pages.measure(cache=str(tmp_path / "cache"), **pages.SMALL)
    times = {row[0]: row[1] for row in report.tables[0].rows}
    assert times["library"] > 0
    assert times["chat"] > 0
    assert "not opened in a browser" in report.notes[0]
