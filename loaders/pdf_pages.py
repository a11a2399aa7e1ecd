"""A page of a PDF as a picture; of an imported one, from the very bytes that were imported."""

import hashlib
import io
import math
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from errors import UnreadableError

if TYPE_CHECKING:
    from PIL.Image import Image

SCALE = 1.5  # pixels for each point of 1/72 inch
MAX_PIXELS = 4_000_000
_TOO_LARGE = 512 * 2**20
_rendering = threading.Lock()  # PDFium is not safe for threads


def original_bytes(path: Path, version: str) -> bytes:
    """The bytes of the file, where they are still those that were imported.

    Raises:
        UnreadableError: The file is gone, can't be read, or its SHA-256 is not `version`.
    """
    try:
        if not path.is_file() or path.stat().st_size > _TOO_LARGE:
            raise UnreadableError(f"The original file {path.name} is not there any more.")
        data = path.read_bytes()
    except OSError as error:
        raise UnreadableError(
            f"The original file {path.name} can't be opened ({error.strerror})."
        ) from error
    if hashlib.sha256(data).hexdigest() != version:
        raise UnreadableError(
            f"The original file {path.name} has changed since it was imported: import it again to"
            " see its pages."
        )
    return data


def page_png(data: bytes, page: int) -> bytes:
    """That page of a PDF, counted from 1, as PNG of at most `MAX_PIXELS` pixels.

    Raises:
        UnreadableError: The PDF has no such page, or can't be drawn.
    """
    written = io.BytesIO()
    page_picture(data, page, SCALE, MAX_PIXELS).save(written, "PNG")
    return written.getvalue()


def page_picture(data: bytes, page: int, scale: float, max_pixels: int) -> "Image":
    """That page of a PDF, counted from 1, in `scale` pixels a point, or fewer to be within bounds.

    Raises:
        UnreadableError: The PDF has no such page, or can't be drawn.
    """
    import pypdfium2  # type: ignore[import-untyped]  # slow, and only pictures need it

    with _rendering:
        try:
            with pypdfium2.PdfDocument(data) as document:
                if not 1 <= page <= len(document):
                    raise UnreadableError(f"The PDF has {len(document)} pages, but no page {page}.")
                return _drawn(document[page - 1], scale, max_pixels)
        except pypdfium2.PdfiumError as error:
            raise UnreadableError(f"Page {page} of the PDF can't be drawn ({error}).") from error


def _drawn(page: Any, scale: float, max_pixels: int) -> "Image":
    width, height = page.get_size()
    bounded = min(scale, math.sqrt(max_pixels / max(width * height, 1)))
    drawn: Image = page.render(scale=bounded).to_pil().copy()  # no memory of PDFium's
    return drawn
