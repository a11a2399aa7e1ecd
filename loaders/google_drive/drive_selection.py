"""The part of a Drive to import (folders, files, shared drives, types), and kinds of files."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import parse_qs, urlsplit

from domain import is_on_web
from domain.errors import SourceError
from domain.messages import _
from loaders.document_reader import size_problem
from loaders.formats import SUFFIXES, suffix_of, unsupported

_GOOGLE = "application/vnd.google-apps."
FOLDER = f"{_GOOGLE}folder"
SHORTCUT = f"{_GOOGLE}shortcut"
DOCS = f"{_GOOGLE}document"
SHEETS = f"{_GOOGLE}spreadsheet"
SLIDES = f"{_GOOGLE}presentation"
NATIVE = {DOCS: "gdoc", SHEETS: "gsheet", SLIDES: "gslides"}
"""The MIME types of Google's own editors, and their types in a selection."""

_SUFFIXES = {  # for files whose name has no known suffix
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
    """The kind of a file: its `type` as users select it, and the reason if it can't be read."""

    type: str
    reason: str | None


def kind_of(name: str, mime: str) -> Kind:
    """The kind of a file with this name and MIME type."""
    if mime in NATIVE:
        return Kind(NATIVE[mime], None)
    if mime.startswith(_GOOGLE):
        kind = mime.removeprefix(_GOOGLE)
        return Kind(kind, _("Footnote does not read Google's {kind} files").format(kind=kind))
    read_as = file_name(name, mime)
    return Kind(suffix_of(read_as).lstrip("."), unsupported(read_as))


def file_name(name: str, mime: str) -> str:
    """The name to read a file by: it gets the suffix of its MIME type if it has no known suffix.

    Not every dot in a name begins a suffix: a file may be named `Report 2.1`.
    """
    suffix = _SUFFIXES.get(mime, "")
    return name + suffix if suffix_of(name) not in SUFFIXES and suffix in SUFFIXES else name


def is_withheld(file: Mapping[str, Any]) -> bool:
    """Whether the owner lets this account see but not download the file."""
    return file.get("capabilities", {}).get("canDownload") is False


def too_large(file: Mapping[str, Any], max_bytes: int) -> str | None:
    """The reason if the file is too large; otherwise None. Google documents have no size."""
    size = 0 if file["mimeType"] in NATIVE else int(file.get("size") or 0)
    return size_problem(size, max_bytes)


def link_of(file: Mapping[str, Any]) -> str:
    """The address that opens the file in a browser."""
    link = str(file.get("webViewLink") or "")
    return link if is_on_web(link) else f"https://drive.google.com/open?id={file['id']}"


MY_DRIVE = "root"
"""Drive's id for the root folder of the signed-in user."""
_ID = re.compile(r"[A-Za-z0-9_-]{10,}")
_IN_PATH = re.compile(r"/(?:folders|d)/([A-Za-z0-9_-]{10,})(?:/|$)")
_HOSTS = ("drive.google.com", "docs.google.com")


class DriveScope(StrEnum):
    """The part of a Drive that is imported."""

    FOLDERS = "folders"
    FILES = "files"
    DRIVES = "drives"


@dataclass(frozen=True, slots=True)
class DriveSelection:
    """The ids of the items to import, and the types of files (`pdf`, `gdoc` ...; if empty, all)."""

    scope: DriveScope
    ids: tuple[str, ...]
    types: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls,
        scope: str,
        *,
        folders: Sequence[str] = (),
        files: Sequence[str] = (),
        drives: Sequence[str] = (),
        types: Iterable[str] = (),
    ) -> "DriveSelection":
        """Create a selection from user input: URLs or ids, and suffixes with or without a dot.

        Raises:
            SourceError: A text is neither a URL nor an id, or all are empty.
        """
        texts = {"folders": folders, "files": files, "drives": drives}[scope]
        ids = tuple(dict.fromkeys(drive_id(text) for text in texts if text.strip()))
        if not ids:
            raise SourceError(
                _("Enter what to import: the address of a folder, a file, or a shared drive.")
            )
        extensions = (text.strip().lstrip(".").lower() for text in types)
        return cls(DriveScope(scope), ids, frozenset(text for text in extensions if text))

    def takes(self, kind: str) -> bool:
        """Whether documents of this type are imported."""
        return not self.types or kind in self.types

    def fingerprint(self, max_bytes: int) -> str:
        """A fingerprint that changes whenever the same Drive would be listed differently."""
        values = [self.scope, self.ids, sorted(self.types), max_bytes, sorted(SUFFIXES)]
        return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:16]


def drive_id(text: str) -> str:
    """The id in a URL of Drive or its editors, or the id itself.

    Raises:
        SourceError: The text contains no id.
    """
    text = text.strip()
    if _ID.fullmatch(text) or text == MY_DRIVE:
        return text
    if id_ := _in_url(text):
        return id_
    raise SourceError(
        _(
            "{text} is neither an address of Google Drive nor an id: open the folder or file in the"
            " browser and copy its address."
        ).format(text=text)
    )


def _in_url(text: str) -> str:
    try:
        url = urlsplit(text if "://" in text else f"https://{text}")
    except ValueError:  # brackets that don't enclose an IP address
        return ""
    if url.hostname not in _HOSTS:
        return ""
    match = _IN_PATH.search(url.path)
    query_id = parse_qs(url.query).get("id", [""])[0]
    if match or _ID.fullmatch(query_id):
        return match[1] if match else query_id
    return MY_DRIVE if url.path.rstrip("/").endswith("/my-drive") else ""
