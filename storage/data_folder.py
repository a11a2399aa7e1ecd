"""What a data folder holds beside its ledger: none of it can answer without that."""

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INDEXES = "indexes"
UPLOADS = "uploads"
KEY_FILE = "encryption.key"


@dataclass(frozen=True, slots=True)
class Remains:
    """What was found in a data folder; empty (false) in a new one."""

    indexes: tuple[Path, ...] = ()
    first_upload: Path | None = None
    key: Path | None = None

    def __bool__(self) -> bool:
        return bool(self.indexes or self.first_upload or self.key)


def found_in(data_dir: Path) -> list[str]:
    """What a library has left in the folder, with counts, for people; looks at every file."""
    remains = remains_in(data_dir)
    found = []
    if remains.indexes:
        folders, passages = len(remains.indexes), sum(map(_passages, remains.indexes))
        found.append(f"index folders: {folders} (passages: {passages})")
    if remains.first_upload:
        files = sum(1 for _ in _files(data_dir / UPLOADS))
        found.append(f"uploaded files: {files}")
    if remains.key:
        found.append(KEY_FILE)
    return found


def remains_in(data_dir: Path) -> Remains:
    """What a library has left in the folder; cheap, however large that is.

    An index folder without a file in it is none: its row in the ledger comes next.
    """
    folders = sorted((data_dir / INDEXES).glob("*"))
    key = data_dir / KEY_FILE
    return Remains(
        tuple(folder for folder in folders if any(_files(folder))),
        next(_files(data_dir / UPLOADS), None),
        key if key.is_file() else None,
    )


def _files(folder: Path) -> Iterator[Path]:
    for root, _, names in os.walk(folder):
        yield from (Path(root, name) for name in names)


def _passages(index: Path) -> int:
    """How many passages the keyword index says it holds; 0 where it can't be read."""
    try:
        described = json.loads((index / "keywords" / "index" / "meta.json").read_bytes())
        return sum(_alive(segment) for segment in described["segments"])
    except (OSError, ValueError, LookupError, TypeError):
        return 0


def _alive(segment: Mapping[str, Any]) -> int:
    deletes = segment["deletes"] or {"num_deleted_docs": 0}
    return int(segment["max_doc"]) - int(deletes["num_deleted_docs"])
