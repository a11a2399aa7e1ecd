"""One reader for every format: bytes in, a LangChain `Document` of Markdown text out."""

from collections.abc import Callable
from importlib import import_module
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from domain.errors import UnreadableError
from domain.messages import _
from loaders.encoding import SUSPECTED, is_suspected
from loaders.formats.content import Content, clean
from loaders.formats.ocr import missing
from loaders.formats.titles import document_title

if TYPE_CHECKING:
    from langchain_core.documents import Document

FORMATS_VERSION = 4
"""Raised whenever the same bytes produce a different text.

Every document is then read and embedded again, which a better title alone does not justify: titles
are updated when a document changes or is read again for another reason.
"""

_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif")
# Suffix -> module in this package, imported when used, and its function from bytes to Content.
_READERS = {
    **dict.fromkeys((".txt", ".md", ".markdown"), "text.read_text"),
    **dict.fromkeys((".html", ".htm"), "html.read"),
    ".pdf": "pdf.read",
    ".docx": "docx.read",
    ".pptx": "ooxml.read_pptx",
    ".xlsx": "ooxml.read_xlsx",
    **dict.fromkeys((".csv", ".tsv"), "structured_data.read_delimited"),
    ".json": "structured_data.read_json",
    **dict.fromkeys((".yaml", ".yml"), "structured_data.read_yaml"),
    ".xml": "xml.read",
    ".ipynb": "text.read_notebook",
    ".eml": "mail.read_eml",
    ".msg": "msg.read",
    ".rtf": "rtf.read",
    ".odt": "opendocument.read_odt",
    ".ods": "opendocument.read_ods",
    ".odp": "opendocument.read_odp",
    ".hwp": "hwp.read",
    ".hwpx": "hwpx.read",
    ".epub": "html.read_epub",
    ".zip": "embedded_files.read_zip",
    ".doc": "legacy_office.read_doc",
    ".ppt": "legacy_office.read_ppt",
    ".xls": "legacy_office.read_xls",
    **dict.fromkeys(_PICTURES, "ocr.read_picture"),
}
SUFFIXES = tuple(_READERS)
"""The suffixes of the files that can be read."""
_NAMES = {".markdown": "md", ".htm": "html", ".yml": "yaml", ".jpeg": "jpg", ".tiff": "tif"}


def suffix_of(name: str) -> str:
    """The suffix that determines the format, in lower case with its dot; empty if there is none."""
    return PurePosixPath(name).suffix.lower()


def unsupported(name: str) -> str | None:
    """The reason, for users, why a file of this name can't be read; None if it can.

    Without text recognition, pictures are not supported at all; other files are, and reading them
    reports which program is missing.
    """
    suffix = suffix_of(name)
    if suffix in _PICTURES and (reason := missing()):
        return reason
    if suffix in _READERS:
        return None
    if not suffix:
        return _(
            "Footnote recognizes formats by the file name extension, such as .pdf or .md, and"
            " this file has none"
        )
    return _("Footnote does not read {suffix} files yet").format(suffix=suffix)


def read_document(name: str, data: bytes) -> "Document":
    """Read a file of any supported format as Markdown text, in this process.

    The files of sources are read by `loaders.document_reader`, in a process with limits.

    Args:
        name: The file's name or path. Its suffix determines the format, and it is the title if the
            file has none (see `loaders.formats.titles`).
        data: The whole file.

    Returns:
        The text (headings as #, tables as pipe tables, code fenced, line feeds as newlines), with
        title, format, encoding (None if the format defines it), pages (pairs of start offset and
        page number from 1; empty if the format has none), and warnings in its metadata.

    Raises:
        UnreadableError: The file can't be read; the message gives the reason. Only a MemoryError
            is raised besides, regardless of the bytes.
    """
    from langchain_core.documents import Document  # slow, and not needed to look up a suffix

    text, metadata = read_file(name, data)
    return Document(page_content=text, metadata=metadata)


def read_file(name: str, data: bytes) -> tuple[str, dict[str, Any]]:
    """The text and the metadata of `read_document`, without LangChain."""
    if reason := unsupported(name):
        raise UnreadableError(reason)
    if not data:
        raise UnreadableError(_("the file is empty"))
    suffix = suffix_of(name)
    content = _read(suffix, data)
    text = content.text if content.pages else clean(content.text)
    if not text.strip():
        raise UnreadableError(
            _("0 characters: the {suffix} file contains no text").format(suffix=suffix)
        )
    metadata = {
        "title": document_title(content, name),
        "format": _NAMES.get(suffix, suffix[1:]),
        "encoding": content.encoding,
        "pages": list(content.pages),
        "warnings": [*content.warnings, *([SUSPECTED] if is_suspected(text) else [])],
    }
    return text, metadata


def reader_of(suffix: str) -> Callable[[bytes], Content]:
    """The reader of a supported suffix."""
    module, _dot, function = _READERS[suffix].partition(".")
    reader: Callable[[bytes], Content] = getattr(
        import_module(f"loaders.formats.{module}"), function
    )
    return reader


def _read(suffix: str, data: bytes) -> Content:
    try:
        return reader_of(suffix)(data)
    except (UnreadableError, MemoryError):
        raise
    except RecursionError as error:
        raise UnreadableError(
            _("the {suffix} file is nested too deeply to be read").format(suffix=suffix)
        ) from error
    # Boundary: third-party parsers raise any kind of exception on damaged bytes.
    except Exception as error:
        raise UnreadableError(
            _(
                "the {suffix} file is damaged or not a {suffix} file ({name}): open it in the"
                " program that created it, save it again, and import the new file"
            ).format(suffix=suffix, name=type(error).__name__)
        ) from error
