"""The kinds of things in a Drive: which are documents, and under what name their bytes are read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from loaders.formats import SUFFIXES, suffix_of, unsupported

_GOOGLE = "application/vnd.google-apps."
FOLDER = f"{_GOOGLE}folder"
SHORTCUT = f"{_GOOGLE}shortcut"
DOCS = f"{_GOOGLE}document"
SHEETS = f"{_GOOGLE}spreadsheet"
SLIDES = f"{_GOOGLE}presentation"
NATIVE = {DOCS: "gdoc", SHEETS: "gsheet", SLIDES: "gslides"}
"""What Google's own editors write, and what that is called here."""

_SUFFIXES = {  # of files whose name does not tell
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/msword": ".doc",
    "application/vnd.ms-powerpoint": ".ppt",
    "application/vnd.ms-excel": ".xls",
    "application/rtf": ".rtf",
    "text/rtf": ".rtf",
    "application/vnd.oasis.opendocument.text": ".odt",
    "application/epub+zip": ".epub",
    "application/json": ".json",
    "application/vnd.google.colaboratory": ".ipynb",
    "application/x-ipynb+json": ".ipynb",
    "application/xml": ".xml",
    "application/zip": ".zip",
    "message/rfc822": ".eml",
    "application/vnd.ms-outlook": ".msg",
    "text/plain": ".txt",
    "text/markdown": ".md",
    "text/x-markdown": ".md",
    "text/html": ".html",
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "text/xml": ".xml",
    "application/yaml": ".yaml",
    "image/png": ".png",
    "image/jpeg": ".jpg",
    "image/tiff": ".tiff",
}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is: its `type` as people choose it, and why it is no document, if it is none."""

    type: str
    reason: str | None


def kind_of(name: str, mime: str) -> Kind:
    """The kind of a file of that name and MIME type."""
    if mime in NATIVE:
        return Kind(NATIVE[mime], None)
    if mime.startswith(_GOOGLE):
        kind = mime.removeprefix(_GOOGLE)
        return Kind(kind, f"Footnote does not read Google's {kind} files")
    read_as = file_name(name, mime)
    return Kind(suffix_of(read_as).lstrip("."), unsupported(read_as))


def file_name(name: str, mime: str) -> str:
    """The name by which a file is read: with the suffix of its MIME type where its own tells none.

    People may name a file `Report 2.1`: not every dot in a name begins a suffix.
    """
    told = _SUFFIXES.get(mime, "")
    return name + told if suffix_of(name) not in SUFFIXES and told in SUFFIXES else name


def is_withheld(file: Mapping[str, Any]) -> bool:
    """Whether its owner lets this account see the file, not download it."""
    return file.get("capabilities", {}).get("canDownload") is False


def too_large(file: Mapping[str, Any], max_bytes: int) -> str | None:
    """Why the file is too large to be read; None: it is not. What editors write has no size."""
    size = 0 if file["mimeType"] in NATIVE else int(file.get("size") or 0)
    if size <= max_bytes:
        return None
    return f"{size / 2**20:.1f} MiB is more than the limit of {max_bytes / 2**20:.1f} MiB: split it"


def link_of(file: Mapping[str, Any]) -> str:
    """The address at which a person opens it."""
    return str(file.get("webViewLink") or f"https://drive.google.com/open?id={file['id']}")
