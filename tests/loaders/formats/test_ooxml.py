import pytest

from errors import UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.files import docx_file, zipped

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize("suffix", ["docx", "pptx", "xlsx"])
def test_an_encrypted_file_says_so_and_what_to_do(suffix):
    data = OLE + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(UnreadableError, match=r"^password-protected: save a copy without"):
        read_document(f"a.{suffix}", data)


def test_an_old_binary_file_under_a_new_name_says_so():
    with pytest.raises(UnreadableError, match=r"an old \.xls file .* save it as \.xlsx"):
        read_document("a.xlsx", OLE + bytes(600))


def test_a_zip_bomb_is_refused_before_it_is_unpacked():
    with pytest.raises(UnreadableError, match="it unpacks to 64 MiB"):
        read_document("a.docx", zipped({"word/document.xml": bytes(64 * 2**20)}))


def test_many_parts_that_are_small_each_are_refused_by_their_sum():
    part = zipped({f"word/media/{i}": bytes(16 * 2**20) for i in range(4)})
    with pytest.raises(UnreadableError, match="unpacks to 64 MiB"):
        read_document("a.docx", part)


def test_pictures_that_hardly_pack_do_no_harm():
    def build(document):
        document.add_paragraph("text " * 200_000)

    assert "text" in read_document("a.docx", docx_file(build)).page_content
