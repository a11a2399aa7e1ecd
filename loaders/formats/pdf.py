"""PDF as Markdown, page by page, in the order in which the file paints its text."""

import io
import re
from collections.abc import Sequence
from typing import Any

from errors import UnreadableError, UnreadableNowError
from loaders.formats.archive import ENCRYPTED
from loaders.formats.content import Content, join_pages, ranges
from loaders.formats.ocr import DPI, MAX_PIXELS, Recognised, missing, recognise
from loaders.formats.pdf_layout import Layout, Line, LineCollector
from loaders.pdf_pages import page_picture

_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_HYPHENATED = re.compile(r"(?<![^\W\d_])([^\W\d_]+)-\n([a-zà-öø-ÿ][^\W\d_]*)")
_ODD = re.compile("[\x00-\x08\x0e-\x1f\ue000-\uf8ff\ufffd]")
_MAX_ODD = 0.03  # of a document's characters
_GARBLED = "some text may be garbled: its fonts don't say which letters they show"


def read(data: bytes) -> Content:
    """Read the text of every page; a page that can't be read is named in a warning.

    Pages without text are read as pictures, where that can be done.

    Raises:
        UnreadableError: It needs a password, no page can be read, or none holds text.
        UnreadableNowError: None holds text, and pictures can't be read here yet.
    """
    from pypdf import PdfReader  # slow to import

    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not reader.decrypt(""):
        raise UnreadableError(ENCRYPTED)
    pages, failed = _pages(reader)
    layout = Layout(pages)
    texts = join_hyphenated([layout.markdown(lines) for lines in pages])
    recognised = _recognised(data, _blank(texts))
    texts = [text or recognised.texts.get(n, "") for n, text in enumerate(texts, start=1)]
    text, starts = join_pages(texts)
    if not text:
        raise _without_text(recognised)
    return Content(
        text,
        title=_title(reader),
        pages=starts,
        warnings=(*_warnings(text, texts, failed), *recognised.warnings),
    )


def _pages(reader: Any) -> tuple[list[list[Line]], dict[int, Exception]]:
    pages: list[list[Line]] = []
    failed: dict[int, Exception] = {}
    for number, page in enumerate(reader.pages, start=1):
        collector = LineCollector()
        try:
            page.extract_text(visitor_text=collector.visit)
        # Boundary: on a damaged page pypdf raises anything, and the other pages are worth having.
        except Exception as error:  # noqa: BLE001
            failed[number] = error
        pages.append(collector.lines)
    if pages and len(failed) == len(pages):
        raise failed[1]
    return pages, failed


def _blank(texts: Sequence[str]) -> list[int]:
    return [number for number, text in enumerate(texts, start=1) if not text.strip()]


def _recognised(data: bytes, pages: Sequence[int]) -> Recognised:
    if not pages or missing():
        return Recognised({})
    return recognise(pages, lambda page: page_picture(data, page, DPI / 72, MAX_PIXELS))


def _without_text(recognised: Recognised) -> UnreadableError:
    if reason := missing():
        return UnreadableNowError(f"0 characters: probably a scan; {reason}")
    why = "; ".join(recognised.warnings) or "nothing was recognised in the pictures of its pages"
    return UnreadableError(f"0 characters: {why}")


def _title(reader: Any) -> str:
    metadata = reader.metadata
    return (metadata.title if metadata is not None else "") or ""


def _warnings(text: str, texts: Sequence[str], failed: dict[int, Exception]) -> tuple[str, ...]:
    warnings = [
        f"page {number} could not be read whole ({type(error).__name__})"
        for number, error in failed.items()
    ]
    if blank := _blank(texts):
        warnings.append(f"no text on page {ranges(blank)} of {len(texts)}: {_why(blank, texts)}")
    if len(_ODD.findall("".join(texts))) > _MAX_ODD * len(text):
        warnings.append(_GARBLED)
    return tuple(warnings)


def _why(blank: Sequence[int], texts: Sequence[str]) -> str:
    reason = missing()
    if reason is None:
        return "blank, or nothing was recognised"
    return f"probably a scan; {reason}" if 2 * len(blank) > len(texts) else "blank or scanned"


def join_hyphenated(texts: Sequence[str]) -> list[str]:
    """Join words that a line's end has cut, where the document shows that they are one word.

    "dedi-/cated" becomes "dedicated" if that stands elsewhere, "well-/known" becomes
    "well-known" if that does, and what neither is known nor made of known words is joined.
    All else stays as it is: better a broken word than a wrong one.
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
