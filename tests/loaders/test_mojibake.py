import pytest

from loaders.encoding import SUSPECTED, is_suspected
from loaders.formats import read_document

TEXTS = [
    "신규 입사자는 첫해에 연차 15일을 받습니다. 규정은 사내 위키에 있습니다.",
    "新入社員は初年度に15日の休暇を受け取ります。規程は社内ウィキにあります。",
    "Déjà vu: l’été à Besançon, naïve façade, 25 € – „Grüße“ aus Zürich.",
]


@pytest.mark.parametrize("text", TEXTS)
def test_accented_letters_and_other_scripts_are_not_suspected(text):
    assert not is_suspected(text * 20)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("wrong_codec", ["latin-1", "cp1252"])
def test_utf8_decoded_as_latin_1_or_cp1252_is_suspected(text, wrong_codec):
    assert is_suspected(text.encode().decode(wrong_codec, "replace"))


def test_cp949_decoded_as_latin_1_is_suspected():
    assert is_suspected(TEXTS[0].encode("cp949").decode("latin-1"))


def test_a_single_sequence_in_a_long_text_is_not_suspected():
    assert not is_suspected("How to write it: Ã© is no é. " + "Plain café talk. " * 400)


def test_a_suspected_file_is_read_with_a_warning():
    text = "DÃ©jÃ  vu Ã  lâ€™Ã©tÃ© " * 5
    document = read_document("note.txt", text.encode())
    assert document.page_content.startswith("DÃ©jÃ")
    assert document.metadata["warnings"] == [SUSPECTED]
    assert read_document("note.txt", TEXTS[0].encode()).metadata["warnings"] == []
