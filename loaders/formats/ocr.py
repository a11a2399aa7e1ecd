"""Recognizes text in pictures and scans with Tesseract if it is installed."""

import io
import math
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain.child_processes import extend_processor_time
from domain.errors import NothingToReadError, TemporarilyUnreadableError, UnreadableError
from domain.messages import _, join_messages
from loaders.formats.content import Content, join_pages, ranges
from loaders.programs import TooSlowError, is_installed, run_program

if TYPE_CHECKING:
    from PIL.Image import Image


MAX_PAGES = 500
"""The maximum number of pictures per file."""
MAX_PIXELS = 20_000_000
"""The maximum size of a picture for Tesseract: an A3 page at 300 dpi has 17 million pixels."""
DPI = 300
"""The resolution, in dots per inch, that Tesseract is designed for."""

_PROGRAM = "tesseract"
_PAGE_S = 60.0
_FILE_S = 1800.0
_LISTING_S = 20.0
_PREPARATION_S = 3  # processor time to draw a page; Tesseract's own time is limited separately
_HANGUL = re.compile("[가-힣]")
_KOREAN_FROM = 0.1  # share of a page's letters
# Kana, kanji, and their punctuation; Korean, by contrast, separates words by spaces.
_JAPANESE = "[\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60]"
_SPACED = re.compile(f"(?<={_JAPANESE}) (?={_JAPANESE})")
_BLANKS = re.compile(r"[ \t\u3000]+")
_PARAGRAPHS = re.compile(r"\n(?:[ \t]*\n)+")

_OFF = _("text recognition (OCR) is turned off: set FOOTNOTE_OCR_LANGUAGES, and import again")
_MISSING = _(
    "text recognition (OCR) requires Tesseract, which is not installed: install it on the"
    " machine that runs the worker (apt-get install tesseract-ocr tesseract-ocr-kor"
    " tesseract-ocr-jpn), and import again"
)

_languages: tuple[str, ...] = ("eng", "kor", "jpn")


def configure(languages: str) -> None:
    """Set the languages for this process by Tesseract's names ("eng+kor"); "none" disables OCR.

    Like Tesseract itself, they belong to the machine, not to a source, so loaders don't pass them
    on.
    """
    global _languages
    _languages = () if languages == "none" else tuple(languages.split("+"))


def configured() -> str:
    """The languages in the form that `configure` takes."""
    return "+".join(_languages) or "none"


def missing() -> str | None:
    """Why text in pictures can't be read on this machine, and the remedy; None if it can be."""
    if not _languages:
        return _OFF
    return None if is_installed(_PROGRAM) else _MISSING


@dataclass(frozen=True, slots=True)
class RecognizedText:
    """The text found in pictures, by page (only pages with text), and warnings."""

    texts: dict[int, str]
    warnings: tuple[str, ...] = ()


def recognize(pages: Sequence[int], picture: Callable[[int], "Image"]) -> RecognizedText:
    """Read the pages with these numbers; `picture` returns a page of at most `MAX_PIXELS`.

    Warnings name pages that can't be read, pages beyond `MAX_PAGES`, and pages that were not
    reached within half an hour.

    Raises:
        TemporarilyUnreadableError: Tesseract or the data for all languages is not installed.
    """
    installed, missing_languages = _languages_by_availability()
    texts: dict[int, str] = {}
    failed: dict[int, str] = {}
    began = time.monotonic()
    for done, page in enumerate(pages):
        if done >= MAX_PAGES or time.monotonic() - began > _FILE_S:
            failed |= dict.fromkeys(
                pages[done:], _("the file has too many pages without text: split it")
            )
            break
        extend_processor_time(_PREPARATION_S)
        try:
            text = _text(picture(page), installed)
        except UnreadableError as error:
            failed[page] = str(error)
        else:
            texts |= {page: text} if text else {}
    return RecognizedText(
        texts, _warnings(texts, failed, missing_languages, one=list(pages) == [1])
    )


