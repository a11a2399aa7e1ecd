import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document

FONTS = (
    r"{\fonttbl{\f0\fswiss\fcharset0 Arial;}{\f1\fnil\fcharset129 Batang;}"
    r"{\f2\fnil\fcharset128 MS Mincho;}{\f3\fcharset2 Symbol;}}"
)


def read(body, head=r"\ansi\ansicpg1252\deff0"):
    data = rf"{{\rtf1{head}{FONTS}{{\colortbl;\red0\green0\blue0;}}{body}}}"
    return read_document("a.rtf", data.encode("latin-1"))


def escaped(text, codec):
    return "".join(f"\\'{byte:02x}" for byte in text.encode(codec))


def test_paragraphs_and_escaped_characters_are_read():
    text = read(r"One {\b bold} word.\par Caf\'e9 \u8212? dash\line below\par").page_content
    assert text == "One bold word.\n\nCafé — dash\nbelow"


@pytest.mark.parametrize(
    ("font", "codec", "words"),
    [(1, "cp949", "연차는 15일입니다"), (2, "cp932", "有給休暇は表のとおり")],
)
def test_escaped_bytes_are_decoded_with_the_encoding_of_their_font(font, codec, words):
    assert read(rf"\f{font} {escaped(words, codec)}\par").page_content == words


@pytest.mark.parametrize(("page", "words"), [(949, "연차 휴가"), (932, "年次休暇")])
def test_escaped_bytes_without_a_font_are_decoded_with_the_code_page(page, words):
    body = escaped(words, f"cp{page}")
    assert read(body, rf"\ansi\ansicpg{page}").page_content == words


def test_unescaped_second_bytes_of_double_byte_characters_are_decoded():
    raw = "".join(
        chr(byte) if chr(byte).isalnum() and byte < 128 else f"\\'{byte:02x}"
        for byte in "テスト".encode("cp932")
    )
    assert raw == r"\'83e\'83X\'83g"
    assert read(rf"\f2 {raw}\par").page_content == "テスト"


def test_fallback_characters_of_unicode_escapes_are_skipped():
    text = read(r"\uc1\u50672?\u52264? \uc2\u26377\'97\'4c \u-10179?\u-8704??\par").page_content
    assert text == "연차 有 😀"


def test_outline_levels_become_heading_levels():
    styles = r"{\stylesheet{\s1\outlinelevel0 heading 1;}{\s2\outlinelevel1 heading 2;}}"
    body = styles + r"\pard\s1 Leave\par\pard\s2\outlinelevel1 Days\par\pard Fifteen.\par"
    document = read(body)
    assert document.page_content == "# Leave\n\n## Days\n\nFifteen."
    assert document.metadata["title"] == "Leave"


@pytest.mark.parametrize("name", ["heading 1", "Heading 1", escaped("제목 1", "cp949"), "Title"])
def test_heading_styles_are_recognized_by_name(name):
    body = rf"{{\stylesheet{{\s0 Normal;}}{{\s4\f1\b {name};}}}}\pard\s4 Leave\par\pard\s0 x\par"
    assert read(body).page_content == "# Leave\n\nx"


def test_the_title_property_is_used_if_there_is_no_heading():
    document = read(r"{\info{\title Leave rules}{\author Kim}}Text\par")
    assert document.metadata["title"] == "Leave rules"
    assert document.page_content == "Text"


def test_lists_keep_their_numbers_and_depth():
    body = (
        r"{\listtext\pard\plain 1.\tab}\ls1\ilvl0 one\par"
        r"{\listtext\pard\plain\f3 \'b7\tab}\ls2\ilvl1 two\par\pard after\par"
    )
    assert read(body).page_content == "1. one\n  - two\n\nafter"


def test_tables_become_pipe_tables_with_merged_cells_repeated():
    body = (
        r"\trowd\clvmgf\cellx1000\cellx2000\pard\intbl Team\cell Days\cell\row"
        r"\trowd\clvmrg\cellx1000\cellx2000\pard\intbl \cell 15\par more\cell\row\pard After\par"
    )
    assert read(body).page_content == (
        "| Team | Days |\n| --- | --- |\n| Team | 15 more |\n\nAfter"
    )


def test_invisible_text_and_pictures_are_omitted():
    body = (
        r"{\header Head}{\*\generator Word;}{\pict\pngblip 89504e47}{\v hidden}{\deleted gone}"
        r"\v so\v0 Shown {\*\bkmkstart x}{\field{\*\fldinst HYPERLINK http://a}{\fldrslt link}}"
        r"{\xe{\v entry}}{\*\shppict{\pict ffff}}\par"
    )
    assert read(body).page_content == "Shown link"


def test_binary_data_is_skipped_even_if_it_resembles_markup():
    body = r"a{\pict\bin10 {{{\par }}}b\par"
    assert read(body).page_content == "ab"


def test_notes_follow_their_paragraph():
    text = read(r"Fact{\super\chftn}{\footnote \pard\plain The source.\par}.\par Next\par")
    assert text.page_content == "Fact.\n\n> The source.\n\nNext"


def test_only_the_unicode_alternative_is_read():
    assert read(r"{\upr{ascii}{\*\ud{\u50672?}}}\par").page_content == "연"


def test_truncated_files_are_read_with_a_warning():
    document = read_document("a.rtf", rb"{\rtf1 Text {\b that")
    assert document.page_content == "Text that"
    assert document.metadata["warnings"] == [
        "the file ends unexpectedly: part of its text may be missing"
    ]


def test_files_that_are_not_rtf_are_rejected():
    with pytest.raises(UnreadableError, match="does not begin like an RTF file"):
        read_document("a.rtf", b"plain text")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"10{\super 6} cells", "10^6 cells"),
        (r"10\super 6\nosupersub  cells", "10^6 cells"),
        (r"10\up8 6\up0  cells", "10^6 cells"),
        (r"10\up 6\dn0  cells", "10^6 cells"),
        (r"10\super\up0 6\nosupersub  cells", "10^6 cells"),
        (r"1\up2 06\up0  cells", "106 cells"),
        (r"10\super 6\plain  cells", "10^6 cells"),
        (r"H\sub 2\nosupersub O and m{\super 2}", "H2O and m2"),
        (r"25 days{\super 1}{\footnote paid}", "25 days1\n\n> paid"),
        (r"\trowd\cellx1 10{\super 6}\intbl\cell\row", "| 10^6 |\n| --- |"),
    ],
)
def test_superscripts_do_not_change_numbers(body, expected):
    assert read(body).page_content == expected


def test_a_superscript_in_the_title_does_not_change_a_number():
    document = read(r"{\info{\title 10{\super 6} cells}}text")
    assert document.metadata["title"] == "10^6 cells"
