import pytest

from domain.errors import UnreadableError
from loaders.formats import read_document
from tests.loaders.formats.files import docx_file, zipped

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@pytest.mark.parametrize("suffix", ["docx", "pptx", "xlsx"])
def test_encrypted_files_are_rejected_with_advice(suffix):
    data = OLE + bytes(600) + "EncryptedPackage".encode("utf-16-le")
    with pytest.raises(UnreadableError, match=r"^password-protected: save a copy without"):
        read_document(f"a.{suffix}", data)


def test_old_binary_files_with_a_new_extension_are_rejected():
    with pytest.raises(UnreadableError, match=r"an old \.xls file .* save it as \.xlsx"):
        read_document("a.xlsx", OLE + bytes(600))


def test_zip_bombs_are_rejected_before_unpacking():
    with pytest.raises(UnreadableError, match="it unpacks to 64 MiB"):
        read_document("a.docx", zipped({"word/document.xml": bytes(64 * 2**20)}))


def test_the_size_limit_applies_to_the_sum_of_all_parts():
    part = zipped({f"word/media/{i}": bytes(16 * 2**20) for i in range(4)})
    with pytest.raises(UnreadableError, match="unpacks to 64 MiB"):
        read_document("a.docx", part)


def test_large_documents_within_the_limit_are_read():
    def build(document):
        document.add_paragraph("text " * 200_000)

    assert "text" in read_document("a.docx", docx_file(build)).page_content
