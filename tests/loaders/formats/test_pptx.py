import pytest
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.oxml import parse_xml
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


ALTERNATIVES = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:a14="http://schemas.microsoft.com/office/drawing/2010/main"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
    ' xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math">'
    '<mc:Choice Requires="a14"/><mc:Fallback/></mc:AlternateContent>'
)
EQUATION = (
    "<a14:m><m:oMath><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>6</m:t></m:r>"
    "</m:sup></m:sSup></m:oMath></a14:m>"
)


def test_shapes_and_paragraphs_with_equations_are_read():
    def build(presentation):
        slide = slide_of(presentation, BLANK)
        box(slide.shapes, "up to ")
        shape = slide.shapes[0]
        run = parse_xml(ALTERNATIVES.replace('a14"/>', f'a14">{EQUATION}</mc:Choice>', 1))
        shape.text_frame.paragraphs[0]._p.append(run)
        shape.text_frame.paragraphs[0].add_run().text = " cells"
        whole = parse_xml(ALTERNATIVES)
        shape.element.addprevious(whole)
        whole[0].append(shape.element)
        whole[1].append(slide.shapes.add_textbox(0, 0, 1, 1).element)

    assert read(build).page_content == "up to 10^6 cells"


def test_notes_with_equations_are_read():
    def build(presentation):
        slide = slide_of(presentation, BLANK)
        slide.notes_slide.notes_text_frame.text = "up to "
        run = parse_xml(ALTERNATIVES.replace('a14"/>', f'a14">{EQUATION}</mc:Choice>', 1))
        slide.notes_slide.notes_text_frame.paragraphs[0]._p.append(run)

    assert read(build).page_content == "> up to 10^6"


def test_a_slide_with_ink_is_read():
    def build(presentation):
        slide = slide_of(presentation, BLANK)
        box(slide.shapes, "Plan")
        ink = ALTERNATIVES.replace('a14"/>', 'p14"><p14:contentPart/></mc:Choice>', 1)
        ink = ink.replace("<mc:Fallback/>", "<mc:Fallback><p14:pic/></mc:Fallback>")
        namespace = 'xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main"'
        ink = ink.replace("<mc:AlternateContent", f"<mc:AlternateContent {namespace}", 1)
        slide.shapes[0].element.addprevious(parse_xml(ink))

    assert read(build).page_content == "Plan"


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


def test_numbers_of_charts_keep_their_digits():
    def build(presentation):
        data = CategoryChartData()
        data.categories = ["2024", "2025"]
        data.add_series("Sales", (12345678, 15234567890.5))
        data.add_series("Share", (0.00001, 0.1234567))
        slide_of(presentation, BLANK).shapes.add_chart(
            XL_CHART_TYPE.COLUMN_CLUSTERED, Inches(1), Inches(1), Inches(4), Inches(3), data
        )

    text = read(build).page_content
    assert "| 2024 | 12345678 | 0.00001 |\n| 2025 | 15234567890.5 | 0.1234567 |" in text


def write_runs(paragraph, *runs):
    """Add runs to the paragraph; those that begin with "^" are superscripts."""
    for text in runs:
        run = paragraph.add_run()
        run.text = text.removeprefix("^")
        if text.startswith("^"):
            run.font._element.set("baseline", "30000")


@pytest.mark.parametrize(
    ("runs", "text"),
    [
        (("10", "^6", " cells"), "10^6 cells"),
        (("10", "^1", "^2", " cells"), "10^12 cells"),
        (("10", "^-6", " m"), "10^-6 m"),
        (("20 m", "^2", " of floor"), "20 m2 of floor"),
        (("the 5", "^th", " floor"), "the 5th floor"),
        (("10", "6 cells"), "106 cells"),
        (("^1", "25 days"), "1 25 days"),
        (("in 2024.", "^1", " Next"), "in 2024.^1 Next"),
        (("25", "^1", "2 more"), "25^1 2 more"),
    ],
)
def test_exponents_are_told_apart_from_the_digits_before_them(runs, text):
    def build(presentation):
        slide = slide_of(presentation, TITLE_ONLY, "")
        write_runs(slide.shapes.title.text_frame.paragraphs[0], *runs)
        box(slide.shapes, "", top=2)
        write_runs(slide.shapes[1].text_frame.paragraphs[0], *runs)
        table = slide.shapes.add_table(1, 1, Inches(1), Inches(5), Inches(4), Inches(1)).table
        write_runs(table.cell(0, 0).text_frame.paragraphs[0], *runs)
        write_runs(slide.notes_slide.notes_text_frame.paragraphs[0], *runs)

    assert read(build).page_content == f"# {text}\n\n{text}\n\n| {text} |\n| --- |\n\n> {text}"


