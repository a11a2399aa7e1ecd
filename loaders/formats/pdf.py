"""Reads PDF as Markdown, page by page in painting order, and renders its pages as pictures."""

import io
import math
import re
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from domain.errors import TemporarilyUnreadableError, UnreadableError
from domain.messages import _, join_messages
from loaders.formats.archive import ENCRYPTED
from loaders.formats.content import Content, join_pages, ranges
from loaders.formats.ocr import DPI, MAX_PIXELS, RecognizedText, missing, recognize
from loaders.formats.pdf_highlight import highlight, quote_boxes
from loaders.formats.pdf_layout import Layout, Line, LineCollector

if TYPE_CHECKING:
    from PIL.Image import Image


PREVIEW_SCALE = 1.5  # pixels per point of 1/72 inch
PREVIEW_PIXELS = 4_000_000
_rendering = threading.Lock()  # PDFium is not thread-safe


def page_png(data: bytes, page: int, quotes: Sequence[str] = ()) -> bytes:
    """A page of a PDF, numbered from 1, as a PNG of at most `PREVIEW_PIXELS` pixels.

    The quotes that are found on the page are highlighted.

    Raises:
        UnreadableError: The PDF has no such page, or can't be rendered.
    """
    buffer = io.BytesIO()
    page_picture(data, page, PREVIEW_SCALE, PREVIEW_PIXELS, quotes).save(buffer, "PNG")
    return buffer.getvalue()


def page_picture(
    data: bytes, page: int, scale: float, max_pixels: int, quotes: Sequence[str] = ()
) -> "Image":
    """A page of a PDF, numbered from 1, at `scale` pixels per point or less to fit `max_pixels`.

    The quotes that are found on the page are highlighted.

    Raises:
        UnreadableError: The PDF has no such page, or can't be rendered.
    """
    import pypdfium2  # type: ignore[import-untyped]  # slow, and needed only for pictures

    with _rendering:
        try:
            with pypdfium2.PdfDocument(data) as document:
                if not 1 <= page <= len(document):
                    raise UnreadableError(
                        _("The PDF has {document} pages, but no page {page}.").format(
                            document=len(document), page=page
                        )
                    )
                return _draw(document[page - 1], scale, max_pixels, quotes)
        except pypdfium2.PdfiumError as error:
            raise UnreadableError(
                _("Page {page} of the PDF can't be rendered ({error}).").format(
                    page=page, error=error
                )
            ) from error


def _draw(page: Any, scale: float, max_pixels: int, quotes: Sequence[str]) -> "Image":
    width, height = page.get_size()
    bounded = min(scale, math.sqrt(max_pixels / max(width * height, 1)))
    drawn: Image = page.render(scale=bounded).to_pil().copy()  # don't keep PDFium's memory
    boxes = quote_boxes(page, quotes, drawn.size) if quotes else []
    return highlight(drawn, boxes) if boxes else drawn


_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_HYPHENATED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-\n([a-zà-öø-ÿ][^\W\d_]*)")
_ODD = re.compile("[\x00-\x08\x0e-\x1f\ue000-\uf8ff\ufffd]")
_MAX_ODD = 0.03  # share of a document's characters
_GARBLED = _("some text may be garbled: its fonts don't map their glyphs to characters")


def read(data: bytes) -> Content:
    """Read the text of every page; warnings name the pages that can't be read.

    Pages without text are read as pictures if Tesseract is available.

    Raises:
        UnreadableError: The PDF needs a password, no page can be read, or no page has text.
        TemporarilyUnreadableError: No page has text, and pictures can't be read on this machine
            yet.
    """
    from pypdf import PdfReader  # slow to import

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableError(ENCRYPTED)
    pages, failed = _pages(reader)
    layout = Layout(pages)
    texts = join_hyphenated([layout.markdown(lines) for lines in pages])
    recognized = _recognize(data, _blank(texts))
    texts = [text or recognized.texts.get(n, "") for n, text in enumerate(texts, start=1)]
    text, starts = join_pages(texts)
    if not text:
        raise _without_text(recognized)
    return Content(
        text,
        title=_title(reader),
        pages=starts,
        warnings=(*_warnings(text, texts, failed), *recognized.warnings),
    )


def _pages(reader: Any) -> tuple[list[list[Line]], dict[int, Exception]]:
    pages: list[list[Line]] = []
    failed: dict[int, Exception] = {}
    for number, page in enumerate(reader.pages, start=1):
        collector = LineCollector()
        try:
            page.extract_text(visitor_text=collector.visit)
        except MemoryError:
            raise
        # Boundary: pypdf raises any exception on a damaged page; the other pages are worth keeping.
        except Exception as error:  # noqa: BLE001
            failed[number] = error
        pages.append(collector.lines)
    if pages and len(failed) == len(pages):
        raise failed[1]
    return pages, failed


def _blank(texts: Sequence[str]) -> list[int]:
    return [number for number, text in enumerate(texts, start=1) if not text.strip()]


def _recognize(data: bytes, pages: Sequence[int]) -> RecognizedText:
    if not pages or missing():
        return RecognizedText({})
    return recognize(pages, lambda page: page_picture(data, page, DPI / 72, MAX_PIXELS))


def _without_text(recognized: RecognizedText) -> UnreadableError:
    if reason := missing():
        return TemporarilyUnreadableError(
            _("0 characters: probably a scan; {reason}").format(reason=reason)
        )
    why = join_messages(recognized.warnings) or _(
        "no text was recognized in the pictures of its pages"
    )
    return UnreadableError(_("0 characters: {why}").format(why=why))


def _title(reader: Any) -> str:
    metadata = reader.metadata
    return (metadata.title if metadata is not None else "") or ""


def _warnings(text: str, texts: Sequence[str], failed: dict[int, Exception]) -> tuple[str, ...]:
    warnings = [
        _("page {number} could not be read completely ({name})").format(
            number=number, name=type(error).__name__
        )
        for number, error in failed.items()
    ]
    if blank := _blank(texts):
        warnings.append(
            _("no text on page {ranges} of {texts}: {why}").format(
                ranges=ranges(blank), texts=len(texts), why=_why(blank, texts)
            )
        )
    if len(_ODD.findall("".join(texts))) > _MAX_ODD * len(text):
        warnings.append(_GARBLED)
    return tuple(warnings)


def _why(blank: Sequence[int], texts: Sequence[str]) -> str:
    reason = missing()
    if reason is None:
        return _("blank, or no text was recognized")
    return (
        _("probably a scan; {reason}").format(reason=reason)
        if 2 * len(blank) > len(texts)
        else _("blank or scanned")
    )


def join_hyphenated(texts: Sequence[str]) -> list[str]:
    """Join words hyphenated at the end of a line, if the document shows that they are one word.

    "dedi-/cated" becomes "dedicated" if that word occurs elsewhere, and "well-/known" becomes
    "well-known" if that one does. If neither form occurs, the parts are joined unless one of them
    is a word of the document. Everything else stays as it is: a broken word is better than a wrong
    one.
    """
    words = {word.lower() for text in texts for word in _WORD.findall(_HYPHENATED.sub("", text))}

    def joined(match: re.Match[str]) -> str:
        left, right = match[1], match[2]
        if (left + right).lower() in words:
            return left + right
        if f"{left}-{right}".lower() in words:
            return f"{left}-{right}"
        is_fragment = left.lower() not in words and right.lower() not in words
        return left + right if is_fragment else match[0]

    return [_HYPHENATED.sub(joined, text) for text in texts]
