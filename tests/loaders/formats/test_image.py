import struct
import zlib

import pytest
from PIL import Image

from domain.errors import NothingToReadError, TemporarilyUnreadableError, UnreadableError
from loaders.formats import SUFFIXES, read_document
from tests.loaders.formats.pictures import SENTENCES, image_file, missing_requirement, scan

pytestmark = pytest.mark.slow

LINES = SENTENCES["en"]
IMAGE_FORMATS = {
    "png": "PNG",
    "jpg": "JPEG",
    "jpeg": "JPEG",
    "tif": "TIFF",
    "tiff": "TIFF",
    "webp": "WEBP",
    "bmp": "BMP",
    "gif": "GIF",
}
requires_tesseract = pytest.mark.skipif(bool(missing_requirement()), reason=missing_requirement())


def text_of(data: bytes, name: str = "a.png") -> str:
    return read_document(name, data).page_content


def small(lines=LINES[:2]) -> Image.Image:
    return scan(lines, width=1800, height=300)


def png_of_size(width: int, height: int) -> bytes:
    """A white PNG that declares this size but contains at most ten rows."""

    def part(kind, data):
        length, check = struct.pack(">I", len(data)), struct.pack(">I", zlib.crc32(kind + data))
        return length + kind + data + check

    row = b"\0" + b"\xff" * ((width + 7) // 8)
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    points = zlib.compress(row * min(height, 10))
    start = b"\x89PNG\r\n\x1a\n"
    return start + part(b"IHDR", header) + part(b"IDAT", points) + part(b"IEND", b"")


@requires_tesseract
@pytest.mark.parametrize("suffix", IMAGE_FORMATS)
def test_text_is_recognized_in_every_image_format(suffix):
    assert f".{suffix}" in SUFFIXES
    document = read_document(f"Leave.{suffix}", image_file(small(), IMAGE_FORMATS[suffix]))
    assert document.page_content == "\n\n".join(LINES[:2])
    assert document.metadata == {
        "title": "Leave",
        "format": {"jpeg": "jpg", "tiff": "tif"}.get(suffix, suffix),
        "encoding": None,
        "pages": [],
        "warnings": ["the text was recognized in a picture (OCR) and may contain mistakes"],
    }


@requires_tesseract
def test_pages_of_tiff_files_are_numbered():
    pages = [small([LINES[0]]), small([]), small([LINES[2]])]
    data = image_file(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    document = read_document("a.tif", data)
    (first, one), (start, three) = document.metadata["pages"]
    assert (first, one, three) == (0, 1, 3)
    assert document.page_content[start:] == LINES[2]
    assert document.metadata["warnings"][0].startswith("the text of page 1, 3 was recognized")


@requires_tesseract
def test_only_the_first_frame_of_an_animation_is_read():
    data = image_file(small([LINES[0]]), "GIF", save_all=True, append_images=[small([LINES[1]])])
    assert text_of(data, "a.gif") == LINES[0]


@requires_tesseract
def test_photos_are_rotated_according_to_their_exif_orientation():
    sideways = small().transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90 degrees clockwise
    assert text_of(image_file(sideways, "JPEG", exif=exif), "a.jpg") == "\n\n".join(LINES[:2])


@requires_tesseract
def test_text_on_a_transparent_background_is_recognized():
    letters = Image.new("RGBA", small().size, (0, 0, 0, 0))
    letters.putalpha(Image.eval(small(), lambda value: 255 - value))
    assert text_of(image_file(letters)) == "\n\n".join(LINES[:2])


@requires_tesseract
@pytest.mark.parametrize(
    "convert",
    [
        lambda page: page.convert("1"),
        lambda page: page.convert("P"),
        lambda page: page.convert("RGB"),
        lambda page: page.convert("I;16").point(lambda value: value * 256),
        lambda page: Image.eval(page, lambda value: 255 - value),
    ],
    ids=["black and white", "palette", "colors", "16 bits", "white on black"],
)
def test_text_is_recognized_in_every_color_mode(convert):
    assert text_of(image_file(convert(small()))) == "\n\n".join(LINES[:2])


@requires_tesseract
def test_small_text_in_screenshots_is_recognized():
    text = text_of(image_file(scan(LINES, size=16, width=900, height=300)))
    assert text.replace("\n\n", "\n") == "\n".join(LINES)


@requires_tesseract
def test_large_images_are_scaled_down(monkeypatch):
    sizes = []
    from loaders.formats import ocr

    original_scale = ocr._scale
    monkeypatch.setattr(
        ocr, "_scale", lambda image: sizes.append(original_scale(image)) or sizes[-1]
    )
    large = scan(LINES[:2], size=100, width=6200, height=4000)
    assert text_of(image_file(large)) == "\n\n".join(LINES[:2])
    assert sizes[0].size == (3100, 2000)


@requires_tesseract
@pytest.mark.parametrize(("width", "height"), [(40_000, 40_000), (10_000, 10_000)])
def test_images_with_too_many_pixels_are_rejected(width, height):
    with pytest.raises(UnreadableError, match="89 million pixels, too many to decode safely"):
        text_of(png_of_size(width, height))


@requires_tesseract
def test_only_oversized_pages_of_a_tiff_file_are_skipped(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1800 * 300)
    pages = [small([LINES[0]]), scan([LINES[1]], width=1800, height=500)]
    data = image_file(pages[0], "TIFF", save_all=True, append_images=pages[1:])
    document = read_document("a.tif", data)
    assert document.page_content == LINES[0]
    assert document.metadata["warnings"][1].startswith(
        "no text was recognized on page 2: the picture has more than"
    )


@requires_tesseract
def test_images_without_text_are_rejected():
    with pytest.raises(NothingToReadError, match="no text was recognized") as caught:
        text_of(image_file(Image.new("RGB", (800, 600), "navy")))
    assert not caught.value.retryable


@requires_tesseract
def test_truncated_images_and_other_files_are_rejected():
    whole = image_file(small())
    with pytest.raises(UnreadableError, match="the picture is damaged or incomplete"):
        text_of(whole[: len(whole) // 2])
    with pytest.raises(UnreadableError, match="damaged, or not a picture"):
        text_of(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")


def test_without_tesseract_the_error_names_the_package_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnreadableError, match="apt-get install tesseract-ocr "):
        text_of(image_file(Image.new("L", (9, 9))))


def test_uninstalling_tesseract_after_the_listing_raises_a_retryable_error(monkeypatch):
    from loaders.formats import ocr

    monkeypatch.setattr("loaders.formats.ocr.is_installed", lambda name: False)
    with pytest.raises(TemporarilyUnreadableError, match="apt-get install tesseract-ocr "):
        ocr.read_picture(image_file(Image.new("L", (9, 9))))
