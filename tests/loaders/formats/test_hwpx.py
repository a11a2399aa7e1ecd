import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.zipped_files import hwpx_file


def p(text="", *, style="0", shape="0", objects=""):
    run = f"<hp:run><hp:t>{text}</hp:t>{objects}</hp:run>"
    return f'<hp:p styleIDRef="{style}" paraPrIDRef="{shape}">{run}</hp:p>'


def tc(text, row, column, rows=1, columns=1):
    return (
        f"<hp:tc><hp:subList>{p(text)}</hp:subList>"
        f'<hp:cellAddr colAddr="{column}" rowAddr="{row}"/>'
        f'<hp:cellSpan colSpan="{columns}" rowSpan="{rows}"/></hp:tc>'
    )


def read(*sections, **options):
    return read_document("a.hwpx", hwpx_file(*sections, **options))


def test_sections_are_read_in_numerical_order():
    sections = [p(f"{i}장. 연차는 15일") for i in range(11)]
    assert read(*sections).page_content == "\n\n".join(f"{i}장. 연차는 15일" for i in range(11))


def test_elements_that_stand_for_characters_are_read():
    text = "가<hp:tab/>나<hp:lineBreak/>다<hp:nbSpace/>有<hp:fwSpace/>給"
    assert read(p(text)).page_content == "가\t나\n다 有 給"


def test_paragraphs_with_outline_styles_or_shapes_are_headings():
    header = (
        '<hh:style id="1" type="PARA" name="개요 1" engName="Outline 1"/>'
        '<hh:paraPr id="7"><hh:heading type="OUTLINE" idRef="0" level="1"/></hh:paraPr>'
    )
    document = read(p("휴가", style="1") + p("연차", shape="7") + p("15일"), header=header)
    assert document.page_content == "# 휴가\n\n## 연차\n\n15일"
    assert document.metadata["title"] == "휴가"


def test_the_title_of_the_package_is_used_if_there_is_no_heading():
    assert read(p("x"), title="연차 안내").metadata["title"] == "연차 안내"


def test_tables_become_pipe_tables_with_merged_cells_repeated():
    first = f"<hp:tr>{tc('부서', 0, 0, rows=2)}{tc('일수', 0, 1)}</hp:tr>"
    table = f"<hp:tbl>{first}<hp:tr>{tc('15', 1, 1)}</hp:tr></hp:tbl>"
    assert read(p("표", objects=table)).page_content == (
        "표\n\n| 부서 | 일수 |\n| --- | --- |\n| 부서 | 15 |"
    )


def test_tables_of_one_cell_become_paragraphs():
    table = f"<hp:tbl><hp:tr>{tc('알림', 0, 0)}</hp:tr></hp:tbl>"
    assert read(p(objects=table)).page_content == "알림"


def test_notes_text_boxes_and_formulas_follow_their_paragraph():
    objects = (
        f"<hp:ctrl><hp:footNote><hp:subList>{p('각주')}</hp:subList></hp:footNote></hp:ctrl>"
        f"<hp:rect><hp:drawText><hp:subList>{p('글상자')}</hp:subList></hp:drawText></hp:rect>"
        "<hp:equation><hp:script>a over b</hp:script></hp:equation>"
        f"<hp:ctrl><hp:header><hp:subList>{p('머리말')}</hp:subList></hp:header></hp:ctrl>"
    )
    assert read(p("본문", objects=objects)).page_content == "본문\n\n> 각주\n\n글상자\n\na over b"


def test_tracked_deletions_are_omitted():
    assert read(p("가<hp:deleteBegin/>나<hp:deleteEnd/>다")).page_content == "가다"


def test_encrypted_documents_are_rejected():
    manifest = b"<manifest><file-entry><encryption-data/></file-entry></manifest>"
    with pytest.raises(UnreadableError, match="^password-protected"):
        read(p("x"), others={"META-INF/manifest.xml": manifest})


def test_only_damaged_sections_are_omitted_with_a_warning():
    document = read(p("처음"), others={"Contents/section1.xml": b"<broken"})
    assert document.page_content == "처음"
    assert document.metadata["warnings"] == ["section 2 is damaged and was skipped"]


def test_the_preview_is_read_if_all_sections_are_damaged():
    others = {"Contents/section0.xml": b"<broken", "Preview/PrvText.txt": "미리 보기".encode()}
    document = read(others=others)
    assert document.page_content == "미리 보기"
    assert document.metadata["warnings"] == [
        "its pages are damaged: only the preview of its beginning was read"
    ]


def test_documents_without_sections_and_preview_are_rejected():
    with pytest.raises(UnreadableError, match="no readable section"):
        read()


def test_nested_text_boxes_are_read_once():
    body = p("깊이")
    for _ in range(30):
        body = p(
            objects=f"<hp:rect><hp:drawText><hp:subList>{body}</hp:subList></hp:drawText></hp:rect>"
        )
    assert read(body).page_content == "깊이"


def test_superscripts_do_not_change_numbers():
    header = '<hh:charPr id="3"><hh:supscript/></hh:charPr>'
    runs = (("0", "10"), ("3", "6"), ("0", " cells, 5"), ("3", "th"))
    text = "".join(
        f'<hp:run charPrIDRef="{style}"><hp:t>{text}</hp:t></hp:run>' for style, text in runs
    )
    assert read(f"<hp:p>{text}</hp:p>", header=header).page_content == "10^6 cells, 5th"
