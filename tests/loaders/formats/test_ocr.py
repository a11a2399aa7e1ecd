import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.errors import TemporarilyUnreadableError, UnreadableError
from loaders.directory_loader import DirectoryLoader
from loaders.document_reader import Limits, ReaderProcess
from loaders.formats import ocr, read_document, unsupported
from loaders.formats.ocr import recognize, tidy
from tests.loaders.formats.files import pdf_file
from tests.loaders.formats.pictures import (
    SENTENCES,
    error_rate,
    image_file,
    missing_requirement,
    photocopy,
    scan,
)

requires_tesseract = pytest.mark.skipif(bool(missing_requirement()), reason=missing_requirement())
OCR_WARNING = "was recognized in a picture (OCR) and may contain mistakes"


@pytest.fixture(autouse=True)
def _languages():
    ocr.configure("eng+kor+jpn")
    yield
    ocr.configure("eng+kor+jpn")


@pytest.fixture
def without_programs(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


def photocopied_scan(lines, language, **options):
    return photocopy(scan(lines, language, **options))


def scanned_pdf(*pictures) -> bytes:
    """A PDF without text, with one image per page."""
    return image_file(pictures[0], "PDF", resolution=300, save_all=True, append_images=pictures[1:])


def mixed_pdf(text, picture) -> bytes:
    """A PDF with a page of text and a scanned page."""
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out)
    canvas.drawString(60, 700, text)
    canvas.showPage()
    canvas.drawImage(ImageReader(picture), 0, 500, 595, 288)
    canvas.save()
    return out.getvalue()


@requires_tesseract
@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ko", "ja"])
@pytest.mark.parametrize(("make_page", "max_error_rate"), [(scan, 0.01), (photocopied_scan, 0.03)])
def test_the_character_error_rate_of_scans_is_low(language, make_page, max_error_rate):
    rates = []
    expected = "\n".join(SENTENCES[language])
    for font in ("NotoSansCJK-Regular.ttc", "NotoSerifCJK-Regular.ttc"):
        for size in (33, 44):
            page = make_page(SENTENCES[language], language, font=font, size=size)
            text = recognize([1], lambda _, page=page: page).texts[1]
            rates.append(error_rate(expected, text.replace("\n\n", "\n")))
    mean = sum(rates) / len(rates)
    print(f"\ncharacter error rate of a {make_page.__name__}, {language}: {mean:.2%}")  # noqa: T201
    assert mean <= max_error_rate


@requires_tesseract
def test_pages_of_a_scanned_pdf_keep_their_numbers():
    english, korean = scan(SENTENCES["en"]), scan(SENTENCES["ko"], "ko")
    blank = scan([])
    document = read_document("scan.pdf", scanned_pdf(english, blank, korean))
    (_, first), (start, third) = document.metadata["pages"]
    assert (first, third) == (1, 3)
    assert document.page_content.startswith(SENTENCES["en"][0])
    assert document.page_content[start:].startswith(SENTENCES["ko"][0])
    assert document.metadata["format"] == "pdf"
    assert document.metadata["warnings"] == [
        "no text on page 2 of 3: blank, or no text was recognized",
        f"the text of page 1, 3 {OCR_WARNING}",
    ]


@requires_tesseract
def test_scans_are_recognized_within_the_limits_of_the_reader_process():
    data = scanned_pdf(*[scan(SENTENCES["en"])] * 3)
    process = ReaderProcess(Limits(processor_s=1, memory_mib=512))
    metadata, text = process.call("read_file", {"name": "scan.pdf"}, data)
    process.end()
    assert text.decode() == read_document("scan.pdf", data).page_content
    assert [number for _, number in metadata["pages"]] == [1, 2, 3]


@requires_tesseract
def test_only_pages_without_text_are_recognized(monkeypatch):
    rendered_pages = []
    monkeypatch.setattr(
        "loaders.formats.pdf.page_picture",
        lambda data, page, *rest: rendered_pages.append(page) or scan(SENTENCES["ja"], "ja"),
    )
    document = read_document(
        "a.pdf", mixed_pdf("lll1O0 is kept as it is", scan(SENTENCES["ja"], "ja"))
    )
    assert rendered_pages == [2]
    assert document.page_content.startswith("lll1O0 is kept as it is\n\n有給休暇は毎年十五日付与")
    assert document.metadata["warnings"] == [f"the text of page 2 {OCR_WARNING}"]


