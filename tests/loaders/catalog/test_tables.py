"""Reading rows of data files, and the errors for invalid files."""

import os
from datetime import date, datetime
from decimal import Decimal
from unicodedata import normalize

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import SourceError
from loaders.catalog.tables import Row, read_table
from tests.loaders.catalog.catalogs import write_rows


@pytest.fixture
def table(tmp_path):
    def read(name, data, columns=("id", "text")):
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return read_table(path, columns)

    return read


def rows_of(contents):
    return [(row.where, dict(row.values)) for row in contents.rows]


def test_csv_may_contain_a_bom_quoted_line_breaks_and_blank_lines(table):
    contents = table("x.csv", '\ufeffid,text,more\n1,"a\nb ""c""",x\n\n2,d,\n')
    assert contents.columns == ("id", "text", "more")
    assert rows_of(contents) == [
        ("x.csv, line 2", {"id": "1", "text": 'a\nb "c"'}),
        ("x.csv, line 5", {"id": "2", "text": "d"}),
    ]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_csv_may_have_another_delimiter(table, delimiter):
    contents = table("x.csv", f"id{delimiter}text\n1{delimiter}a, b\n")
    assert rows_of(contents) == [("x.csv, line 2", {"id": "1", "text": "a, b"})]


def test_the_columns_of_json_lines_are_the_keys_of_all_lines(table):
    contents = table("x.jsonl", '\ufeff{"id": 1}\r\n\n{"text": "a\u2028b", "more": 2}')
    assert contents.columns == ("id", "text", "more")
    assert rows_of(contents) == [
        ("x.jsonl, line 1", {"id": 1}),
        ("x.jsonl, line 3", {"text": "a\u2028b"}),
    ]


def test_only_requested_columns_of_a_parquet_file_are_read(tmp_path):
    write_rows(
        tmp_path / "x.parquet", [{"id": n, "text": f"t{n}", "more": [n]} for n in range(5000)]
    )
    contents = read_table(tmp_path / "x.parquet", ["id"])
    assert contents.columns == ("id", "text", "more")
    assert rows_of(contents)[-1] == ("x.parquet, row 5000", {"id": 4999})


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "x.jsonl",
            '{"id": 1}\n{"id": \n',
            r"x\.jsonl, line 2: invalid JSON: Expecting value",
        ),
        ("x.jsonl", "[1]\n", r"x\.jsonl, line 1: not a JSON object"),
        ("x.jsonl", "[" * 100_000, r"x\.jsonl, line 1: invalid JSON"),
        ("x.jsonl", b'{"id": 1}\n{"id": "\xff"}', r"x\.jsonl, line 2: not UTF-8"),
        ("x.csv", b"id,text\n1,caf\xe9\n", r"x\.csv, line 2: not UTF-8"),
        ("x.csv", 'id,text\n1,a\n2,"b\n3,c\n', r"x\.csv, line 3: invalid CSV"),
        (
            "x.csv",
            "id,text\n1,a\n2,a,b\n3,c\n4,d\n",
            r"x\.csv, line 3: 3 cells for 2 columns",
        ),
        ("x.csv", "id,id\n1,2\n", r"x\.csv: two columns are named id"),
        ("x.parquet", b"PAR1 no parquet PAR1", r"x\.parquet: invalid Parquet file"),
        ("x.parquet", b"", r"x\.parquet: invalid Parquet file"),
    ],
)
def test_errors_name_the_file_and_the_line(table, name, data, message):
    with pytest.raises(SourceError, match=message):
        table(name, data)


def test_parquet_text_that_is_not_utf8_is_rejected(tmp_path):
    texts = pyarrow.array([b"\xff"], pyarrow.binary()).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"id": texts}), tmp_path / "x.parquet")
    with pytest.raises(SourceError, match=r"x\.parquet: invalid Parquet file"):
        read_table(tmp_path / "x.parquet", ["id"])


def test_named_pipes_are_rejected_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(SourceError, match=r"x\.csv can't be opened: it is not a file"):
        read_table(tmp_path / "x.csv", ["id"])


def test_an_empty_file_has_neither_columns_nor_rows(table):
    assert table("x.csv", "") == table("x.jsonl", "") == ((), [])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (7, "7"),
        (7.0, "7"),
        (0.5, "0.5"),
        (float("nan"), ""),
        (True, "true"),
        (" a\r\n b\x00 ", "a b"),
        ("\ud800", "\ufffd"),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, 3, 4), "2026-01-02T03:04:00"),
        (Decimal("1.50"), "1.50"),
        (["a", None, 2], "a, 2"),
        ({"a": "é"}, '{"a": "é"}'),
    ],
)
def test_cells_are_formatted_for_readers(value, text):
    assert Row("x", {"c": value}).text("c") == text


@pytest.mark.parametrize("value", [["a", "b", "a", ""], "a; b;;a", '["a", "b"]'])
def test_lists_may_have_several_notations(value):
    assert Row("x", {"c": value}).texts("c") == ("a", "b")


def test_short_texts_are_composed_and_paragraphs_stay():
    row = Row(
        "x", {"c": normalize("NFD", "카페; é; 카페"), "list": ["카페", normalize("NFD", "카페")]}
    )
    assert row.text("c") == "카페; é; 카페"
    assert row.texts("c") == ("카페", "é")
    assert row.texts("list") == ("카페",)
    assert row.paragraphs("c") == normalize("NFD", "카페; é; 카페")


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=20)


@given(st.lists(st.tuples(st.integers(0, 99), CELLS), min_size=1, max_size=5))
def test_csv_and_json_lines_can_be_read_back(tmp_path_factory, pairs):
    folder = tmp_path_factory.mktemp("tables")
    rows = [{"id": str(n), "text": text} for n, text in pairs]
    for name in ("x.csv", "x.jsonl"):
        write_rows(folder / name, rows)
        contents = read_table(folder / name, ["id", "text"])
        assert [(row.values["id"], row.values.get("text", "")) for row in contents.rows] == [
            (row["id"], row["text"]) for row in rows
        ]


def test_duplicate_columns_in_parquet_are_rejected(tmp_path):
    path = tmp_path / "x.parquet"
    table = pyarrow.table([[1], [2]], names=["id", "id"])
    pyarrow.parquet.write_table(table, path)
    with pytest.raises(SourceError, match=r"x\.parquet: two columns are named id: rename one"):
        read_table(path, ["id"])
