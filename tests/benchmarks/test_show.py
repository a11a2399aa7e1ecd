"""Figures as Markdown tables and as an SVG chart."""

from xml.etree import ElementTree

from benchmarks.chart import chart_of
from benchmarks.growth import add_growth
from benchmarks.measure import Report, shown
from benchmarks.show import as_markdown, as_text

SVG = "{http://www.w3.org/2000/svg}"


def growing_report():
    report = Report("Search", "two <kinds>", notes=["one is missing"])
    add_growth(report, {1000: {"Ours": 1.0, "Theirs": 2.0}, 10_000: {"Ours": 4.0}})
    return report


def test_growth_is_the_ratio_of_neighboring_sizes_or_empty():
    assert growing_report().tables[0].rows == [["Ours", 1.0, 4.0, 4.0], ["Theirs", 2.0, None, None]]


def test_markdown_rows_have_the_same_number_of_cells():
    lines = [
        line for line in as_markdown("a machine", [growing_report()]).splitlines() if "|" in line
    ]
    assert lines[2] == "| Ours | 1.00 | 4.00 | 4.00 |"
    assert {line.count("|") for line in lines} == {5}


def test_text_and_markdown_name_the_machine_and_missing_packages():
    for show in (as_text, as_markdown):
        text = show("a machine", [growing_report()])
        assert "a machine" in text
        assert "one is missing" in text


def test_the_chart_has_a_named_line_for_each_contender():
    root = ElementTree.fromstring(chart_of([growing_report()]))
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert len(list(root.iter(f"{SVG}polyline"))) == 2
    assert "Ours 4.00" in texts
    assert "Theirs 2.00" in texts


def test_a_slower_contender_is_drawn_higher():
    lines = list(ElementTree.fromstring(chart_of([growing_report()])).iter(f"{SVG}polyline"))
    first, second = (float(line.get("points").split()[0].split(",")[1]) for line in lines)
    assert second < first


def test_reports_without_sizes_give_a_chart_without_lines():
    root = ElementTree.fromstring(chart_of([Report("Import", "")]))
    assert not list(root.iter(f"{SVG}polyline"))


def test_numbers_keep_their_significant_digits():
    assert [shown(value) for value in (0.1234, 1.234, 12.34, 1234.5, 7, None, "so")] == [
        "0.123", "1.23", "12.3", "1,234", "7", "-", "so",
    ]  # fmt: skip
