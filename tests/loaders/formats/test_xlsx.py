import re
from datetime import date, datetime
from io import BytesIO

import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document
from loaders.formats.ooxml import _percentage
from tests.linear_time import require_linear_time
from tests.loaders.formats.files import unzipped, xlsx_file, zipped


def markdown(sheets) -> str:
    return read_document("a.xlsx", xlsx_file(sheets)).page_content


def test_sheets_become_headings_and_tables_without_empty_rows_and_columns():
    text = markdown(
        {
            "휴가": [["Kind", None, "Days"], [], ["Paid|full", None, 15], [None, None, None]],
            "Empty": [[]],
            "Rates": [["a", "b"], [1, 2.50]],
        }
    )
    assert text == (
        "# 휴가\n\n| Kind | Days |\n| --- | --- |\n| Paid\\|full | 15 |\n\n"
        "# Rates\n\n| a | b |\n| --- | --- |\n| 1 | 2.5 |"
    )


def test_rows_above_the_table_become_paragraphs():
    text = markdown({"S": [["Report 2026"], ["in won"], [], ["a", "b"], [1, 2]]})
    assert text == "# S\n\nReport 2026\n\nin won\n\n| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_values_are_formatted_as_in_the_sheet():
    rows = [
        ["x", "y"],
        [date(2026, 1, 2), datetime(2026, 1, 2, 9, 30)],
        [True, 0.1 + 0.2],
        ["=A1", 7],
    ]
    text = markdown({"S": rows})
    assert "| 2026-01-02 | 2026-01-02 09:30:00 |" in text
    assert "| TRUE | 0.3 |" in text


def formatted(value, number_format) -> str:
    """The line of the value in a sheet that shows it in this format."""
    from openpyxl import Workbook

    book = Workbook()
    book.active.append(["rate", value])
    book.active["B1"].number_format = number_format
    out = BytesIO()
    book.save(out)
    return read_document("a.xlsx", out.getvalue()).page_content.splitlines()[2]


def test_cells_with_a_percent_format_are_shown_as_percentages():
    assert formatted(0.155, "0.0%") == "| rate | 15.5% |"
    assert formatted(0.29, '"about" 0%') == "| rate | 29% |"
    assert formatted(2, "0\\ %") == "| rate | 200% |"


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (50, '0"%"', "50%"),
        (12.5, "0.0\\%", "12.5%"),
        (0.5, '0.0" %"', "0.5%"),
        (50, '0" of 100%"', "50"),
        (50, "0_%", "50"),
        (50, "0*%", "50"),
    ],
)
def test_a_percent_sign_that_is_text_or_padding_does_not_change_the_number(
    value, number_format, shown
):
    assert formatted(value, number_format) == f"| rate | {shown} |"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (15234567890.5, "15234567890.5"),
        (123456789.25, "123456789.25"),
        (98765432109.0, "98765432109"),
        (0.00001, "0.00001"),
        (-1234567.125, "-1234567.125"),
        (1.5e300, "1.5e+300"),
        (1.5e-300, "1.5e-300"),
    ],
)
def test_numbers_keep_their_digits(value, shown):
    assert formatted(value, "General") == f"| rate | {shown} |"


def test_number_formats_are_read_in_linear_time():
    def read(chars):
        _percentage.__wrapped__('"%' * (chars // 2) + '"' + "%" * chars)

    require_linear_time(read, 400_000)


def test_wrong_sheet_dimensions_are_ignored():
    parts = unzipped(xlsx_file({"S": [["a", "b"], [1, 2]]}))
    sheet = parts["xl/worksheets/sheet1.xml"]
    parts["xl/worksheets/sheet1.xml"] = re.sub(rb'ref="[^"]*"', b'ref="A1:XFD1048576"', sheet)
    assert "| 1 | 2 |" in read_document("a.xlsx", zipped(parts)).page_content


def test_sheets_with_too_many_cells_are_rejected():
    parts = unzipped(xlsx_file({"S": [["a"]]}))
    row = b'<row r="%d"><c r="XFD%d"><v>1</v></c></row>'
    rows = b"".join(row % (i, i) for i in range(1, 3000))
    sheet = parts["xl/worksheets/sheet1.xml"]
    parts["xl/worksheets/sheet1.xml"] = re.sub(
        rb"<sheetData>.*</sheetData>",
        b"<sheetData>" + rows + b"</sheetData>",
        sheet,
        flags=re.DOTALL,
    )
    with pytest.raises(UnreadableError, match="million cells"):
        read_document("a.xlsx", zipped(parts))
