"""One reader for every format: bytes in, a LangChain `Document` of Markdown text out."""

from collections.abc import Callable
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from errors import UnreadableError
from loaders.formats.content import Content, clean
from loaders.formats.ocr import missing
from loaders.formats.titles import document_title
from loaders.mojibake import SUSPECTED, is_suspected

if TYPE_CHECKING:
    from langchain_core.documents import Document

FORMATS_VERSION = 2
"""Goes up whenever the same bytes give another text.

Every document is then read and embedded anew, which a better title is not worth: that comes with
the document's next version, or when it is read again by itself.
"""

_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif")
# Suffix -> format. Each is a module here with `read(data) -> Content`, imported on use, or a
# function of one by its name.
_FORMATS = {
    ".txt": "text",
    ".md": "text",
    ".markdown": "text",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".xlsx": "xlsx",
    ".csv": "delimited",
    ".tsv": "delimited",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".xml": "xml",
    ".ipynb": "ipynb",
    ".eml": "eml",
    ".msg": "msg",
    ".rtf": "rtf",
    ".odt": "odt",
    ".ods": "ods",
    ".odp": "odp",
    ".hwp": "hwp",
    ".hwpx": "hwpx",
    ".epub": "epub",
    ".zip": "zip",
    ".doc": "legacy_office.read_doc",
    ".ppt": "legacy_office.read_ppt",
    ".xls": "legacy_office.read_xls",
    **dict.fromkeys(_PICTURES, "image"),
}
SUFFIXES = tuple(_FORMATS)
"""The ends of the names of files that can be read."""
_NAMES = {".markdown": "md", ".htm": "html", ".yml": "yaml", ".jpeg": "jpg", ".tiff": "tif"}


def suffix_of(name: str) -> str:
    """The suffix that decides the format, in lower case with its dot; empty where there is none."""
    return PurePosixPath(name).suffix.lower()


def unsupported(name: str) -> str | None:
    """Why a file of this name is not read here, for people; None where it is.

    A picture among texts is none without what recognises text in it; a document is one always,
    and reading it tells what is missing.
    """
    suffix = suffix_of(name)
    if suffix in _PICTURES and (reason := missing()):
        return reason
    if suffix in _FORMATS:
        return None
    if not suffix:
        return "Footnote tells formats by the end of the name (.pdf, .md ...), and this has none"
    return f"Footnote does not read {suffix} files yet"


def read_document(name: str, data: bytes) -> "Document":
    """Read a file of any supported format as Markdown text.

    Args:
        name: The file's name or path; its suffix decides the format, and it gives the title
            where the file has none of its own (see `loaders.formats.titles`).
        data: The whole file.

    Returns:
        The text (headings as #, tables as pipe tables, code fenced; newlines are line feeds), with
        metadata title, format, encoding (None where the format has its own), pages (pairs of
        start offset and page number from 1; empty where the format has none) and warnings.

    Raises:
        UnreadableError: With the reason, and nothing else, whatever the bytes are.
    """
    from langchain_core.documents import Document  # slow, and asking for a suffix needs none

    if reason := unsupported(name):
        raise UnreadableError(reason)
    if not data:
        raise UnreadableError("the file is empty")
    suffix = suffix_of(name)
    content = _read(suffix, data)
    text = content.text if content.pages else clean(content.text)
    if not text.strip():
        raise UnreadableError(f"0 characters: the {suffix} file holds no text")
    metadata = {
        "title": document_title(content, name),
        "format": _NAMES.get(suffix, suffix[1:]),
        "encoding": content.encoding,
        "pages": list(content.pages),
        "warnings": [*content.warnings, *([SUSPECTED] if is_suspected(text) else [])],
    }
    return Document(page_content=text, metadata=metadata)


def _read(suffix: str, data: bytes) -> Content:
    module, _, function = _FORMATS[suffix].partition(".")
    reader: Callable[[bytes], Content] = getattr(
        import_module(f"loaders.formats.{module}"), function or "read"
    )
    try:
        return reader(data)
    except UnreadableError:
        raise
    except RecursionError as error:
        raise UnreadableError(f"the {suffix} file is nested too deeply to be read") from error
    # The boundary to parsers of other people: on damaged bytes they raise anything at all.
    except Exception as error:
        raise UnreadableError(
            f"the {suffix} file is damaged or not really {suffix} ({type(error).__name__}): "
            "open it in its program, save it again and import that"
        ) from error
