from copy import deepcopy

import pytest
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn

from loaders.formats import read_document
from tests.loaders.formats.files import docx_file, unzipped, zipped


def read(build):
    return read_document("a.docx", docx_file(build))


def markdown(build) -> str:
    return read(build).page_content


def append(document, xml: str) -> None:
    body = document.element.body
    body.insert(len(body) - 1, parse_xml(xml.replace("<w:p>", f"<w:p {nsdecls('w')}>", 1)))


def test_paragraphs_and_tables_keep_their_order():
    def build(document):
        document.add_heading("Leave", 1)
        document.add_paragraph("Before.")
        table = document.add_table(2, 2)
        for cell, text in zip(table._cells, ("Kind", "Days", "Paid|full", "15"), strict=True):
            cell.text = text
        document.add_paragraph("After.")
        document.add_heading("Details", 2)

    assert markdown(build) == (
        "# Leave\n\nBefore.\n\n| Kind | Days |\n| --- | --- |\n| Paid\\|full | 15 |\n\n"
        "After.\n\n## Details"
    )


def test_the_title_is_the_first_heading_or_else_the_title_property():
    def with_heading(document):
        document.core_properties.title = "Template"
        document.add_heading("Real title", 1)

    def with_property(document):
        document.core_properties.title = "Property"
        document.add_paragraph("text")

    def with_default_title(document):
        document.core_properties.title = "Word Document"
        document.add_paragraph("text")

    builders = (with_heading, with_property, with_default_title)
    assert [read(build).metadata["title"] for build in builders] == [
        "Real title", "Property", "a",
    ]  # fmt: skip


def test_heading_styles_are_recognized_by_name_and_by_their_base_style():
    def build(document):
        style = document.styles["Heading 2"]
        style.element.set(qn("w:styleId"), "제목2")
        own = document.styles.add_style("Our clause", WD_STYLE_TYPE.PARAGRAPH)
        own.base_style = style
        document.add_paragraph("첫째", style=style)
        document.add_paragraph("둘째", style=own)

    assert markdown(build) == "## 첫째\n\n## 둘째"


def test_paragraphs_with_an_outline_level_are_headings():
    def build(document):
        append(
            document,
            '<w:p><w:pPr><w:outlineLvl w:val="2"/></w:pPr><w:r><w:t>Clause</w:t></w:r></w:p>',
        )

    assert markdown(build) == "### Clause"


def test_lists_keep_their_bullets_and_numbers():
    def build(document):
        document.add_paragraph("one", style="List Bullet")
        document.add_paragraph("two", style="List Bullet")
        document.add_paragraph("Steps:")
        document.add_paragraph("ask", style="List Number")
        document.add_paragraph("wait", style="List Number")

    assert markdown(build) == "- one\n- two\n\nSteps:\n\n1. ask\n2. wait"


LEVELS = (
    '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/>'
    '<w:lvlText w:val="제%1조"/></w:lvl>'
    '<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="ganada"/>'
    '<w:lvlText w:val="%2."/></w:lvl>'
)


def define_lists(document, levels, **overrides):
    """Add a definition of lists, and lists that use it, with their `lvlOverride` elements."""
    numbering = document.part.numbering_part.element
    abstract = f'<w:abstractNum {nsdecls("w")} w:abstractNumId="90">{levels}</w:abstractNum>'
    numbering.insert(0, parse_xml(abstract))
    for name, override in overrides.items():
        numbering.append(
            parse_xml(
                f'<w:num {nsdecls("w")} w:numId="{name[1:]}"><w:abstractNumId w:val="90"/>'
                f"{override}</w:num>"
            )
        )


def append_items(document, *items):
    """Append items, each a list, a depth, and a text."""
    for number, depth, text in items:
        append(
            document,
            f'<w:p><w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'
            f"</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>",
        )


def test_automatic_numbers_are_written_out():
    def build(document):
        define_lists(document, LEVELS, n91="")
        append_items(
            document,
            (91, 0, "목적"), (91, 1, "정의"), (91, 1, "범위"), (91, 0, "휴가"), (91, 1, "연차"),
        )  # fmt: skip

    assert markdown(build).split("\n") == [
        "제3조 목적", "  가. 정의", "  나. 범위", "제4조 휴가", "  가. 연차",
    ]  # fmt: skip


