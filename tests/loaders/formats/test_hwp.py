import struct

import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.ole_files import (
    hwp_cell,
    hwp_control,
    hwp_file,
    hwp_paragraph,
    hwp_style,
    ole_file,
    record,
)


def text_of(*records, **options):
    return read_document("a.hwp", hwp_file([b"".join(records)], **options)).page_content


def control_units(code):
    """A control of eight units, as in the text of a paragraph."""
    return struct.pack("<8H", code, 0x1234, 0x5678, 0x41, 0x42, 0, 0, code)


def test_paragraphs_are_read_in_order():
    text = text_of(hwp_paragraph("연차는 15일입니다."), hwp_paragraph("有給休暇は年15日です。"))
    assert text == "연차는 15일입니다.\n\n有給休暇は年15日です。"


def test_control_characters_are_removed_from_the_text():
    raw = b"".join((
        control_units(2), "가".encode("utf-16-le"), control_units(9), "나".encode("utf-16-le"),
        control_units(3), b"\x1e\0", "다".encode("utf-16-le"), b"\x0a\0", "라".encode("utf-16-le"),
    ))  # fmt: skip
    assert text_of(hwp_paragraph(raw)) == "가\t나 다\n라"


def test_surrogate_pairs_are_decoded():
    assert text_of(hwp_paragraph("이모지 😀 𠮷")) == "이모지 😀 𠮷"


def test_paragraphs_with_outline_styles_or_shapes_are_headings():
    outline = 1 << 23 | 1 << 25  # of the second level
    info = record(25, 0, struct.pack("<I", 0)) + record(25, 0, struct.pack("<I", outline))
    info += hwp_style("바탕글") + hwp_style("개요 1")
    records = (
        hwp_paragraph("휴가 규정", style=1),
        hwp_paragraph("연차", shape=1),
        hwp_paragraph("15일"),
    )
    document = read_document("a.hwp", hwp_file([b"".join(records)], info=info))
    assert document.page_content == "# 휴가 규정\n\n## 연차\n\n15일"
    assert document.metadata["title"] == "휴가 규정"


def test_tables_become_pipe_tables_with_merged_cells_repeated():
    table = (
        hwp_paragraph("표"),
        hwp_control("tbl ", 1),
        record(77, 2, bytes(8)),
        hwp_cell("부서", 0, 0, rows=2),
        hwp_cell("일수", 0, 1),
        hwp_cell("15", 1, 1),
    )
    assert text_of(*table) == "표\n\n| 부서 | 일수 |\n| --- | --- |\n| 부서 | 15 |"


def test_notes_and_text_boxes_follow_their_paragraph():
    note = (hwp_paragraph("본문"), hwp_control("fn  ", 1), record(72, 2, bytes(8)))
    box = (hwp_control("gso ", 1), record(76, 2, bytes(8)), record(72, 3, bytes(8)))
    text = text_of(*note, hwp_paragraph("각주", 2), *box, hwp_paragraph("글상자", 3))
    assert text == "본문\n\n> 각주\n\n글상자"


def test_sections_are_read_in_numerical_order():
    sections = [hwp_paragraph(f"{i}장") for i in range(12)]
    text = read_document("a.hwp", hwp_file(sections)).page_content
    assert text == "\n\n".join(f"{i}장" for i in range(12))


def test_uncompressed_documents_are_read():
    assert text_of(hwp_paragraph("그대로"), flags=0) == "그대로"


def test_records_with_an_extended_size_are_read():
    long = "가나다라 " * 2000
    assert text_of(hwp_paragraph(long), hwp_paragraph("끝")) == f"{long.strip()}\n\n끝"


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (3, "password-protected"),
        (5, "a distribution document .*: import the original"),
        (17, "protected by a certificate or DRM"),
    ],
)
def test_protected_documents_are_rejected_with_the_reason(flags, reason):
    with pytest.raises(UnreadableError, match=reason):
        read_document("a.hwp", hwp_file([hwp_paragraph("x")], flags=flags))


def test_documents_of_old_versions_are_rejected_with_advice():
    with pytest.raises(UnreadableError, match=r"Hangul 97 or earlier: .* save it as \.hwpx"):
        read_document("a.hwp", b"HWP Document File V3.00 \x1a\1\2\3\4\5" + bytes(600))


def test_other_compound_files_are_rejected():
    with pytest.raises(UnreadableError, match="it is not a Hangul document"):
        read_document("a.hwp", ole_file({"WordDocument": b"x" * 100}))


def test_the_preview_is_read_if_all_sections_are_damaged():
    data = hwp_file([], raw_sections=[b"\xff" * 200], preview="미리 보기의 글")
    document = read_document("a.hwp", data)
    assert document.page_content == "미리 보기의 글"
    assert document.metadata["warnings"] == [
        "its pages are damaged: only the preview of its beginning was read"
    ]


def test_text_before_the_damage_is_read_with_a_warning():
    whole = hwp_paragraph("처음") + hwp_paragraph("끝")
    document = read_document("a.hwp", hwp_file([whole[:-4]], flags=0))
    assert document.page_content.startswith("처음")
    assert document.metadata["warnings"] == [
        "section 1 is damaged: some of its text may be missing"
    ]


def test_damaged_documents_without_a_preview_are_rejected():
    with pytest.raises(UnreadableError, match="damaged, or contains no text"):
        read_document("a.hwp", hwp_file([], raw_sections=[b"\xff" * 200]))


def test_superscripts_do_not_change_numbers():
    raised, shape = 1 << 15, struct.Struct("<46xI")
    info = record(21, 0, shape.pack(0)) + record(21, 0, shape.pack(raised))
    changes = struct.pack("<6I", 0, 0, 2, 1, 3, 0)
    paragraph = hwp_paragraph("106 cells") + record(68, 1, changes)
    table = hwp_paragraph("") + hwp_control("tbl ", 1) + record(77, 2, b"")
    table += hwp_cell("표", 0, 0) + hwp_cell("252", 0, 1) + record(68, 3, struct.pack("<2I", 2, 1))
    document = read_document("a.hwp", hwp_file([paragraph + table], info=info))
    assert document.page_content.startswith("10^6 cells")
    assert "25^2" in document.page_content
