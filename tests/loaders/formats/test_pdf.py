import io
import re

import pytest

from domain.errors import UnreadableError
from loaders.formats import ocr, read_document
from loaders.formats.pdf import join_hyphenated
from loaders.formats.pdf_layout import Layout, LineCollector
from tests.loaders.formats.files import pdf_file

KOREAN = "연차 휴가는 매년 15일이 부여됩니다."
JAPANESE = "有給休暇は毎年十五日付与されます。"


@pytest.fixture(autouse=True)
def _without_ocr():
    """Make results for pages without text independent of the machine; see `test_ocr.py`."""
    ocr.configure("none")
    yield
    ocr.configure("eng+kor+jpn")


def test_page_offsets_point_to_the_text_of_the_page():
    document = read_document("a.pdf", pdf_file(["First page.", "Second page.", "Third page."]))
    text, pages = document.page_content, document.metadata["pages"]
    starts = [start for start, _ in pages]
    assert [number for _, number in pages] == [1, 2, 3]
    words = [text[start:].split()[0] for start in starts]
    assert words == ["First", "Second", "Third"]


def test_korean_and_japanese_text_is_read():
    document = read_document("a.pdf", pdf_file([KOREAN, JAPANESE]))
    assert document.page_content == f"{KOREAN}\n\n{JAPANESE}"


def test_large_lines_become_headings_and_gaps_separate_paragraphs():
    page = (
        "# Security\n\nPasswords are changed every 90 days. They hold at\n"
        "least twelve letters of any kind that you like.\n\n\nLaptops are encrypted."
    )
    document = read_document("a.pdf", pdf_file([page]))
    assert document.page_content == (
        "# Security\n\nPasswords are changed every 90 days. They hold at\n"
        "least twelve letters of any kind that you like.\n\nLaptops are encrypted."
    )
    assert document.metadata["title"] == "Security"


def test_the_title_property_takes_precedence_unless_a_program_set_it():
    assert read_document("a.pdf", pdf_file(["x"], title="Handbook")).metadata["title"] == "Handbook"
    for junk in ("untitled", "Microsoft Word - draft", "report.docx", "(anonymous)"):
        assert read_document("a.pdf", pdf_file(["x"], title=junk)).metadata["title"] == "a"


def test_wrapped_japanese_lines_are_joined():
    page = (
        "有給休暇は入社日を基準に毎年十五日付与さ\nれ、翌年まで繰り越すことができるものと\nする。"
    )
    text = read_document("a.pdf", pdf_file([page])).page_content
    assert text == page.replace("\n", "")


def test_words_drawn_one_by_one_are_on_one_line():
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out)
    for line, y in (("Module one is an introduction", 700), ("to the whole product", 680)):
        for number, word in enumerate(line.split()):
            canvas.drawString(60 + 80 * number, y, word)
    canvas.save()
    text = read_document("a.pdf", out.getvalue()).page_content
    assert text == "Module one is an introduction\nto the whole product"


def draw_rows(rows) -> str:
    """The Markdown of rows of (x, text), each drawn as a separate text object."""
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out)
    for number, row in enumerate(rows):
        for x, text in row:
            canvas.drawString(x, 700 - 16 * number, text)
    canvas.save()
    return read_document("a.pdf", out.getvalue()).page_content


def test_aligned_rows_become_a_table():
    rows = [("Kind", "Days"), ("Paid leave", "15"), ("Sick leave", "30")]
    cells = [[(60, a), (200, b)] for a, b in rows]
    assert draw_rows([[(60, "A sentence before it.")], *cells]) == (
        "A sentence before it.\n\n| Kind | Days |\n| --- | --- |\n"
        "| Paid leave | 15 |\n| Sick leave | 30 |"
    )


def letter_by_letter(rows) -> str:
    """The Markdown of rows of (x, text) whose letters pypdf reports one by one."""
    collector = LineCollector()
    for number, row in enumerate(rows):
        for x, text in row:
            for i, letter in enumerate(text):
                matrix = (1, 0, 0, 1, x + 10 * i, 700 - 16 * number)
                collector.visit(letter, (1, 0, 0, 1, 0, 0), matrix, None, 10)
        collector.visit("\n", (1, 0, 0, 1, 0, 0), (1, 0, 0, 1, 0, 0), None, 10)
    return Layout([collector.lines]).markdown(collector.lines)


def test_text_drawn_letter_by_letter_becomes_a_table_only_if_it_is_aligned():
    rows = [("구분", "일수 안내"), ("연차", "십오 일"), ("병가", "삼십 일")]
    table = letter_by_letter([[(60, a), (200, b)] for a, b in rows])
    assert table == ("| 구분 | 일수 안내 |\n| --- | --- |\n| 연차 | 십오 일 |\n| 병가 | 삼십 일 |")
    assert letter_by_letter([[(60, "가나다라마")]] * 4) == "\n".join(["가나다라마"] * 4)


