from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from loaders.formats import read_document
from tests.loaders.formats.files import pptx_file

TITLE_ONLY, TITLE_AND_TEXT, BLANK = 5, 1, 6


def read(build):
    return read_document("a.pptx", pptx_file(build))


def slide_of(presentation, layout, title=None):
    slide = presentation.slides.add_slide(presentation.slide_layouts[layout])
    if title is not None:
        slide.shapes.title.text = title
    return slide


def box(shapes, text, left=1.0, top=1.0):
    frame = shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(1)).text_frame
    frame.text = text


def test_slides_become_pages_and_their_titles_headings():
    def build(presentation):
        slide = slide_of(presentation, TITLE_AND_TEXT, "휴가")
        frame = slide.placeholders[1].text_frame
        frame.text = "15 days"
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = "paid", 1
        slide_of(presentation, BLANK)
        slide_of(presentation, TITLE_ONLY, "Last")

    document = read(build)
    assert document.page_content == "# 휴가\n\n- 15 days\n  - paid\n\n# Last"
    start = document.page_content.index("# Last")
    assert document.metadata["pages"] == [(0, 1), (start, 3)]
    assert document.metadata["title"] == "휴가"


def test_shapes_and_grouped_shapes_are_read_from_top_to_bottom():
    def build(presentation):
        slide = slide_of(presentation, BLANK)
        box(slide.shapes, "third", top=5)
        group = slide.shapes.add_group_shape()
        inner = group.shapes.add_group_shape()
        box(inner.shapes, "second", top=3)
        box(slide.shapes, "first", top=1)

    assert read(build).page_content == "first\n\nsecond\n\nthird"


def test_tables_become_pipe_tables():
    def build(presentation):
        shapes = slide_of(presentation, TITLE_ONLY, "Days").shapes
        table = shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
        for (row, column), text in {
            (0, 0): "Kind",
            (0, 1): "Days",
            (1, 0): "a|b",
            (1, 1): "15",
        }.items():
            table.cell(row, column).text = text

    expected = "# Days\n\n| Kind | Days |\n| --- | --- |\n| a\\|b | 15 |"
    assert read(build).page_content == expected


def test_charts_become_tables_of_their_data():
    def build(presentation):
        data = CategoryChartData()
        data.categories = ["Q1", "Q2"]
        data.add_series("Sales", (1.5, 20))
        data.add_series("Cost", (1, None))
        frame = slide_of(presentation, BLANK).shapes.add_chart(
            XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data
        )
        frame.chart.has_title = True
        frame.chart.chart_title.text_frame.text = "By quarter"

    assert read(build).page_content == (
        "By quarter\n\n|  | Sales | Cost |\n| --- | --- | --- |\n| Q1 | 1.5 | 1 |\n| Q2 | 20 |"
    )


def test_notes_follow_their_slide_as_block_quotes():
    def build(presentation):
        slide = slide_of(presentation, TITLE_ONLY, "Plan")
        slide.notes_slide.notes_text_frame.text = "Say this.\nThen that."

    assert read(build).page_content == "# Plan\n\n> Say this.\n\n> Then that."


def test_very_long_slide_titles_become_paragraphs():
    def build(presentation):
        slide_of(presentation, TITLE_ONLY, "word " * 100)

    document = read(build)
    assert document.page_content.startswith("word word")
    assert document.metadata["title"] == "a"
