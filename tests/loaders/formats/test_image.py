import struct
import zlib

import pytest
from PIL import Image

from errors import NothingToReadError, TemporarilyUnreadableError, UnreadableError
from loaders.formats import SUFFIXES, read_document
from tests.loaders.formats.pictures import SENTENCES, saved, scan, why_not

LINES = SENTENCES["en"]
KINDS = {
    "png": "PNG",
    "jpg": "JPEG",
    "jpeg": "JPEG",
    "tif": "TIFF",
    "tiff": "TIFF",
    "webp": "WEBP",
    "bmp": "BMP",
    "gif": "GIF",
}
needs_tesseract = pytest.mark.skipif(bool(why_not()), reason=why_not())


def text_of(data: bytes, name: str = "a.png") -> str:
    return read_document(name, data).page_content


def small(lines=LINES[:2]) -> Image.Image:
    return scan(lines, width=1800, height=300)


def png_of_size(width: int, height: int) -> bytes:
    """A PNG of so many white points: some kilobytes, however large it unpacks."""

    def part(kind, data):
        length, check = struct.pack(">I", len(data)), struct.pack(">I", zlib.crc32(kind + data))
        return length + kind + data + check

    row = b"\0" + b"\xff" * ((width + 7) // 8)
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    points = zlib.compress(row * min(height, 10))
    start = b"\x89PNG\r\n\x1a\n"
    return start + part(b"IHDR", header) + part(b"IDAT", points) + part(b"IEND", b"")


@needs_tesseract
@pytest.mark.parametrize("suffix", KINDS)
def test_each_kind_of_picture_gives_its_text(suffix):
    assert f".{suffix}" in SUFFIXES
    document = read_document(f"Leave.{suffix}", saved(small(), KINDS[suffix]))
    assert document.page_content == "\n\n".join(LINES[:2])
    assert document.metadata == {
        "title": "Leave",
        "format": {"jpeg": "jpg", "tiff": "tif"}.get(suffix, suffix),
        "encoding": None,
        "pages": [],
        "warnings": ["the text was recognized in a picture (OCR) and may contain mistakes"],
    }


@needs_tesseract
def test_each_page_of_a_tiff_has_its_number():
    pages = [small([LINES[0]]), small([]), small([LINES[2]])]
    data = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    document = read_document("a.tif", data)
    (first, one), (start, three) = document.metadata["pages"]
    assert (first, one, three) == (0, 1, 3)
    assert document.page_content[start:] == LINES[2]
    assert document.metadata["warnings"][0].startswith("the text of page 1, 3 was recognized")


@needs_tesseract
def test_pictures_that_move_are_read_as_they_begin():
    data = saved(small([LINES[0]]), "GIF", save_all=True, append_images=[small([LINES[1]])])
    assert text_of(data, "a.gif") == LINES[0]


@needs_tesseract
def test_a_photograph_is_turned_as_its_camera_says():
    sideways = small().transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    assert text_of(saved(sideways, "JPEG", exif=exif), "a.jpg") == "\n\n".join(LINES[:2])


@needs_tesseract
def test_letters_on_nothing_are_read():
    letters = Image.new("RGBA", small().size, (0, 0, 0, 0))
    letters.putalpha(Image.eval(small(), lambda value: 255 - value))
    assert text_of(saved(letters)) == "\n\n".join(LINES[:2])


@needs_tesseract
@pytest.mark.parametrize(
    "changed",
    [
        lambda page: page.convert("1"),
        lambda page: page.convert("P"),
        lambda page: page.convert("RGB"),
        lambda page: page.convert("I;16").point(lambda value: value * 256),
        lambda page: Image.eval(page, lambda value: 255 - value),
    ],
    ids=["black and white", "palette", "colours", "16 bits", "white on black"],
)
def test_the_depth_of_its_colours_does_not_matter(changed):
    assert text_of(saved(changed(small()))) == "\n\n".join(LINES[:2])


@needs_tesseract
def test_the_small_letters_of_a_screen_are_read():
    text = text_of(saved(scan(LINES, size=16, width=900, height=300)))
    assert text.replace("\n\n", "\n") == "\n".join(LINES)


@needs_tesseract
def test_a_picture_larger_than_needed_is_read_smaller(monkeypatch):
    sizes = []
    from loaders.formats import ocr

    told = ocr._scaled
    monkeypatch.setattr(ocr, "_scaled", lambda grey: sizes.append(told(grey)) or sizes[-1])
    large = scan(LINES[:2], size=100, width=6200, height=4000)
    assert text_of(saved(large)) == "\n\n".join(LINES[:2])
    assert sizes[0].size == (3100, 2000)


@needs_tesseract
@pytest.mark.parametrize(("width", "height"), [(40_000, 40_000), (10_000, 10_000)])
def test_more_points_than_are_safe_are_refused(width, height):
    with pytest.raises(UnreadableError, match="89 million pixels, too many to decode safely"):
        text_of(png_of_size(width, height))


@needs_tesseract
def test_a_large_page_of_a_tiff_costs_that_page_only(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1800 * 300)
    pages = [small([LINES[0]]), scan([LINES[1]], width=1800, height=500)]
    data = saved(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    document = read_document("a.tif", data)
    assert document.page_content == LINES[0]
    assert document.metadata["warnings"][1].startswith(
        "page 2 could not be recognized: the picture has more than"
    )


@needs_tesseract
def test_a_picture_without_text_says_so():
    with pytest.raises(NothingToReadError, match="no text was recognized") as caught:
        text_of(saved(Image.new("RGB", (800, 600), "navy")))
    assert not caught.value.retryable


@needs_tesseract
def test_a_cut_off_or_false_picture_is_named():
    whole = saved(small())
    with pytest.raises(UnreadableError, match="the picture is damaged or incomplete"):
        text_of(whole[: len(whole) // 2])
    with pytest.raises(UnreadableError, match="damaged, or not a picture"):
        text_of(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")


def test_without_tesseract_a_picture_names_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnreadableError, match="apt-get install tesseract-ocr "):
        text_of(saved(Image.new("L", (9, 9))))


def test_what_recognises_may_go_between_listing_and_reading(monkeypatch):
    from loaders.formats import ocr

    monkeypatch.setattr("loaders.formats.ocr.is_installed", lambda name: False)
    with pytest.raises(TemporarilyUnreadableError, match="apt-get install tesseract-ocr "):
        ocr.read_picture(saved(Image.new("L", (9, 9))))
