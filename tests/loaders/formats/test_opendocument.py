import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.files import zipped
from tests.loaders.formats.zipped_files import odf_file


def odt(body, **options):
    return read_document("a.odt", odf_file("text", body, **options))


def test_headings_and_paragraphs_are_read():
    document = odt(
        '<text:h text:outline-level="1">휴가 규정</text:h>'
        '<text:h text:outline-level="2">年次休暇</text:h>'
        "<text:p>연차는<text:s text:c='2'/>15일<text:tab/>입니다<text:line-break/>"
        "<text:span>다음 <text:a>줄</text:a></text:span>.</text:p>"
    )
    assert document.page_content == "# 휴가 규정\n\n## 年次休暇\n\n연차는  15일\t입니다\n다음 줄."
    assert document.metadata["title"] == "휴가 규정"


def test_styles_derived_from_the_title_style_are_headings():
    styles = (
        '<style:style style:family="paragraph" style:name="P1" style:parent-style-name="Title"/>'
    )
    document = odt('<text:p text:style-name="P1">Handbook</text:p>', styles=styles)
    assert document.page_content == "# Handbook"


def test_the_title_property_is_used_if_there_is_no_heading():
    assert odt("<text:p>x</text:p>", title="연차 안내").metadata["title"] == "연차 안내"


def test_lists_keep_their_numbers_and_depth():
    styles = (
        '<text:list-style style:name="L1"><text:list-level-style-number text:level="1"/>'
        '<text:list-level-style-bullet text:level="2"/></text:list-style>'
    )
    body = (
        '<text:list text:style-name="L1"><text:list-item><text:p>one</text:p><text:list>'
        "<text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>two</text:p></text:list-item></text:list><text:p>end</text:p>"
    )
    assert odt(body, styles=styles).page_content == "1. one\n  - inner\n2. two\n\nend"


def test_tables_become_pipe_tables_with_merged_cells_repeated():
    body = (
        "<table:table><table:table-column/><table:table-header-rows><table:table-row>"
        '<table:table-cell table:number-rows-spanned="2"><text:p>Team</text:p></table:table-cell>'
        "<table:table-cell><text:p>Days</text:p></table:table-cell></table:table-row>"
        "</table:table-header-rows><table:table-row><table:covered-table-cell/>"
        "<table:table-cell><text:p>15</text:p></table:table-cell></table:table-row></table:table>"
    )
    assert odt(body).page_content == "| Team | Days |\n| --- | --- |\n| Team | 15 |"


def test_notes_text_boxes_and_descriptions_follow_their_paragraph():
    body = (
        "<text:p>Fact<text:note><text:note-citation>1</text:note-citation><text:note-body>"
        "<text:p>Source</text:p></text:note-body></text:note>.<draw:frame><draw:text-box>"
        "<text:p>Boxed</text:p></draw:text-box></draw:frame></text:p>"
        "<text:p><draw:frame><draw:image/><svg:desc>A plan</svg:desc></draw:frame></text:p>"
    )
    assert odt(body).page_content == "Fact.\n\n> Source\n\nBoxed\n\nA plan"


def test_deleted_text_annotations_and_tables_of_contents_are_omitted():
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p>"
        "</text:deletion></text:changed-region></text:tracked-changes>"
        "<text:table-of-content><text:index-body><text:p>Leave 1</text:p></text:index-body>"
        "</text:table-of-content>"
        "<text:p>Kept<office:annotation><text:p>note to self</text:p></office:annotation></text:p>"
    )
    assert odt(body).page_content == "Kept"


def test_adjacent_preformatted_lines_are_one_code_block():
    line = '<text:p text:style-name="Preformatted_20_Text">{}</text:p>'
    assert odt(line.format("a = 1") + line.format("b = 2")).page_content == "```\na = 1\nb = 2\n```"


