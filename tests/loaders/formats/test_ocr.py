import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errors import TemporarilyUnreadableError, UnreadableError
from loaders.directory_loader import DirectoryLoader
from loaders.formats import ocr, read_document, unsupported
from loaders.formats.ocr import recognize, tidy
from tests.loaders.formats.files import pdf_file
from tests.loaders.formats.pictures import SENTENCES, error_rate, saved, scan, why_not, worn

needs_tesseract = pytest.mark.skipif(bool(why_not()), reason=why_not())
GUESSED = "was recognized in a picture (OCR) and may contain mistakes"


@pytest.fixture(autouse=True)
def _languages():
    ocr.configure("eng+kor+jpn")
    yield
    ocr.configure("eng+kor+jpn")


@pytest.fixture
def without_programs(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))


def worn_scan(lines, language, **options):
    return worn(scan(lines, language, **options))


def scanned(*pictures) -> bytes:
    """A PDF without text, of one picture a page."""
    return saved(pictures[0], "PDF", resolution=300, save_all=True, append_images=pictures[1:])


def mixed(text, picture) -> bytes:
    """A PDF of a page of text and a scanned one."""
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out)
    canvas.drawString(60, 700, text)
    canvas.showPage()
    canvas.drawImage(ImageReader(picture), 0, 500, 595, 288)
    canvas.save()
    return out.getvalue()


@needs_tesseract
@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ko", "ja"])
@pytest.mark.parametrize(("copied", "at_most"), [(scan, 0.01), (worn_scan, 0.03)])
def test_few_letters_of_a_scan_are_wrong(language, copied, at_most):
    rates = []
    wanted = "\n".join(SENTENCES[language])
    for font in ("NotoSansCJK-Regular.ttc", "NotoSerifCJK-Regular.ttc"):
        for size in (33, 44):
            page = copied(SENTENCES[language], language, font=font, size=size)
            found = recognize([1], lambda _, page=page: page).texts[1]
            rates.append(error_rate(wanted, found.replace("\n\n", "\n")))
    mean = sum(rates) / len(rates)
    print(f"\ncharacters wrong in a {copied.__name__}, {language}: {mean:.2%}")  # noqa: T201
    assert mean <= at_most


@needs_tesseract
def test_pages_of_a_scanned_pdf_keep_their_numbers():
    english, korean = scan(SENTENCES["en"]), scan(SENTENCES["ko"], "ko")
    blank = scan([])
    document = read_document("scan.pdf", scanned(english, blank, korean))
    (_, first), (start, third) = document.metadata["pages"]
    assert (first, third) == (1, 3)
    assert document.page_content.startswith(SENTENCES["en"][0])
    assert document.page_content[start:].startswith(SENTENCES["ko"][0])
    assert document.metadata["format"] == "pdf"
    assert document.metadata["warnings"] == [
        "no text on page 2 of 3: blank, or no text was recognized",
        f"the text of page 1, 3 {GUESSED}",
    ]


@needs_tesseract
def test_a_pdf_keeps_the_text_it_has_and_only_its_scanned_pages_are_recognised(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "loaders.formats.pdf.page_picture",
        lambda data, page, *rest: asked.append(page) or scan(SENTENCES["ja"], "ja"),
    )
    document = read_document("a.pdf", mixed("lll1O0 is kept as it is", scan(SENTENCES["ja"], "ja")))
    assert asked == [2]
    assert document.page_content.startswith("lll1O0 is kept as it is\n\n有給休暇は毎年十五日付与")
    assert document.metadata["warnings"] == [f"the text of page 2 {GUESSED}"]


@needs_tesseract
def test_a_scan_within_a_pdf_is_read_as_it_is_drawn():
    text = read_document("a.pdf", mixed("First.", scan(SENTENCES["en"]))).page_content
    assert SENTENCES["en"][1] in text


@needs_tesseract
def test_a_scan_of_nothing_says_that_nothing_was_found():
    with pytest.raises(UnreadableError, match="0 characters: no text was recognized") as caught:
        read_document("a.pdf", pdf_file(["", ""]))
    assert not caught.value.retryable