def test_subscripts_stay_as_they_are():
    def build(presentation):
        slide = slide_of(presentation, BLANK)
        box(slide.shapes, "")
        paragraph = slide.shapes[0].text_frame.paragraphs[0]
        write_runs(paragraph, "log 10", "^2")
        paragraph.runs[1].font._element.set("baseline", "-25000")

    assert read(build).page_content == "log 102"


def test_line_breaks_and_fields_are_part_of_their_paragraph():
    def build(presentation):
        slide = slide_of(presentation, BLANK)
        box(slide.shapes, "first\vsecond")
        slide.notes_slide.notes_text_frame.text = "one\vtwo"

    assert read(build).page_content == "first second\n\n> one\n\n> two"


DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def diagram_point(kind, *texts):
    paragraphs = "".join(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>" for text in texts)
    return f"<dgm:pt{kind}><dgm:t><a:bodyPr/>{paragraphs}</dgm:t></dgm:pt>"


def add_diagram(slide, *points):
    """Turn a table of the slide into a SmartArt graphic with these points."""
    part = Part(
        PackURI("/ppt/diagrams/data1.xml"),
        "application/vnd.openxmlformats-officedocument.drawingml.diagramData+xml",
        slide.part.package,
        f'<dgm:dataModel xmlns:dgm="{DIAGRAM}" xmlns:a="{DRAWING}"><dgm:ptLst>'
        f"{''.join(points)}</dgm:ptLst></dgm:dataModel>".encode(),
    )
    relation = slide.part.relate_to(part, f"{RELATIONS}/diagramData")
    frame = slide.shapes.add_table(1, 1, Inches(1), Inches(2), Inches(4), Inches(1))
    data = frame.element.graphic.graphicData
    data.set("uri", DIAGRAM)
    data.remove(data[0])
    ids = f'<dgm:relIds xmlns:dgm="{DIAGRAM}" xmlns:r="{RELATIONS}" r:dm="{relation}"/>'
    data.append(parse_xml(ids))


def test_the_texts_of_smart_art_become_list_items():
    def build(presentation):
        add_diagram(
            slide_of(presentation, TITLE_ONLY, "Steps"),
            diagram_point(' type="doc"', ""),
            diagram_point("", "Ask your", "manager"),
            diagram_point(' type="sibTrans"', "arrow"),
            diagram_point(' type="node"', "Book the room"),
            diagram_point(' type="pres"', "Book the room"),
            diagram_point("", ""),
        )

    assert read(build).page_content == "# Steps\n\n- Ask your manager\n- Book the room"


def test_smart_art_without_its_data_is_left_out():
    def build(presentation):
        slide = slide_of(presentation, TITLE_ONLY, "Steps")
        add_diagram(slide, diagram_point("", "Ask"))
        next(slide.shapes[1].element.iter(f"{{{DIAGRAM}}}relIds")).attrib.clear()

    assert read(build).page_content == "# Steps"


@pytest.mark.parametrize("data", [b"", b"<a>", b"<a>" * 400 + b"</a>" * 400])
def test_smart_art_with_damaged_data_is_left_out(data):
    def build(presentation):
        slide = slide_of(presentation, TITLE_ONLY, "Steps")
        add_diagram(slide, diagram_point("", "Ask"))
        slide.part.part_related_by(f"{RELATIONS}/diagramData")._blob = data

    assert read(build).page_content == "# Steps"


def test_smart_art_whose_data_is_elsewhere_is_left_out():
    def build(presentation):
        slide = slide_of(presentation, TITLE_ONLY, "Steps")
        add_diagram(slide, diagram_point("", "Ask"))
        link = slide.part.relate_to("https://example.org/data1.xml", "x", is_external=True)
        ids = next(slide.shapes[1].element.iter(f"{{{DIAGRAM}}}relIds"))
        ids.set(f"{{{RELATIONS}}}dm", link)

    assert read(build).page_content == "# Steps"


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
