"""The manifest of a backup: what it contains, and which versions wrote it."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePath
from typing import Any, NamedTuple

from pydantic import AwareDatetime, NonNegativeInt, TypeAdapter, ValidationError

from domain.errors import InputError
from domain.messages import _
from storage.index_reader import READABLE
from storage.ledger.ledger_location import FILE, INDEXES, UPLOADS
from storage.safe_writes import is_below
from storage.settings_file import SETTINGS_FILE

FORMAT = 1
"""Increase it if earlier versions of Footnote can't restore the backups of this one."""

_PROGRAM = "footnote"
_FILES, _FOLDERS = {FILE, SETTINGS_FILE}, {INDEXES, UPLOADS}


class FileEntry(NamedTuple):
    """A file of a backup: its size in bytes, and the SHA-256 of its contents in hex."""

    size: NonNegativeInt
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a backup.

    `library` is the id of the library (`library_id`), `schema` the ledger's migration, and
    `version` that of Footnote. `counts` has the numbers of documents, passages, and so on.
    """

    created_at: AwareDatetime
    library: str
    is_scheduled: bool
    version: str
    schema: str
    counts: Mapping[str, int]
    files: Mapping[str, FileEntry]

    @property
    def size(self) -> int:
        """The total size of the files in bytes."""
        return sum(entry.size for entry in self.files.values())

    def to_json(self) -> bytes:
        """The manifest as it is stored."""
        content = asdict(self) | {"created_at": self.created_at.isoformat()}
        return json.dumps({"program": _PROGRAM, "format": FORMAT, **content}).encode()


_MANIFEST = TypeAdapter(Manifest)


def parse_manifest(data: bytes) -> Manifest:
    """Parse a stored manifest.

    Raises:
        InputError: A newer version of Footnote wrote it.
        ValueError, LookupError, TypeError: It is damaged, or names files that no backup contains.
    """
    content: dict[str, Any] = json.loads(data)
    if content["program"] != _PROGRAM:
        raise ValueError("another program wrote it")
    if not isinstance(content["format"], int):
        raise TypeError("its format is not a number")
    if content["format"] > FORMAT:
        raise InputError(
            _(
                "The backup has format {format}, but this version of Footnote reads only formats up"
                " to {newest}: use Footnote {version} or newer."
            ).format(format=content["format"], newest=FORMAT, version=content["version"])
        )
    manifest = _validate(data)
    for name in manifest.files:
        if not _is_expected(name):
            raise ValueError(f"it contains {name!r}, which is no file of a library")
    return manifest


def _validate(data: bytes) -> Manifest:
    try:
        return _MANIFEST.validate_json(data, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = " ".join(map(str, first["loc"]))
        raise ValueError(f"its manifest is wrong: {where}: {first['msg']}") from error


def _is_expected(name: str) -> bool:
    """Whether it is a path that a library has and that does not lead out of its folder."""
    path = PurePath(name)
    if not is_below(path) or path.as_posix() != name:
        return False
    if path.parts[:1] == (INDEXES,) and path.name.rstrip(". ").casefold() == READABLE:
        return False  # whoever wrote the backup can't know that this machine can read the index
    return name in _FILES or (len(path.parts) > 1 and path.parts[0] in _FOLDERS)