def test_without_tesseract_a_scan_names_what_to_install_and_is_tried_again(without_programs):
    with pytest.raises(
        TemporarilyUnreadableError, match="apt-get install tesseract-ocr "
    ) as caught:
        read_document("a.pdf", pdf_file(["", ""]))
    assert str(caught.value).startswith(
        "0 characters: probably a scan; reading text in pictures requires Tesseract"
    )
    assert caught.value.retryable


def test_without_tesseract_pictures_are_named_as_left_out_and_no_error(without_programs, tmp_path):
    (tmp_path / "logo.png").write_bytes(b"x")
    (tmp_path / "a.txt").write_text("text")
    listed = {entry.key: entry for entry in DirectoryLoader(tmp_path).list()}
    assert "apt-get install tesseract-ocr " in listed["logo.png"].reason
    assert not listed["logo.png"].is_error
    assert unsupported("a.pdf") is None


def test_a_setting_leaves_pictures_unread(build_services):
    build_services(ocr_languages="none")
    assert "FOOTNOTE_OCR_LANGUAGES" in (unsupported("a.png") or "")
    with pytest.raises(TemporarilyUnreadableError, match="turned off: set FOOTNOTE_OCR_LANGUAGES"):
        read_document("a.pdf", pdf_file([""]))
    build_services(ocr_languages="eng")
    assert "FOOTNOTE_OCR_LANGUAGES" not in (unsupported("a.png") or "")


@needs_tesseract
def test_a_language_without_data_is_named_and_the_others_are_read():
    ocr.configure("eng+xyz_vert")
    found = recognize([7], lambda _: scan(SENTENCES["en"][:1]))
    assert found.texts == {7: SENTENCES["en"][0]}
    assert found.warnings[0] == f"the text of page 7 {GUESSED}"
    assert "no data for xyz_vert" in found.warnings[1]
    assert "apt-get install tesseract-ocr-xyz-vert" in found.warnings[1]


@needs_tesseract
def test_without_data_of_any_language_nothing_can_be_read_yet():
    ocr.configure("xyz")
    with pytest.raises(TemporarilyUnreadableError, match="no data for xyz: install"):
        recognize([1], lambda _: scan([]))


@needs_tesseract
def test_a_page_that_takes_too_long_is_named(monkeypatch):
    monkeypatch.setattr(ocr, "_PAGE_S", 0.01)
    found = recognize([1, 2, 5], lambda page: scan(SENTENCES["en"] if page != 2 else []))
    assert found.texts == {}
    assert found.warnings == (
        "page 1, 5 could not be recognized: Tesseract took longer than 0.01 s",
    )


@needs_tesseract
def test_pages_beyond_the_limit_are_named(monkeypatch):
    monkeypatch.setattr(ocr, "MAX_PAGES", 1)
    found = recognize([1, 2, 3], lambda _: scan(SENTENCES["en"][:1]))
    assert list(found.texts) == [1]
    assert found.warnings[1].startswith("page 2-3 could not be recognized: the file has too many")


@needs_tesseract
def test_a_file_has_half_an_hour(monkeypatch):
    monkeypatch.setattr(ocr, "_FILE_S", 0.0)
    found = recognize([1, 2], lambda _: scan(SENTENCES["en"][:1]))
    assert found.warnings[-1].startswith("page 1-2 could not be recognized")


@pytest.mark.parametrize(
    ("written", "tidied"),
    [
        ("有給 休暇 は 毎年 十 五 日", "有給休暇は毎年十五日"),
        ("パス ワー ド は 90 日 ご と", "パスワードは 90 日ごと"),
        ("연차 휴가는  매년", "연차 휴가는 매년"),
        ("two  words \n\n \n\x0cnext", "two words\n\nnext"),
    ],
)
def test_japanese_is_joined_and_other_words_stay_apart(written, tidied):
    assert tidy(written) == tidied


@given(st.text(alphabet="有は。ー연차ab1 \u3000\n\t", max_size=60))
def test_tidying_changes_white_space_alone_and_is_done_once(text):
    tidied = tidy(text)
    assert "".join(tidied.split()) == "".join(text.split())
    assert tidy(tidied) == tidied
