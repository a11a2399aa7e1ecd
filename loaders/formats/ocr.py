"""Text in pictures, recognised by Tesseract where it is installed."""

import io
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from errors import UnreadableError, UnreadableNowError
from loaders.formats.content import ranges
from loaders.programs import TooSlowError, is_installed, run_program

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_PAGES = 500
"""Of one file, in pictures."""
MAX_PIXELS = 20_000_000
"""Of a picture that Tesseract is given: an A3 page at 300 dots per inch has 17 million."""
DPI = 300
"""What Tesseract is made for."""

_PROGRAM = "tesseract"
_PAGE_S = 60.0
_FILE_S = 1800.0
_LISTING_S = 20.0
_HANGUL = re.compile("[가-힣]")
_KOREAN_FROM = 0.1  # of a page's letters
# Kana, kanji and the punctuation between them; Korean parts its words by spaces.
_JAPANESE = "[\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff01-\uff60]"
_SPACED = re.compile(f"(?<={_JAPANESE}) (?={_JAPANESE})")
_BLANKS = re.compile(r"[ \t\u3000]+")
_PARAGRAPHS = re.compile(r"\n(?:[ \t]*\n)+")

_OFF = "reading text in pictures is switched off: set FOOTNOTE_OCR_LANGUAGES, and import again"
_MISSING = (
    "Tesseract reads text in pictures, and is not installed: install it on the machine that runs"
    " the worker (apt-get install tesseract-ocr tesseract-ocr-kor tesseract-ocr-jpn), and import"
    " again"
)
_GUESSED = "was recognised in a picture (OCR): it may hold mistakes"

_languages: tuple[str, ...] = ("eng", "kor", "jpn")


def configure(languages: str) -> None:
    """Choose the languages for this process, as Tesseract names them: "eng+kor"; "none" is off.

    They are a fact of the machine, as Tesseract is, not of a source: no loader has to hand them on.
    """
    global _languages
    _languages = () if languages == "none" else tuple(languages.split("+"))


def missing() -> str | None:
    """Why text in pictures can't be read here, and what to do; None where it can."""
    if not _languages:
        return _OFF
    return None if is_installed(_PROGRAM) else _MISSING


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was found in pictures: by page its text, pages without any left out; and warnings."""

    texts: dict[int, str]
    warnings: tuple[str, ...] = ()


def recognise(pages: Sequence[int], picture: Callable[[int], "Image"]) -> Recognised:
    """Read the pages whose numbers are given, each of them a picture of `MAX_PIXELS` at most.

    A page that can't be read is named in a warning, as are those beyond `MAX_PAGES`, and those that
    half an hour did not suffice for.

    Raises:
        UnreadableNowError: Tesseract, or the data of every language, is not installed.
    """
    known, unknown = _known()
    texts: dict[int, str] = {}
    failed: dict[int, str] = {}
    began = time.monotonic()
    for done, page in enumerate(pages):
        if done >= MAX_PAGES or time.monotonic() - began > _FILE_S:
            failed |= dict.fromkeys(pages[done:], "the file has too many such pages, split it")
            break
        try:
            text = _text(picture(page), known)
        except UnreadableError as error:
            failed[page] = str(error)
        else:
            texts |= {page: text} if text else {}
    return Recognised(texts, _warnings(texts, failed, unknown, one=list(pages) == [1]))


def _known() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The languages that Tesseract has data for, and those that it has not."""
    if reason := missing():
        raise UnreadableNowError(reason)
    try:
        said = run_program(lambda _: [_PROGRAM, "--list-langs"], {}, timeout_s=_LISTING_S).said
    except TooSlowError as error:
        raise UnreadableNowError(
            f"Tesseract took longer than {_LISTING_S:g} s to name its languages"
        ) from error
    installed = set(said.split())
    known = tuple(one for one in _languages if one in installed)
    unknown = tuple(one for one in _languages if one not in installed)
    if not known:
        raise UnreadableNowError(_without_data(unknown))
    return known, unknown


def _without_data(languages: Sequence[str]) -> str:
    packages = " ".join(f"tesseract-ocr-{one.replace('_', '-')}" for one in languages)
    return (
        f"Tesseract has no data for {', '.join(languages)} here: install it on the machine that"
        f" runs the worker (apt-get install {packages}), and import again"
    )


def _text(picture: "Image", languages: Sequence[str]) -> str:
    """The text of one picture; empty where it is of one colour, or holds none."""
    grey = picture.convert("L")
    darkest, lightest = grey.getextrema()
    if darkest == lightest:
        return ""
    written = io.BytesIO()
    grey.save(written, "PPM")
    data = written.getvalue()
    text = tidy(_ran(data, languages, "3"))
    # Dividing a page into columns, Tesseract loses much of Korean text: four fifths on the test
    # pages. As one column it loses nothing, and its own language first parts its words rightly.
    if "kor" in languages and (not text or _is_korean(text)):
        korean = ("kor", *(one for one in languages if one != "kor"))
        return tidy(_ran(data, korean, "4"))
    return text


def _is_korean(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return len(_HANGUL.findall(text)) > _KOREAN_FROM * letters


def _ran(picture: bytes, languages: Sequence[str], segmentation: str) -> str:
    options = ["--dpi", str(DPI), "--psm", segmentation, "-c", "preserve_interword_spaces=1"]
    command = [_PROGRAM, "page.pgm", "page", "-l", "+".join(languages), *options]
    try:
        ran = run_program(lambda _: command, {"page.pgm": picture}, "page.txt", timeout_s=_PAGE_S)
    except TooSlowError as error:
        raise UnreadableError(f"Tesseract took longer than {_PAGE_S:g} s") from error
    if ran.code or ran.made is None:
        raise UnreadableError(f"Tesseract failed ({_last(ran.said)})")
    return ran.made.decode("utf-8", "replace")


def _last(said: str) -> str:
    return next((line for line in reversed(said.splitlines()) if line.strip()), "without a word")


def tidy(text: str) -> str:
    """What Tesseract writes, as people do: Japanese without spaces between its letters.

    Words of other scripts keep one space between them, lines their ends, paragraphs one blank line.
    """
    lines = (_SPACED.sub("", _BLANKS.sub(" ", line)).strip() for line in text.splitlines())
    return _PARAGRAPHS.sub("\n\n", "\n".join(lines)).strip()


def _warnings(
    texts: dict[int, str], failed: dict[int, str], unknown: Sequence[str], *, one: bool
) -> tuple[str, ...]:
    warnings = []
    if texts:
        pages = ranges(sorted(texts))
        warnings.append(f"the text {_GUESSED}" if one else f"the text of page {pages} {_GUESSED}")
    for reason in dict.fromkeys(failed.values()):
        unread = [page for page, why in failed.items() if why == reason]
        warnings.append(f"page {ranges(unread)} could not be recognised: {reason}")
    if unknown:
        warnings.append(_without_data(unknown))
    return tuple(warnings)