def draw_pieces(*pieces) -> str:
    """The Markdown of a line of (text, letter size, points above the line)."""
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out)
    x = 60.0
    for text, size, rise in pieces:
        line = canvas.beginText(x, 700 + rise)
        line.setFont("Helvetica", size)
        line.textOut(text)
        canvas.drawText(line)
        x += canvas.stringWidth(text, "Helvetica", size)
    canvas.save()
    return read_document("a.pdf", out.getvalue()).page_content


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([("The lab has 10", 11, 0), ("6", 7, 4), (" cells.", 11, 0)], "The lab has 10^6 cells."),
        ([("It has 10", 11, 0), ("1", 7, 4), ("2", 7, 4), (" won.", 11, 0)], "It has 10^12 won."),
        ([("in 2024.", 11, 0), ("3", 7, 4), (" Next", 11, 0)], "in 2024.^3 Next"),
        ([("1", 7, 4), ("25 days", 11, 0)], "1 25 days"),
        ([("40 m", 11, 0), ("2", 7, 4), (" by the 5", 11, 0), ("th", 7, 4)], "40 m2 by the 5th"),
        ([("H", 11, 0), ("2", 7, -2), ("O in 20", 11, 0), ("24", 11, 0)], "H2O in 2024"),
        ([("From 20", 10.5, 0), ("24", 10, 0)], "From 2024"),
        ([("Only $1", 20, 0), (",980.50", 11, 0), (" now", 20, 0)], "Only $1,980.50 now"),
    ],
)  # fmt: skip
def test_superscripts_do_not_change_numbers(pieces, expected):
    assert draw_pieces(*pieces) == expected


def test_superscripts_by_text_rise_do_not_change_numbers():
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, SimpleDocTemplate

    out = io.BytesIO()
    text = "New staff get 25<super>1</super> days, and 10<super>6</super> won on 40 m<sub>2</sub>."
    SimpleDocTemplate(out).build([Paragraph(text, getSampleStyleSheet()["BodyText"])])
    assert read_document("a.pdf", out.getvalue()).page_content == (
        "New staff get 25^1 days, and 10^6 won on 40 m2."
    )


@pytest.mark.parametrize("mark", ["-", "*", "1.", "(a)"])
def test_list_markers_drawn_separately_are_not_mistaken_for_a_table(mark):
    text = draw_rows([[(60, mark), (80, "one point")]] * 4)
    assert text == "\n".join([f"{mark} one point"] * 4)


def test_only_files_with_an_empty_user_password_are_read():
    readable = pdf_file(["Secret words"], owner="owner")
    assert read_document("a.pdf", readable).page_content == "Secret words"
    with pytest.raises(UnreadableError, match="password-protected: save a copy without a password"):
        read_document("a.pdf", pdf_file(["Secret words"], password="hunter2"))


def test_files_without_text_are_reported_as_probable_scans():
    with pytest.raises(UnreadableError, match="^0 characters: probably a scan; text recognition"):
        read_document("a.pdf", pdf_file(["", ""]))


def test_pages_without_text_are_reported_and_counted():
    document = read_document("a.pdf", pdf_file(["One", "", "Three", "Four", ""]))
    assert [number for _, number in document.metadata["pages"]] == [1, 3, 4]
    assert document.metadata["warnings"] == ["no text on page 2, 5 of 5: blank or scanned"]


def test_files_with_text_on_few_pages_are_reported_as_probable_scans():
    document = read_document("a.pdf", pdf_file(["One", "", "", "Four", ""]))
    (warning,) = document.metadata["warnings"]
    assert warning.startswith("no text on page 2-3, 5 of 5: probably a scan; text recognition")


def test_a_damaged_page_does_not_affect_the_others():
    data = pdf_file(["First page.", "Second page."])
    streams = [match.start() for match in re.finditer(rb"stream\n", data)]
    # Replace the filter of the first content stream by an unknown one.
    at = data.rindex(b"/FlateDecode", 0, streams[0])
    broken = data[:at] + b"/NonsenseXYZ" + data[at + 12 :]
    document = read_document("a.pdf", broken)
    assert "Second page." in document.page_content
    assert document.metadata["warnings"][0].startswith("page 1 could not be read completely")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is dedi-\ncated. A dedicated team.", "It is dedicated. A dedicated team."),
        ("A well-\nknown fact, well-known.", "A well-known fact, well-known."),
        ("A dual-\nencoder; dual use; an encoder.", "A dual-\nencoder; dual use; an encoder."),
        ("Une connais-\nsance rare.", "Une connaissance rare."),
        ("Lucene-\nBM25", "Lucene-\nBM25"),
        ("10-\n20 days", "10-\n20 days"),
    ],
)
def test_hyphenated_words_are_joined_only_if_that_is_safe(text, expected):
    assert join_hyphenated([text]) == [expected]


def test_hyphenated_words_are_looked_up_on_all_pages():
    assert join_hyphenated(["self-\nservice", "by self-service", "a service"])[0] == "self-service"
