import codecs
import contextlib
import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import UnreadableError
from loaders.encoding import declared_encoding, decode
from tests.quick import examples

KOREAN = (
    "연차 휴가는 입사일을 기준으로 매년 15일이 부여됩니다.",
    "회의록을 작성한 뒤 담당자에게 공유해 주세요.",
    "비밀번호는 90일마다 바꿔야 하며, 같은 것을 다시 쓸 수 없다.",
    "서버 장애가 나면 먼저 상태 페이지를 확인한다.",
)
JAPANESE = (
    "有給休暇は入社日を基準に毎年十五日付与されます。",
    "障害が発生したら、まず担当者に連絡してください。",
    "パスワードは九十日ごとに変更する必要があります。",
    "経費の申請は翌月の五日までに済ませること。",
)
WESTERN = (
    "Le café est fermé à cause des grèves d’été.",
    "Die Prüfung beginnt um acht Uhr in der Straße.",
    "Señor, ¿dónde está la biblioteca?",
    "It’s a “quoted” phrase — really.",
)
DATA = Path(os.environ.get("FOOTNOTE_EVAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
ENCODINGS = DATA / "documents" / "encodings"
CODECS = {
    "CP949": "cp949",
    "EUC-KR": "cp949",
    "Johab": "johab",
    "iso-2022-kr": "iso2022_kr",
    "EUC-JP": "euc_jp",
    "SHIFT_JIS": "cp932",
    "UTF-16": "utf-16",
    "utf-8": "utf-8-sig",
}
WIDE = ("utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le")


@pytest.mark.parametrize("sentence", KOREAN)
@pytest.mark.parametrize("encoding", ["cp949", "euc_kr", "johab", "iso2022_kr", *WIDE])
def test_korean_sentences_are_decoded_from_each_encoding(sentence, encoding):
    assert decode(sentence.encode(encoding)).text == sentence


@pytest.mark.parametrize("sentence", JAPANESE)
@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "iso2022_jp", *WIDE])
def test_japanese_sentences_are_decoded_from_each_encoding(sentence, encoding):
    assert decode(sentence.encode(encoding)).text == sentence


@pytest.mark.parametrize("sentence", WESTERN)
@pytest.mark.parametrize("encoding", ["cp1252", *WIDE])
def test_western_sentences_are_decoded_from_each_encoding(sentence, encoding):
    assert decode(sentence.encode(encoding)).text == sentence


@pytest.mark.parametrize(
    ("sentence", "encoding"),
    [
        ("Отпуск сотрудников составляет пятнадцать дней.", "cp1251"),
        ("Отпуск сотрудников составляет пятнадцать дней.", "koi8_r"),
        ("员工每年享有十五天的带薪休假。", "gb18030"),
        ("員工每年享有十五天的有薪休假。", "big5"),
        ("Zażółć gęślą jaźń, proszę państwa.", "cp1250"),
    ],
)
def test_encodings_of_other_scripts_are_detected(sentence, encoding):
    assert decode(sentence.encode(encoding)).text == sentence


@settings(deadline=None)
@given(st.lists(st.sampled_from([*KOREAN, "Footnote 2.0", "---", "\n"]), min_size=1, max_size=30))
def test_any_mixture_of_korean_and_ascii_lines_is_decoded_from_cp949(lines):
    text = "\n".join(lines)
    assert decode(text.encode("cp949")).text == text


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([*JAPANESE, "Footnote 2.0", "---", "\n"]), min_size=1, max_size=30),
    st.sampled_from(["cp932", "euc_jp"]),
)
def test_any_mixture_of_japanese_and_ascii_lines_is_decoded(lines, encoding):
    text = "\n".join(lines)
    assert decode(text.encode(encoding)).text == text


@given(st.binary(max_size=300))
@settings(deadline=None, max_examples=examples(300))
def test_arbitrary_bytes_are_decoded_or_rejected(data):
    with contextlib.suppress(UnreadableError):
        assert len(decode(data).text) <= len(data)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_valid_utf8_is_never_mistaken_for_another_encoding(text):
    if "\0" not in text and not text.startswith("\ufeff") and text.isprintable():
        assert decode(text.encode()).text == text


def test_only_a_guessed_encoding_has_a_warning():
    assert decode(KOREAN[0].encode("cp949")).warnings == ()
    assert decode(JAPANESE[0].encode("cp932")).warnings == ()
    assert "a guess (cp1252)" in decode(WESTERN[0].encode("cp1252")).warnings[0]


def test_a_declared_encoding_decides_between_equally_likely_ones():
    data = "õriz ûrlap".encode("cp1252")
    assert decode(data, declared="cp1252").text == "õriz ûrlap"
    assert decode(data, declared="cp1250").text == "őriz űrlap"
    assert decode("õ û".encode("cp1252"), declared="cp1250").text == "ő ű"


def test_a_wrong_declared_encoding_is_ignored():
    data = "\n".join(KOREAN)
    assert decode(data.encode("cp949"), declared="cp1252").text == data
    assert decode(data.encode("utf-8"), declared="cp949").text == data


