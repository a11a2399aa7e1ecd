import struct
from datetime import UTC, datetime

import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.ole_files import msg_file, ole_file

SENT = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
TICKS = int((SENT - datetime(1601, 1, 1, tzinfo=UTC)).total_seconds()) * 10**7
MAIL = {"0037": "휴가 안내", "1000": "연차는 15일입니다.\r\n有給は15日です。"}


def test_subject_addresses_date_and_text_are_read():
    texts = {**MAIL, "0C1A": "김 대리", "5D01": "kim@example.com", "0E04": "이 과장", "0E03": "박"}
    document = read_document("a.msg", msg_file(texts, fixed={0x0039: TICKS}))
    assert document.page_content == (
        "# 휴가 안내\n\nFrom: 김 대리 <kim@example.com>\nTo: 이 과장\nCc: 박\n"
        "Date: 2026-11-21 10:00+00:00\n\n연차는 15일입니다.\n有給は15日です。"
    )
    assert document.metadata["title"] == "휴가 안내"


def test_transport_headers_provide_addresses_and_date():
    headers = "From: Kim <k@a.kr>\r\nTo: Lee <l@a.kr>\r\nDate: Sat, 21 Nov 2026 19:00:00 +0900\r\n"
    text = read_document("a.msg", msg_file({**MAIL, "007D": headers})).page_content
    assert "From: Kim <k@a.kr>\nTo: Lee <l@a.kr>\nDate: 2026-11-21 19:00+09:00" in text


def test_html_is_converted_if_there_is_no_plain_text():
    page = "<html><body><p>연차</p><ul><li>15일</li></ul></body></html>".encode("cp949")
    data = msg_file({"0037": "s"}, binary={"1013": page}, fixed={0x3FDE: 949})
    assert read_document("a.msg", data).page_content == "# s\n\n연차\n\n- 15일"


def test_plain_text_is_preferred_to_html():
    document = read_document("a.msg", msg_file(MAIL, binary={"1013": b"<p>page</p>"}))
    assert document.page_content == f"# 휴가 안내\n\n{MAIL['1000']}".replace("\r\n", "\n")


@pytest.mark.parametrize(("page", "encoding"), [(949, "cp949"), (932, "cp932")])
def test_8_bit_text_is_decoded_with_the_specified_code_page(page, encoding):
    words = {949: "연차", 932: "有給休暇"}[page]
    data = msg_file({"0037": words, "1000": words}, fixed={0x3FFD: page}, encoding=encoding)
    assert read_document("a.msg", data).page_content == f"# {words}\n\n{words}"


def compressed(plain):
    """Compressed RTF that consists of literal runs only."""
    packed = b""
    for at in range(0, len(plain), 8):
        packed += b"\0" + plain[at : at + 8]
    return struct.pack("<II4sI", len(packed) + 12, len(plain), b"LZFu", 0) + packed


def test_compressed_rtf_is_read_if_there_is_neither_text_nor_html():
    data = msg_file({"0037": "s"}, binary={"1009": compressed(rb"{\rtf1 Fifteen days.\par}")})
    assert read_document("a.msg", data).page_content == "# s\n\nFifteen days."


def test_back_references_of_compressed_rtf_are_resolved():
    # The example of [MS-OXRTFCP], section 4.1.1.
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320a"
        "f32068656c090020627705b06c647d0a800fa0"
    )
    data = msg_file({"0037": "s"}, binary={"1009": packed})
    assert read_document("a.msg", data).page_content == "# s\n\nhello world"


def test_readable_attachments_become_sections_and_others_are_reported():
    data = msg_file(MAIL, attachments=[("규정.txt", "연차 규정".encode()), ("a.bin", b"\0\1")])
    document = read_document("a.msg", data)
    assert document.page_content.endswith("## 규정.txt\n\n연차 규정")
    assert document.metadata["warnings"] == ["a.bin: Footnote does not read .bin files yet"]


def test_attached_emails_become_sections():
    data = msg_file(MAIL, embedded=[("전달", {"0037": "원문", "1000": "원래의 글"})])
    text = read_document("a.msg", data).page_content
    assert text.endswith("## 전달\n\n# 원문\n\n원래의 글")


def test_other_compound_files_are_rejected():
    with pytest.raises(UnreadableError, match="not an Outlook message"):
        read_document("a.msg", ole_file({"FileHeader": b"x"}))
