"""Pictures of text: scans, photographs of pages, screenshots."""

import io
import math
from typing import TYPE_CHECKING

from errors import NothingToReadError, UnreadableError
from loaders.formats.content import Content, join_pages
from loaders.formats.ocr import MAX_PIXELS, recognise

if TYPE_CHECKING:
    from PIL.Image import Image

_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
_SMALL = 1600  # pixels; the longer side of what is not a scan of a page, but of a screen
_SPEAKS_OF_PAGES = "TIFF"  # the frames of other formats move


def read(data: bytes) -> Content:
    """Read the text in a picture, or in each of a multi-page TIFF.

    Raises:
        UnreadableError: It is damaged, of more pixels than are safe to unpack;
            NothingToReadError where it shows no text.
        UnreadableNowError: Text in pictures can't be read here yet.
    """
    from PIL import Image, UnidentifiedImageError  # slow to import

    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as opened:
            return _content(opened)
    except Image.DecompressionBombError as error:
        raise UnreadableError(_too_large()) from error
    except UnidentifiedImageError:
        # Without its cause, an OSError: what the system refuses is tried again, this is for good.
        raise UnreadableError("damaged, or not really a picture: get a whole copy") from None


def _content(opened: "Image") -> Content:
    count = getattr(opened, "n_frames", 1) if opened.format == _SPEAKS_OF_PAGES else 1
    recognised = recognise(range(1, count + 1), lambda page: _frame(opened, page))
    if not recognised.texts:
        if not recognised.warnings:
            raise NothingToReadError("0 characters: no text was recognised in the picture")
        raise UnreadableError(f"0 characters: {'; '.join(recognised.warnings)}")
    text, starts = join_pages([recognised.texts.get(page, "") for page in range(1, count + 1)])
    return Content(text, pages=starts if count > 1 else (), warnings=recognised.warnings)


def _frame(opened: "Image", page: int) -> "Image":
    """One picture upright, grey on white, large enough to be read."""
    from PIL import Image, ImageOps

    try:
        opened.seek(page - 1)
        if opened.width * opened.height > (Image.MAX_IMAGE_PIXELS or 0):
            raise UnreadableError(_too_large())
        upright = ImageOps.exif_transpose(opened)
    except (OSError, EOFError, SyntaxError, ValueError) as error:
        raise UnreadableError(f"the picture is damaged or cut off ({error})") from None
    return _scaled(_on_white(upright))


def _scaled(grey: "Image") -> "Image":
    from PIL import Image

    if max(grey.size) < _SMALL:
        return grey.resize((2 * grey.width, 2 * grey.height), Image.Resampling.LANCZOS)
    sides = math.sqrt(grey.width * grey.height / MAX_PIXELS)
    return grey.reduce(math.ceil(sides)) if sides > 1 else grey


def _on_white(picture: "Image") -> "Image":
    from PIL import Image

    if picture.mode.startswith("I"):  # 16 bits
        return picture.convert("I").point(lambda value: value / 256).convert("L")
    if not picture.has_transparency_data:
        return picture.convert("L")
    solid = picture.convert("RGBA")
    white = Image.new("L", solid.size, "white")
    white.paste(solid.convert("L"), mask=solid.getchannel("A"))
    return white


def _too_large() -> str:
    from PIL import Image

    millions = (Image.MAX_IMAGE_PIXELS or 0) // 1_000_000
    return f"more than {millions} million pixels are not safe to unpack: make the picture smaller"