@pytest.mark.parametrize(
    ("head", "codec"),
    [
        (b'<meta http-equiv="Content-Type" content="text/html; charset=EUC-KR">', "cp949"),
        (b"<META CHARSET='shift_jis'>", "cp932"),
        (b'<?xml version="1.0" encoding="euc-jp"?>', "euc_jp"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=iso-8859-1>", "cp1252"),
        (b"<meta charset=klingon>", None),
        (b"<meta charset=base64>", None),
        (b"<p>charset=euc-kr</p>", None),
    ],
)
def test_declared_encodings_are_interpreted_as_in_browsers(head, codec):
    assert declared_encoding(b"<html>" + head) == codec


def test_invalid_bytes_are_replaced_with_a_warning():
    data = "\n".join(KOREAN).encode("cp949")
    decoded = decode(data[:200] + b"\xff" + data[200:])
    assert KOREAN[0] in decoded.text
    assert "invalid bytes" in decoded.warnings[0]
    utf8 = decode("\n".join(JAPANESE * 3).encode()[:-1])
    assert utf8.encoding == "utf-8"
    assert JAPANESE[0] in utf8.text


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 20,
        b"\x89PNG\r\n\x1a\n" + os.urandom(4000),
        b"\0" * 500,
        os.urandom(5000),
    ],
)
def test_binary_data_is_rejected(data):
    with pytest.raises(UnreadableError, match="not text"):
        decode(data)


def test_a_byte_order_mark_sets_the_encoding_and_is_removed():
    decoded = decode(codecs.BOM_UTF16_BE + KOREAN[0].encode("utf-16-be"))
    assert (decoded.text, decoded.encoding) == (KOREAN[0], "utf-16-be")
    assert decode(codecs.BOM_UTF8 + b"plain").text == "plain"


def test_characters_outside_the_basic_codec_are_decoded():
    text = "①有給休暇は㈱の規程による。" + JAPANESE[0]
    assert decode(text.encode("euc_jis_2004")).text == text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x1b$B-!M-5k5Y2K\x1b(B", "①有給休暇"),
        (b"\x1b$B-j;3ED\x1b(B Co.\n\x1b$@|b66\x1b(B", "㈱山田 Co.\n髙橋"),
        (b"\x1b$BH>3Q\x1b(I6E\x1b(B", "半角ｶﾅ"),
        (b"\x1b(I6E\x1b(B", "ｶﾅ"),
        (b"\x1b(I6E\x1b$B-!\x1b(B", "ｶﾅ①"),
    ],
)
def test_iso_2022_jp_with_the_characters_of_windows_is_decoded(data, text):
    decoded = decode(data)
    assert (decoded.text, decoded.warnings) == (text, ())
    "".encode(decoded.encoding)


def test_damaged_iso_2022_jp_is_decoded_with_a_warning():
    decoded = decode(b"\x1b$B-!M-5k5Y2K\x1b(B\n\x1b$B-\x1b(B")
    assert decoded.text == "①有給休暇\n\ufffd"
    assert decoded.warnings == ("1 invalid bytes or characters are shown as �",)


def test_long_japanese_text_with_damage_is_decoded_with_a_warning():
    japanese = "\n".join(JAPANESE).encode("iso2022_jp")
    decoded = decode(japanese + b"\n\x1b$B-!M\x1b(B and \x1b$BM-5\x1b(B\n" + japanese)
    assert decoded.text == "\n".join([*JAPANESE, "①\ufffd and 有\ufffd", *JAPANESE])
    assert decoded.warnings == ("2 invalid bytes or characters are shown as �",)


@pytest.mark.parametrize("escape", ["\x1b$B", "\x1b$@"])
@pytest.mark.parametrize(
    "end",
    [
        "",
        "\nThe terminal then shows two bytes as one character.",
        " and \x1b(B to return.\n" + "The terminal shows this line as it is.\n" * 500,
    ],
)
def test_ascii_text_with_a_stray_escape_sequence_is_kept_with_a_warning(escape, end):
    text = f"the code sends {escape} to switch{end}"
    decoded = decode(text.encode())
    assert decoded.text == text
    assert "a guess (utf-8)" in decoded.warnings[0]


@pytest.mark.parametrize(
    "data",
    [b"\x1b$)A\x0e=;Lh\x0f", b"\x1b$)C\x0e0!\x1b$B", "\x1b$)A 휴가".encode(), b"\x1b$(Q-!\x1b(B"],
)
@pytest.mark.parametrize("declared", [None, "utf-8", "cp1252"])
def test_escape_sequences_of_unknown_character_sets_have_a_warning(data, declared):
    assert decode(data, declared=declared).warnings


def test_fifty_megabytes_are_decoded_in_seconds():
    data = ("plain English first\n" * 1_300_000 + KOREAN[0] * 300_000).encode("cp949")
    started = time.process_time()
    assert decode(data).encoding == "cp949"
    assert len(data) > 4e7
    assert time.process_time() - started < 15


@pytest.mark.skipif(not ENCODINGS.is_dir(), reason="the data set documents/encodings is absent")
@pytest.mark.parametrize("declares", [True, False])
def test_files_of_the_encodings_data_set_are_decoded_as_their_names_say(declares):
    wrong = []
    for path in sorted(ENCODINGS.iterdir()):
        data = path.read_bytes()
        codec = CODECS[path.name.split("__")[1].strip("_")]
        declared = declared_encoding(data) if declares else None
        if decode(data, declared=declared).text != data.decode(codec):
            wrong.append(path.name)
    assert wrong == []
