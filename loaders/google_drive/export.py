"""What a file in a Drive says: exported by Google where its editors wrote it, else downloaded."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from errors import NothingToReadError, UnreadableError, UnreadableNowError
from loaders.formats import read_document
from loaders.google_drive.calls import DriveCalls, File
from loaders.google_drive.kinds import DOCS, NATIVE, SHEETS, SLIDES, file_name
from loaders.google_drive.trouble import NotExportedError

if TYPE_CHECKING:  # slow, and a Drive without news needs none of it
    from langchain_core.documents import Document

_OPEN = "application/vnd.openxmlformats-officedocument."
_DOWNLOADS = 3
_EMBEDDED = re.compile(r"^\[[^\]\n]+\]:\s*<?data:[^>\s]*>?[ \t]*$\n?", re.MULTILINE)
_IMAGE = re.compile(r"!\[([^\]\n]*)\]\[[^\]\n]*\]")
_HEADING = re.compile(r"#+ ")
Pages = Sequence[tuple[int, int]]


class Export(NamedTuple):
    """A format that Google exports: `warning` says what is lost in it."""

    mime: str
    suffix: str
    warning: str = ""


EXPORTS = {
    DOCS: (
        Export("text/markdown", ".md"),
        Export("text/html", ".html"),
        Export("text/plain", ".txt", "too large for Google to export whole: without its headings"),
    ),
    SHEETS: (
        Export(f"{_OPEN}spreadsheetml.sheet", ".xlsx"),
        Export("text/csv", ".csv", "too large for Google to export whole: its first sheet only"),
    ),
    SLIDES: (
        Export(f"{_OPEN}presentationml.presentation", ".pptx"),
        Export("text/plain", ".txt", "too large for Google to export whole: without slide numbers"),
    ),
}
"""What is asked for, in this order: the first that Google exports, which refuses above 10 MB."""


def document_of(calls: DriveCalls, file: File, max_bytes: int) -> "Document":
    """Read a file: as `read_document` does, with what Google's editors know besides.

    Raises:
        UnreadableError: With the reason; UnreadableNowError where it may be read next time,
            NothingToReadError where a document of Google's holds no text.
        SourceUnavailableError: Drive as a whole can't be reached now.
    """
    if file["mimeType"] not in NATIVE:
        data = _downloaded(calls, file, max_bytes)
        return read_document(file_name(file["name"], file["mimeType"]), data)
    export, data = _exported(calls, file)
    if export.suffix == ".md":
        data = without_pictures(data.decode("utf-8-sig", "replace")).encode()
        if not data.strip():
            raise NothingToReadError("0 characters: the document holds no text")
    document = read_document(f"{file['name']}{export.suffix}", data)
    document.metadata |= {"format": NATIVE[file["mimeType"]], "encoding": None}
    if export.warning:
        document.metadata["warnings"] = [export.warning, *document.metadata["warnings"]]
    return _with_slide_numbers(document) if file["mimeType"] == SLIDES else document


def _exported(calls: DriveCalls, file: File) -> tuple[Export, bytes]:
    for export in EXPORTS[file["mimeType"]]:
        try:
            return export, calls.export(file["id"], export.mime)
        except NotExportedError as error:
            refused = error
    raise UnreadableError(
        f"Google exports it in no format ({refused}): split it into smaller documents"
    ) from refused


def _downloaded(calls: DriveCalls, file: File, max_bytes: int) -> bytes:
    """The bytes whose checksum Drive tells."""
    told = file.get("md5Checksum")
    if file.get("size") == "0":
        return b""
    for _ in range(_DOWNLOADS):
        data = calls.download(file["id"], max_bytes)
        if not told or hashlib.md5(data, usedforsecurity=False).hexdigest() == told:
            return data
    raise UnreadableNowError("what was downloaded is not what Google Drive holds: it arrived cut")


def without_pictures(markdown: str) -> str:
    """Google's Markdown without the pictures' bytes, which stand in it as text; their names stay.

    They are told as `![name][image1]`, and once more below as `[image1]: <data:image/png;...>`.
    """
    if not _EMBEDDED.search(markdown):
        return markdown
    return _IMAGE.sub(r"\1", _EMBEDDED.sub("", markdown))


def _with_slide_numbers(document: "Document") -> "Document":
    text, pages = numbered(document.page_content, document.metadata["pages"])
    document.page_content = text
    document.metadata["pages"] = pages
    return document


def numbered(text: str, pages: Pages) -> tuple[str, list[tuple[int, int]]]:
    """The slides' text with `## Slide n` at the head of each, joined to its title if it has one.

    `pages` pairs the start of each slide in the text with its number; they are given anew.
    """
    if not pages:  # a format without slides
        return text, []
    parts: list[str] = []
    starts: list[tuple[int, int]] = []
    length = 0
    for number, slide in _slides(text, pages):
        starts.append((length, number))
        parts.append(_headed(number, slide))
        length += len(parts[-1])
    return "".join(parts), starts


def _slides(text: str, pages: Pages) -> Iterator[tuple[int, str]]:
    ends: list[Any] = [start for start, _ in pages[1:]] + [len(text)]
    for (start, number), end in zip(pages, ends, strict=True):
        yield number, text[start:end]


def _headed(number: int, slide: str) -> str:
    head = _HEADING.match(slide)
    if head is None:
        return f"## Slide {number}\n\n{slide}"
    return f"## Slide {number}: {slide[head.end() :]}"
