"""What of a Drive is imported, as a person gives it: folders, files, shared drives, types."""

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import parse_qs, urlsplit

from errors import SourceError
from loaders.formats import SUFFIXES

MY_DRIVE = "root"
"""The name by which Drive knows the topmost folder of whoever is signed in."""
_ID = re.compile(r"[A-Za-z0-9_-]{10,}")
_IN_PATH = re.compile(r"/(?:folders|d)/([A-Za-z0-9_-]{10,})(?:/|$)")
_HOSTS = ("drive.google.com", "docs.google.com")


class DriveScope(StrEnum):
    """What is imported."""

    FOLDERS = "folders"
    FILES = "files"
    DRIVES = "drives"


@dataclass(frozen=True, slots=True)
class DriveWanted:
    """The ids of what is imported, and of which types (`pdf`, `gdoc` ...; none is all)."""

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
    ) -> "DriveWanted":
        """Take what a person filled in: URLs or ids, and ends of names with a dot or without.

        Raises:
            SourceError: No such scope, a text that names nothing in Drive, or none at all.
        """
        given = {"folders": folders, "files": files, "drives": drives}.get(scope)
        if given is None:
            raise SourceError(f"{scope!r} is not a part of Google Drive that can be imported.")
        ids = tuple(dict.fromkeys(drive_id(text) for text in given if text.strip()))
        if not ids:
            raise SourceError(
                "Say what to import: the address of a folder, a file or a shared drive."
            )
        wanted = (text.strip().lstrip(".").lower() for text in types)
        return cls(DriveScope(scope), ids, frozenset(text for text in wanted if text))

    def takes(self, kind: str) -> bool:
        """Whether documents of this type are imported."""
        return not self.types or kind in self.types

    def fingerprint(self, max_bytes: int) -> str:
        """Changes whenever another listing would come of the same Drive."""
        told = [self.scope, self.ids, sorted(self.types), max_bytes, sorted(SUFFIXES)]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]


def drive_id(text: str) -> str:
    """The id in a URL of Drive or of its editors, or the id itself.

    Raises:
        SourceError: There is none in it.
    """
    text = text.strip()
    if _ID.fullmatch(text) or text == MY_DRIVE:
        return text
    if found := _in_url(text):
        return found
    raise SourceError(
        f"{text} is neither an address of Google Drive nor an id: open the folder or file in the"
        " browser and copy its address."
    )


def _in_url(text: str) -> str:
    try:
        url = urlsplit(text if "://" in text else f"https://{text}")
    except ValueError:  # brackets, which addresses have about numbers only
        return ""
    if url.hostname not in _HOSTS:
        return ""
    told = _IN_PATH.search(url.path)
    asked = parse_qs(url.query).get("id", [""])[0]
    if told or _ID.fullmatch(asked):
        return told[1] if told else asked
    return MY_DRIVE if url.path.rstrip("/").endswith("/my-drive") else ""
