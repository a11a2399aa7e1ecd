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
def test_files_with_any_common_delimiter_are_read(delimiter):
    rows = [["Team", "Cups, won"], ["Blues", "1"], ["Reds; x", "2"]]
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(rows)
    assert markdown(out.getvalue()) == (
        "| Team | Cups, won |\n| --- | --- |\n| Blues | 1 |\n| Reds; x | 2 |"
    )


def test_commas_in_cells_are_not_mistaken_for_the_delimiter():
    assert delimiter_of("a;b\n1,5;x\n2,7;y, z\n") == ";"


def test_a_single_column_becomes_a_table():
    assert markdown("Lyrics\nla la\n") == "| Lyrics |\n| --- |\n| la la |"


def test_line_breaks_and_pipes_in_quoted_cells_stay_in_their_cell():
    assert markdown('a,b\n"x\ny","p|q"\n') == "| a | b |\n| --- | --- |\n| x y | p\\|q |"


def test_short_rows_are_accepted_and_empty_rows_dropped():
    assert markdown("a,b\n\n1\n1,2,3\n,,\n") == (
        "| a | b |  |\n| --- | --- | --- |\n| 1 |\n| 1 | 2 | 3 |"
    )


def test_files_in_cp932_are_read():
    assert "| 佐藤太郎 | 東京 |" in markdown("名前,住所\n佐藤太郎,東京\n三木英子,大阪\n", "cp932")


def test_cells_may_be_very_long():
    assert "x" * 200_000 in markdown("a,b\n1," + "x" * 200_000 + "\n")


def test_one_wide_row_does_not_widen_all_others():
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


def test_tab_separated_values_become_a_table():
    document = read_document("a.tsv", "이름\t일수\n김, 이\t15\n佐藤\t10\n".encode())
    assert document.page_content == "| 이름 | 일수 |\n| --- | --- |\n| 김, 이 | 15 |\n| 佐藤 | 10 |"
    assert document.metadata["format"] == "tsv"
