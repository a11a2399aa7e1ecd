import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loaders.formats import read_document
from loaders.formats.structured_data import delimiter_of


def markdown(text: str, encoding: str = "utf-8") -> str:
    return read_document("a.csv", text.encode(encoding)).page_content


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_each_dialect_is_read(delimiter):
    rows = [["Team", "Cups, won"], ["Blues", "1"], ["Reds; x", "2"]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    assert markdown(out.getvalue()) == (
        "| Team | Cups, won |\n| --- | --- |\n| Blues | 1 |\n| Reds; x | 2 |"
    )


def test_commas_in_the_text_do_not_outvote_the_delimiter():
    assert delimiter_of("a;b\n1,5;x\n2,7;y, z\n") == ";"


def test_one_column_is_a_table_too():
    assert markdown("Lyrics\nla la\n") == "| Lyrics |\n| --- |\n| la la |"


def test_quoted_lines_and_bars_stay_in_their_cell():
    assert markdown('a,b\n"x\ny","p|q"\n') == "| a | b |\n| --- | --- |\n| x y | p\\|q |"


def test_ragged_and_empty_rows_cost_nothing():
    assert markdown("a,b\n\n1\n1,2,3\n,,\n") == (
        "| a | b |  |\n| --- | --- | --- |\n| 1 |\n| 1 | 2 | 3 |"
    )


def test_a_japanese_file_of_a_spreadsheet_program_is_read():
    assert "| 佐藤太郎 | 東京 |" in markdown("名前,住所\n佐藤太郎,東京\n三木英子,大阪\n", "cp932")


def test_a_cell_may_hold_a_whole_book():
    assert "x" * 200_000 in markdown("a,b\n1," + "x" * 200_000 + "\n")


def test_a_wide_row_does_not_make_every_other_row_wide():
    text = markdown("a,b\n" * 5000 + "c," * 5000)
    assert len(text) < 200_000


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.text("ab1 가,", min_size=1).filter(str.strip), min_size=2, max_size=2),
        min_size=3,
    )
)
def test_every_cell_is_in_the_table(rows):
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, delimiter="\t").writerows(rows)
    lines = markdown(out.getvalue()).split("\n")
    assert len(lines) == len(rows) + 1
    for line, row in zip([lines[0], *lines[2:]], rows, strict=True):
        assert [cell.strip() for cell in line.strip("|").split("|")] == [
            " ".join(cell.split()) for cell in row
        ]


def test_values_between_tabs_are_a_table():
    document = read_document("a.tsv", "이름\t일수\n김, 이\t15\n佐藤\t10\n".encode())
    assert document.page_content == "| 이름 | 일수 |\n| --- | --- |\n| 김, 이 | 15 |\n| 佐藤 | 10 |"
    assert document.metadata["format"] == "tsv"