def _languages_by_availability() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The configured languages with installed data, and those without."""
    if reason := missing():
        raise TemporarilyUnreadableError(reason)
    try:
        output = run_program(lambda _: [_PROGRAM, "--list-langs"], {}, timeout_s=_LISTING_S).output
    except TooSlowError as error:
        raise TemporarilyUnreadableError(
            _("Tesseract took longer than {listing_s} s to list its languages").format(
                listing_s=f"{_LISTING_S:g}"
            )
        ) from error
    installed = set(output.split())
    available = tuple(one for one in _languages if one in installed)
    unavailable = tuple(one for one in _languages if one not in installed)
    if not available:
        raise TemporarilyUnreadableError(_without_data(unavailable))
    return available, unavailable


def _without_data(languages: Sequence[str]) -> str:
    packages = " ".join(f"tesseract-ocr-{one.replace('_', '-')}" for one in languages)
    return _(
        "Tesseract has no data for {languages}: install it on the machine that runs the"
        " worker (apt-get install {packages}), and import again"
    ).format(languages=", ".join(languages), packages=packages)


def _text(picture: "Image", languages: Sequence[str]) -> str:
    """The text of one picture; empty if it has only one color or contains no text."""
    gray = picture.convert("L")
    darkest, lightest = gray.getextrema()
    if darkest == lightest:
        return ""
    buffer = io.BytesIO()
    gray.save(buffer, "PPM")
    data = buffer.getvalue()
    text = tidy(_run_tesseract(data, languages, "3"))
    # When it divides pages into columns, Tesseract loses much Korean text: four fifths on the test
    # pages. With a single column it loses none, and with Korean first it separates words correctly.
    if "kor" in languages and (not text or _is_korean(text)):
        korean = ("kor", *(one for one in languages if one != "kor"))
        return tidy(_run_tesseract(data, korean, "4"))
    return text


def _is_korean(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return len(_HANGUL.findall(text)) > _KOREAN_FROM * letters


def _run_tesseract(picture: bytes, languages: Sequence[str], segmentation: str) -> str:
    options = ["--dpi", str(DPI), "--psm", segmentation, "-c", "preserve_interword_spaces=1"]
    command = [_PROGRAM, "page.pgm", "page", "-l", "+".join(languages), *options]
    try:
        result = run_program(
            lambda _: command, {"page.pgm": picture}, "page.txt", timeout_s=_PAGE_S
        )
    except TooSlowError as error:
        raise UnreadableError(
            _("Tesseract took longer than {page_s} s").format(page_s=f"{_PAGE_S:g}")
        ) from error
    if result.code or result.output_file is None:
        raise UnreadableError(_("Tesseract failed ({last})").format(last=_last(result.output)))
    return result.output_file.decode("utf-8", "replace")


def _last(output: str) -> str:
    return next((line for line in reversed(output.splitlines()) if line.strip()), "no output")


def tidy(text: str) -> str:
    """Tidy Tesseract's text: remove the spaces between Japanese letters.

    Words of other scripts stay separated by one space, lines by a newline, and paragraphs by a
    blank line.
    """
    lines = (_SPACED.sub("", _BLANKS.sub(" ", line)).strip() for line in text.splitlines())
    return _PARAGRAPHS.sub("\n\n", "\n".join(lines)).strip()


def _warnings(
    texts: dict[int, str], failed: dict[int, str], unknown: Sequence[str], *, one: bool
) -> tuple[str, ...]:
    warnings: list[str] = []
    if texts:
        pages = ranges(sorted(texts))
        warnings.append(
            _("the text was recognized in a picture (OCR) and may contain mistakes")
            if one
            else _(
                "the text of page {pages} was recognized in a picture (OCR) and may contain"
                " mistakes"
            ).format(pages=pages)
        )
    for reason in dict.fromkeys(failed.values()):
        unread = [page for page, why in failed.items() if why == reason]
        warnings.append(
            _("no text was recognized on page {ranges}: {reason}").format(
                ranges=ranges(unread), reason=reason
            )
        )
    if unknown:
        warnings.append(_without_data(unknown))
    return tuple(warnings)


_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF")
_SMALL = 1600  # pixels; if the longer side is below, it is a screenshot, not a scan
_SPEAKS_OF_PAGES = "TIFF"  # in other formats, frames are animation


def read_picture(data: bytes) -> Content:
    """Read the text in a picture, or in each page of a multi-page TIFF.

    Raises:
        UnreadableError: The picture is damaged, or has more pixels than are safe to unpack;
            NothingToReadError if it shows no text.
        TemporarilyUnreadableError: Text in pictures can't be read on this machine yet.
    """
    from PIL import Image, UnidentifiedImageError  # slow to import

    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            return _content(image)
    except Image.DecompressionBombError as error:
        raise UnreadableError(_too_large()) from error
    except UnidentifiedImageError:
        # Without its cause: an OSError would be retried, but this failure is permanent.
        raise UnreadableError(_("damaged, or not a picture: get an intact copy")) from None


def _content(image: "Image") -> Content:
    count = getattr(image, "n_frames", 1) if image.format == _SPEAKS_OF_PAGES else 1
    recognized = recognize(range(1, count + 1), lambda page: _frame(image, page))
    if not recognized.texts:
        if not recognized.warnings:
            raise NothingToReadError(_("0 characters: no text was recognized in the picture"))
        raise UnreadableError(
            _("0 characters: {warnings}").format(warnings=join_messages(recognized.warnings))
        )
    text, starts = join_pages([recognized.texts.get(page, "") for page in range(1, count + 1)])
    return Content(text, pages=starts if count > 1 else (), warnings=recognized.warnings)


def _frame(image: "Image", page: int) -> "Image":
    """One picture, upright, in gray on white, and large enough to be recognized."""
    from PIL import Image, ImageOps

    try:
        image.seek(page - 1)
        if image.width * image.height > (Image.MAX_IMAGE_PIXELS or 0):
            raise UnreadableError(_too_large())
        upright = ImageOps.exif_transpose(image)
    except (OSError, EOFError, SyntaxError, ValueError) as error:
        raise UnreadableError(
            _("the picture is damaged or incomplete ({error}): get an intact copy").format(
                error=error
            )
        ) from None
    return _scale(_on_white(upright))


def _scale(gray: "Image") -> "Image":
    from PIL import Image

    if max(gray.size) < _SMALL:
        return gray.resize((2 * gray.width, 2 * gray.height), Image.Resampling.LANCZOS)
    sides = math.sqrt(gray.width * gray.height / MAX_PIXELS)
    return gray.reduce(math.ceil(sides)) if sides > 1 else gray


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
    return _(
        "the picture has more than {millions} million pixels, too many to decode safely:"
        " reduce its size"
    ).format(millions=millions)