@requires_tesseract
def test_a_scanned_image_in_a_pdf_is_recognized():
    text = read_document("a.pdf", mixed_pdf("First.", scan(SENTENCES["en"]))).page_content
    assert SENTENCES["en"][1] in text


@requires_tesseract
def test_blank_scans_are_rejected_permanently():
    with pytest.raises(UnreadableError, match="0 characters: no text was recognized") as caught:
        read_document("a.pdf", pdf_file(["", ""]))
    assert not caught.value.retryable


def test_without_tesseract_scans_raise_a_retryable_error_with_advice(without_programs):
    with pytest.raises(
        TemporarilyUnreadableError, match="apt-get install tesseract-ocr "
    ) as caught:
        read_document("a.pdf", pdf_file(["", ""]))
    assert str(caught.value).startswith(
        "0 characters: probably a scan; text recognition (OCR) requires Tesseract"
    )
    assert caught.value.retryable


def test_without_tesseract_images_are_skipped_with_a_reason_but_no_error(
    without_programs, tmp_path
):
    (tmp_path / "logo.png").write_bytes(b"x")
    (tmp_path / "a.txt").write_text("text")
    entries = {entry.key: entry for entry in DirectoryLoader(tmp_path).list()}
    assert "apt-get install tesseract-ocr " in entries["logo.png"].reason
    assert not entries["logo.png"].is_error
    assert unsupported("a.pdf") is None


def test_ocr_can_be_turned_off_in_the_settings(build_services):
    build_services(ocr_languages="none")
    assert "FOOTNOTE_OCR_LANGUAGES" in (unsupported("a.png") or "")
    with pytest.raises(TemporarilyUnreadableError, match="turned off: set FOOTNOTE_OCR_LANGUAGES"):
        read_document("a.pdf", pdf_file([""]))
    build_services(ocr_languages="eng")
    assert "FOOTNOTE_OCR_LANGUAGES" not in (unsupported("a.png") or "")


@requires_tesseract
def test_languages_without_data_are_reported_and_the_others_used():
    ocr.configure("eng+xyz_vert")
    result = recognize([7], lambda _: scan(SENTENCES["en"][:1]))
    assert result.texts == {7: SENTENCES["en"][0]}
    assert result.warnings[0] == f"the text of page 7 {OCR_WARNING}"
    assert "no data for xyz_vert" in result.warnings[1]
    assert "apt-get install tesseract-ocr-xyz-vert" in result.warnings[1]


@requires_tesseract
def test_missing_data_for_all_languages_raises_a_retryable_error():
    ocr.configure("xyz")
    with pytest.raises(TemporarilyUnreadableError, match="no data for xyz: install"):
        recognize([1], lambda _: scan([]))


@requires_tesseract
def test_pages_that_take_too_long_are_reported(monkeypatch):
    monkeypatch.setattr(ocr, "_PAGE_S", 0.01)
    result = recognize([1, 2, 5], lambda page: scan(SENTENCES["en"] if page != 2 else []))
    assert result.texts == {}
    assert result.warnings == (
        "no text was recognized on page 1, 5: Tesseract took longer than 0.01 s",
    )


@requires_tesseract
def test_pages_beyond_the_limit_are_reported(monkeypatch):
    monkeypatch.setattr(ocr, "MAX_PAGES", 1)
    result = recognize([1, 2, 3], lambda _: scan(SENTENCES["en"][:1]))
    assert list(result.texts) == [1]
    assert result.warnings[1].startswith(
        "no text was recognized on page 2-3: the file has too many"
    )


@requires_tesseract
def test_the_time_for_each_file_is_limited(monkeypatch):
    monkeypatch.setattr(ocr, "_FILE_S", 0.0)
    result = recognize([1, 2], lambda _: scan(SENTENCES["en"][:1]))
    assert result.warnings[-1].startswith("no text was recognized on page 1-2")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("有給 休暇 は 毎年 十 五 日", "有給休暇は毎年十五日"),
        ("パス ワー ド は 90 日 ご と", "パスワードは 90 日ごと"),
        ("연차 휴가는  매년", "연차 휴가는 매년"),
        ("two  words \n\n \n\x0cnext", "two words\n\nnext"),
    ],
)
def test_spaces_are_removed_between_japanese_characters_only(text, expected):
    assert tidy(text) == expected


@given(st.text(alphabet="有は。ー연차ab1 \u3000\n\t", max_size=60))
def test_tidying_changes_only_white_space_and_is_idempotent(text):
    tidied = tidy(text)
    assert "".join(tidied.split()) == "".join(text.split())
    assert tidy(tidied) == tidied