def test_sheets_become_tables_below_their_names():
    body = (
        '<table:table table:name="연차"><table:table-row>'
        "<table:table-cell><text:p>name</text:p></table:table-cell>"
        '<table:table-cell table:number-columns-repeated="16000"/>'
        "<table:table-cell><text:p>days</text:p></table:table-cell></table:table-row>"
        '<table:table-row table:number-rows-repeated="2"><table:table-cell><text:p>Kim</text:p>'
        "</table:table-cell></table:table-row>"
        '<table:table-row table:number-rows-repeated="99999"><table:table-cell/></table:table-row>'
        '</table:table><table:table table:name="empty"/>'
    )
    text = read_document("a.ods", odf_file("spreadsheet", body)).page_content
    assert text == "# 연차\n\n| name | days |\n| --- | --- |\n| Kim |\n| Kim |"


def test_slides_become_pages_with_title_bullets_and_notes():
    body = (
        '<draw:page><draw:frame svg:x="9cm" svg:y="2.5cm"><draw:text-box><text:p>right</text:p>'
        '</draw:text-box></draw:frame><draw:frame svg:x="1cm" svg:y="2.5cm"><draw:text-box>'
        "<text:list><text:list-item><text:p>One</text:p>"
        "</text:list-item><text:list-item><text:p>Two</text:p></text:list-item></text:list>"
        '</draw:text-box></draw:frame><draw:frame presentation:class="title"><draw:text-box>'
        "<text:p>계획</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame>"
        "<draw:text-box><text:p>Say hello</text:p></draw:text-box></draw:frame>"
        "</presentation:notes></draw:page>"
        "<draw:page><draw:g><draw:custom-shape><text:p>二枚目</text:p></draw:custom-shape></draw:g>"
        "</draw:page>"
    )
    document = read_document("a.odp", odf_file("presentation", body))
    assert document.page_content == "# 계획\n\n- One\n- Two\n\nright\n\n> Say hello\n\n二枚目"
    assert document.metadata["pages"] == [(0, 1), (document.page_content.index("二"), 2)]
    assert document.metadata["title"] == "계획"


@pytest.mark.parametrize("suffix", ["odt", "ods", "odp"])
def test_encrypted_files_are_rejected(suffix):
    manifest = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    with pytest.raises(UnreadableError, match="^password-protected"):
        read_document(f"a.{suffix}", odf_file("text", "", manifest=manifest))


def test_files_without_a_content_part_are_rejected_as_damaged():
    with pytest.raises(UnreadableError, match=r"damaged \(its part content\.xml is missing\)"):
        read_document("a.odt", zipped({"mimetype": b"x"}))


def test_nested_text_boxes_are_read_once():
    body = "<text:p>deep</text:p>"
    for _ in range(40):
        frame = f"<draw:frame><draw:text-box>{body}</draw:text-box></draw:frame>"
        body = f"<text:p>{frame}</text:p>"
    assert odt(body).page_content == "deep"


@pytest.mark.parametrize("position", ["super 58%", "33% 58%", "+20% 58%"])
def test_superscripts_do_not_change_numbers(position):
    styles = (
        '<style:style style:family="text" style:name="T1">'
        f'<style:text-properties style:text-position="{position}"/></style:style>'
        '<style:style style:family="text" style:name="T2" style:parent-style-name="T1"/>'
        '<style:style style:family="text" style:name="T3">'
        '<style:text-properties style:text-position="-33% 58%"/></style:style>'
        '<style:style style:family="text" style:name="T4" style:parent-style-name="T1">'
        '<style:text-properties style:text-position="7% 100%"/></style:style>'
    )
    document = odt(
        '<text:p>10<text:span text:style-name="T2"><text:span>6</text:span></text:span> cells,'
        ' H<text:span text:style-name="T3">2</text:span>O, 5<text:span text:style-name="T1">th'
        '</text:span>, 1<text:span text:style-name="T4">5</text:span></text:p>',
        styles=styles,
    )
    assert document.page_content == "10^6 cells, H2O, 5th, 15"


def test_automatic_styles_of_the_styles_part_do_not_replace_those_of_the_content():
    position = '<style:text-properties style:text-position="{}"/>'
    style = '<style:style style:family="text" style:name="T1">{}</style:style>'
    raised, plain = (style.format(position.format(one)) for one in ("super 58%", "0% 100%"))
    document = odt(
        '<text:p>10<text:span text:style-name="T1">6</text:span></text:p>',
        styles=raised,
        page_styles=plain,
    )
    assert document.page_content == "10^6"