def test_a_list_continues_another_one_with_the_same_definition_unless_it_restarts():
    def build(document):
        restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'
        define_lists(document, LEVELS, n91="", n92="", n93=restart)
        append_items(
            document,
            (91, 0, "a"), (92, 0, "b"), (93, 0, "c"), (93, 1, "d"), (93, 0, "e"), (91, 0, "f"),
        )  # fmt: skip

    assert markdown(build).split("\n") == [
        "제3조 a", "제4조 b", "제7조 c", "  가. d", "제8조 e", "제9조 f",
    ]  # fmt: skip


def level(depth, number_format, text, more=""):
    return (
        f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{number_format}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def test_a_level_restarts_only_after_the_levels_that_it_names():
    never = level(0, "decimal", "제%1장") + level(
        1, "decimal", "제%2조", '<w:lvlRestart w:val="0"/>'
    )
    after_chapter = level(2, "decimal", "%3)", '<w:lvlRestart w:val="1"/>')

    def build(document):
        define_lists(document, never + after_chapter, n91="")
        depths = (0, 1, 2, 1, 2, 0, 1, 2)
        append_items(document, *((91, depth, "x") for depth in depths))

    assert [line.strip() for line in markdown(build).split("\n")] == [
        "제1장 x", "제1조 x", "1) x", "제2조 x", "2) x", "제2장 x", "제3조 x", "1) x",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("depths", "expected"),
    [
        ((0, 2, 2, 1, 2), ["1.", "1.1.1.", "1.1.2.", "1.2.", "1.2.1."]),
        ((1, 1, 0, 1), ["1.1.", "1.2.", "2.", "2.1."]),
    ],
)
def test_an_item_uses_the_first_numbers_of_the_levels_above_it(depths, expected):
    patterns = ("%1.", "%1.%2.", "%1.%2.%3.")

    def build(document):
        levels = "".join(level(at, "decimal", pattern) for at, pattern in enumerate(patterns))
        define_lists(document, levels, n91="")
        append_items(document, *((91, depth, "x") for depth in depths))

    assert [line.split()[0] for line in markdown(build).split("\n")] == expected


def test_a_legal_level_writes_the_numbers_above_it_in_decimal():
    def build(document):
        legal = level(1, "decimalZero", "%1.%2", "<w:isLgl/>")
        define_lists(document, level(0, "upperRoman", "%1.") + legal, n91="")
        append_items(document, (91, 0, "a"), (91, 0, "b"), (91, 1, "c"))

    assert markdown(build).split("\n") == ["I. a", "II. b", "  2.01 c"]


def test_a_style_belongs_to_the_level_that_names_it():
    def build(document):
        for name in ("Chapter", "Article"):
            style = document.styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
            properties = style.element.get_or_add_pPr()
            properties.append(parse_xml(f'<w:numPr {nsdecls("w")}><w:numId w:val="91"/></w:numPr>'))
        chapter = level(0, "decimal", "%1.", '<w:pStyle w:val="Chapter"/>')
        article = level(1, "decimal", "%1.%2", '<w:pStyle w:val="Article"/>')
        define_lists(document, chapter + article, n91="")
        for name in ("Chapter", "Article", "Article", "Chapter", "Article"):
            document.add_paragraph("x", style=name)

    assert [line.strip() for line in markdown(build).split("\n")] == [
        "1. x", "1.1 x", "1.2 x", "2. x", "2.1 x",
    ]  # fmt: skip


FORMATS = (
    '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
    '<mc:Choice Requires="w14"><w:numFmt w:val="custom" w:format="001"/></mc:Choice>'
    '<mc:Fallback><w:numFmt w:val="decimal"/></mc:Fallback></mc:AlternateContent>'
)


@pytest.mark.parametrize(
    ("definition", "expected"),
    [
        ('<w:start w:val="1"/><w:lvlText w:val="%1."/>', "1. a\n2. a"),
        (f'<w:start w:val="1"/>{FORMATS}<w:lvlText w:val="%1."/>', "1. a\n2. a"),
        ('<w:numFmt w:val="none"/><w:lvlText w:val="Note:"/>', "Note: a\nNote: a"),
        ('<w:numFmt w:val="decimal"/><w:lvlText w:val="%1)"/>', "0) a\n1) a"),
        ('<w:numFmt w:val="decimal"/><w:lvlText w:val=""/>', "a\n\na"),
    ],
)
def test_incomplete_levels_are_read_as_in_word(definition, expected):
    def build(document):
        define_lists(document, f'<w:lvl w:ilvl="0">{definition}</w:lvl>', n91="")
        append_items(document, (91, 0, "a"), (91, 0, "a"))

    assert markdown(build) == expected


def test_a_level_without_a_number_adds_none_to_the_levels_below_it():
    def build(document):
        define_lists(document, level(0, "none", "") + level(1, "decimal", "%1%2."), n91="")
        append_items(document, (91, 0, "a"), (91, 1, "b"))

    assert markdown(build) == "a\n\n  1. b"


def test_the_label_of_a_hostile_pattern_is_short():
    def build(document):
        letters = level(0, "lowerLetter", "%1" * 2000).replace(
            'start w:val="1"', 'start w:val="99999"'
        )
        define_lists(document, letters, n91="")
        append_items(document, (91, 0, "a"))

    assert len(markdown(build)) < 1000


def test_an_item_in_a_code_style_is_counted():
    def build(document):
        document.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
        define_lists(document, level(0, "decimal", "%1."), n91="")
        append_items(document, (91, 0, "a"), (91, 0, "b"), (91, 0, "c"))
        document.paragraphs[-2].style = "Source Code"

    assert markdown(build) == "1. a\n\n```\nb\n```\n\n3. c"


def test_a_list_may_override_a_level():
    def build(document):
        letters = level(0, "lowerLetter", "(%1)")
        override = f'<w:lvlOverride w:ilvl="0">{letters}</w:lvlOverride>'
        define_lists(document, level(0, "decimal", "%1."), n91="", n92=override)
        append_items(document, (91, 0, "a"), (92, 0, "b"))

    assert markdown(build).split("\n") == ["1. a", "(b) b"]


def test_a_definition_may_refer_to_that_of_a_style():
    def build(document):
        define_lists(document, '<w:styleLink w:val="Steps"/>' + level(0, "decimal", "%1)"))
        numbering = document.part.numbering_part.element
        link = '<w:numStyleLink w:val="Steps"/>'
        numbering.insert(
            0,
            parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="95">{link}</w:abstractNum>'),
        )
        numbering.append(
            parse_xml(f'<w:num {nsdecls("w")} w:numId="96"><w:abstractNumId w:val="95"/></w:num>')
        )
        append_items(document, (96, 0, "a"), (97, 0, "no list"))

    assert markdown(build).split("\n\n") == ["1) a", "no list"]


def test_items_in_cells_and_items_without_text_are_counted():
    def build(document):
        define_lists(document, level(0, "decimal", "%1."), n91="")
        append_items(document, (91, 0, "a"), (91, 0, ""))
        table = document.add_table(1, 2)
        item = "<w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='91'/></w:numPr></w:pPr>"
        for cell, text in zip(table._cells, "cd", strict=True):
            paragraph = f"<w:p {nsdecls('w')}>{item}<w:r><w:t>{text}</w:t></w:r></w:p>"
            cell._tc.replace(cell._tc.p_lst[0], parse_xml(paragraph))
        append_items(document, (91, 0, "e"))

    assert markdown(build) == "1. a\n\n| 3. c | 4. d |\n| --- | --- |\n\n5. e"


@pytest.mark.parametrize("change", ["del", "moveFrom"])
def test_an_item_that_a_tracked_change_removes_is_not_counted(change):
    def build(document):
        define_lists(document, level(0, "decimal", "%1."), n91="")
        append_items(document, (91, 0, "a"))
        item = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="91"/></w:numPr>'
        append(
            document,
            f"<w:p><w:pPr>{item}<w:rPr><w:{change}/></w:rPr></w:pPr><w:{change}><w:r>"
            f"<w:delText>b</w:delText></w:r></w:{change}></w:p>",
        )
        append_items(document, (91, 0, "c"))

    assert markdown(build) == "1. a\n\n2. c"


def test_a_list_may_start_with_zero():
    def build(document):
        define_lists(document, LEVELS.replace('w:start w:val="3"', 'w:start w:val="0"'), n91="")
        append_items(document, (91, 0, "a"), (91, 0, "b"), (91, 1, "c"))

    assert markdown(build).split("\n") == ["제0조 a", "제1조 b", "  가. c"]


MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def test_equations_are_written_in_one_line():
    def build(document):
        one, twelve = (f"<m:r><m:t>{number}</m:t></m:r>" for number in (1, 12))
        fraction = f"<m:f><m:num>{one}</m:num><m:den>{twelve}</m:den></m:f>"
        append(
            document,
            f'<w:p><w:r><w:t xml:space="preserve">The share is </w:t></w:r>'
            f"<m:oMath {MATH}>{fraction}</m:oMath><w:r><w:t>.</w:t></w:r></w:p>",
        )
        append(
            document,
            f"<w:p><m:oMathPara {MATH}><m:oMath><m:r><m:t>E=</m:t></m:r><m:r><m:t>m</m:t></m:r>"
            "</m:oMath></m:oMathPara></w:p>",
        )

    assert markdown(build) == "The share is 1/12.\n\nE=m"


def test_adjacent_lines_in_a_code_style_are_one_code_block():
    def build(document):
        style = document.styles.add_style("Source Code", WD_STYLE_TYPE.PARAGRAPH)
        for line in ("if x:", "    y = 1", "", "z"):
            document.add_paragraph(line, style=style)
        document.add_paragraph("text")

    assert markdown(build) == "```\nif x:\n    y = 1\n\nz\n```\n\ntext"


def test_merged_cells_are_repeated_and_tables_of_one_cell_become_paragraphs():
    def build(document):
        table = document.add_table(3, 2)
        texts = ("Who", "Days", "Staff", "14", "", "15")
        for cell, text in zip(table._cells, texts, strict=True):
            cell.text = text
        table.cell(1, 0).merge(table.cell(2, 0))
        document.add_paragraph("-")
        document.add_table(1, 1).cell(0, 0).text = "A note in a frame."

    assert markdown(build) == (
        "| Who | Days |\n| --- | --- |\n| Staff | 14 |\n| Staff | 15 |\n\n-\n\nA note in a frame."
    )


def test_tracked_deletions_are_omitted_and_insertions_kept():
    def build(document):
        append(
            document,
            "<w:p><w:r><w:t>Get </w:t></w:r><w:del><w:r><w:delText>10</w:delText></w:r></w:del>"
            "<w:ins><w:r><w:t>15</w:t></w:r></w:ins><w:r><w:t> days</w:t></w:r></w:p>",
        )

    assert markdown(build) == "Get 15 days"


def test_furigana_are_omitted():
    def build(document):
        append(
            document,
            "<w:p><w:r><w:ruby><w:rt><w:r><w:t>きゅうか</w:t></w:r></w:rt>"
            "<w:rubyBase><w:r><w:t>休暇</w:t></w:r></w:rubyBase></w:ruby></w:r>"
            "<w:r><w:t>の規程</w:t></w:r></w:p>",
        )

    assert markdown(build) == "休暇の規程"


def test_superscripts_do_not_change_numbers():
    def build(document):
        paragraph = document.add_paragraph("The lab has 10")
        for text, is_raised in (
            ("1", True), ("2", True), (" cells on 40 m", False), ("2", True), (" by the 5", False),
            ("th", True), (" in 2024.", False), ("3", True), (" Next", False),
        ):  # fmt: skip
            paragraph.add_run(text).font.superscript = is_raised

    assert markdown(build) == "The lab has 10^12 cells on 40 m2 by the 5th in 2024.^3 Next"


def test_the_mark_that_an_author_chose_for_a_note_does_not_change_a_number():
    def build(document):
        append(
            document,
            '<w:p><w:r><w:t>25</w:t></w:r><w:r><w:footnoteReference w:customMarkFollows="1"'
            ' w:id="9"/><w:t>1</w:t></w:r><w:r><w:t xml:space="preserve"> days</w:t></w:r></w:p>',
        )

    assert markdown(build) == "25^1 days"


def test_text_boxes_are_read_once_after_their_paragraph():
    def build(document):
        mc = 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
        box = "<w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent>"
        append(
            document,
            f"<w:p><w:r><w:t>Beside it.</w:t></w:r><w:r><mc:AlternateContent {mc}><mc:Choice "
            f'Requires="wps">{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>'
            "</mc:AlternateContent></w:r></w:p>",
        )

    assert markdown(build) == "Beside it.\n\nIn the box."


def test_the_text_in_content_controls_is_read():
    def build(document):
        control = OxmlElement("w:sdt")
        content = OxmlElement("w:sdtContent")
        content.append(document.add_paragraph("Inside.")._p)
        control.append(content)
        document.element.body.insert(0, control)

    assert markdown(build) == "Inside."


def test_nested_tables_are_read_once():
    def build(document):
        cell = document.add_table(1, 2).cell(0, 0)
        for depth in range(12):
            cell.paragraphs[0].text = f"word{depth}"
            cell = cell.add_table(1, 1).cell(0, 0)

    text = markdown(build)
    assert [text.count(f"word{depth} ") for depth in range(12)] == [1] * 12


def test_footnotes_follow_their_paragraph_as_block_quotes():
    def build(document):
        append(
            document,
            "<w:p><w:r><w:t>Fifteen days.</w:t></w:r>"
            '<w:r><w:footnoteReference w:id="2"/></w:r></w:p>',
        )
        document.add_paragraph("Next.")

    parts = unzipped(docx_file(build))
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relation = f'<Relationship Id="rId900" Type="{kind}" Target="footnotes.xml"/></Relationships>'
    names = "word/_rels/document.xml.rels", "[Content_Types].xml"
    parts[names[0]] = parts[names[0]].replace(b"</Relationships>", relation.encode())
    mime = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    override = f'<Override PartName="/word/footnotes.xml" ContentType="{mime}"/></Types>'
    parts[names[1]] = parts[names[1]].replace(b"</Types>", override.encode())
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>From 2026.</w:t></w:r></w:p></w:footnote>'
    parts["word/footnotes.xml"] = f"<w:footnotes {nsdecls('w')}>{note}</w:footnotes>".encode()
    text = read_document("a.docx", zipped(parts)).page_content
    assert text == "Fifteen days.\n\n> From 2026.\n\nNext."


def test_documents_with_thousands_of_paragraphs_are_read_quickly():
    def build(document):
        paragraph = document.add_paragraph("Text of a handbook.", style="List Bullet")._p
        body = document.element.body
        for _ in range(20_000):
            body.insert(0, deepcopy(paragraph))

    assert markdown(build).count("handbook") == 20_001


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ('<w:rStyle w:val="Exponent"/>', "10^6"),
        ('<w:rStyle w:val="Derived"/>', "10^6"),
        ('<w:rStyle w:val="Derived"/><w:vertAlign w:val="baseline"/>', "106"),
        ('<w:rStyle w:val="Unknown"/>', "106"),
        ('<w:position w:val="8"/>', "10^6"),
        ('<w:position w:val="5"/>', "106"),
        ('<w:position w:val="-8"/>', "106"),
    ],
)
def test_superscripts_by_style_or_position_do_not_change_numbers(properties, expected):
    def build(document):
        exponent = document.styles.add_style("Exponent", WD_STYLE_TYPE.CHARACTER)
        exponent.font.superscript = True
        document.styles.add_style("Derived", WD_STYLE_TYPE.CHARACTER).base_style = exponent
        append(
            document,
            f"<w:p><w:r><w:t>10</w:t></w:r><w:r><w:rPr>{properties}</w:rPr><w:t>6</w:t></w:r></w:p>",
        )

    assert markdown(build) == expected
