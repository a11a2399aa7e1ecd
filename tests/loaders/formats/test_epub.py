import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.zipped_files import epub_file

CHAPTERS = {
    "b.xhtml": "<head><title>책</title></head><body><h1>첫째 장</h1><p>연차는 15일.</p></body>",
    "a.xhtml": "<head><title>책</title></head><body><p>有給は15日。</p></body>",
}


def read(chapters, **options):
    return read_document("a.epub", epub_file(chapters, **options))


def test_chapters_are_read_in_the_order_of_the_spine():
    document = read(CHAPTERS, title="책", author="김 작가")
    assert document.page_content == ("# 책\n\n김 작가\n\n# 첫째 장\n\n연차는 15일.\n\n有給は15日。")
    assert document.metadata["title"] == "책"


def test_a_title_page_is_not_repeated():
    page = "<body><h1>휴가 책</h1><p>김 작가</p></body>"
    text = read({"t.xhtml": page}, title="휴가 책", author="김 작가").page_content
    assert text == "# 휴가 책\n\n김 작가"


def test_the_navigation_document_is_omitted():
    nav = "<body><ol><li>첫째 장</li></ol></body>"
    assert "1." not in read({"nav.xhtml": nav, **CHAPTERS}).page_content


def test_chapter_names_may_be_percent_encoded():
    document = read(
        {"%EC%9E%A5.xhtml": ""}, others={"OEBPS/장.xhtml": b"<html><body>text</body></html>"}
    )
    assert document.page_content == "text"


def test_encrypted_chapters_are_rejected_but_not_encrypted_fonts():
    place = '<encryption><CipherReference URI="{}"/></encryption>'
    fonts = {"META-INF/encryption.xml": place.format("OEBPS/font.otf").encode()}
    assert "15일" in read(CHAPTERS, others=fonts).page_content
    chapter = {"META-INF/encryption.xml": place.format("OEBPS/b.xhtml").encode()}
    with pytest.raises(UnreadableError, match="copy-protected"):
        read(CHAPTERS, others=chapter)


def test_missing_chapters_are_reported_as_warnings():
    data = epub_file(CHAPTERS).replace(b"OEBPS/a.xhtml", b"OEBPS/z.xhtml")
    document = read_document("a.epub", data)
    assert "15일" in document.page_content
    assert document.metadata["warnings"] == [
        "OEBPS/a.xhtml: damaged (its part OEBPS/a.xhtml is missing): get an intact copy"
    ]
