"""The list of a store's files, with the size and the checksum that each was written with.

XXH3 reads about as fast as memory does: all files of 100,000 passages take some 20 ms.
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

CHECKSUMS = "checksums"
"""The name of the list: on its first line the checksum of the rest, which is JSON."""

_BLOCK = 2**20


class Written(NamedTuple):
    """A file as it was when its commit ended; `size` is in bytes."""

    size: int
    checksum: str


@dataclass(frozen=True)
class FileList:
    """The files of a store that never change, by their paths within its folder.

    `state` describes the files that do change, as their store needs it.
    """

    files: Mapping[str, Written] = field(default_factory=dict)
    state: Mapping[str, Any] = field(default_factory=dict)


def read_list(folder: Path) -> FileList | None:
    """The list in a folder; None where there is none yet.

    Raises:
        ValueError: It is damaged; the message begins with its name.
    """
    try:
        data = (folder / CHECKSUMS).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"{CHECKSUMS} can't be read ({error.strerror})"
        raise ValueError(message) from error
    checksum, _, body = data.partition(b"\n")
    if checksum.decode(errors="replace") != xxhash.xxh3_64_hexdigest(body):
        message = f"{CHECKSUMS} is not what was written: its checksum differs"
        raise ValueError(message)
    found = json.loads(body)
    files = {name: Written(*written) for name, written in found["files"].items()}
    return FileList(files, found["state"])


def write_list(folder: Path, written: FileList) -> None:
    """Replace the list: whoever reads sees the old one or the new one, whole.

    Raises:
        OSError: It can't be written; the old one stands.
    """
    body = json.dumps({"files": written.files, "state": written.state}).encode()
    temporary = folder / f"{CHECKSUMS}.new"
    with temporary.open("wb") as file:
        file.write(xxhash.xxh3_64_hexdigest(body).encode() + b"\n" + body)
        file.flush()
        os.fsync(file.fileno())  # after a power cut an empty list would condemn a sound index
    temporary.replace(folder / CHECKSUMS)


def with_new_files(folder: Path, known: FileList, names: Iterable[str]) -> dict[str, Written]:
    """These files with their sizes and checksums; only those that are not known are read.

    Raises:
        OSError: One can't be read.
    """
    return {name: known.files.get(name) or written_as(folder / name) for name in names}


def written_as(path: Path) -> Written:
    """Size and checksum of a file as it lies on the disk.

    Raises:
        OSError: It can't be read.
    """
    digest, size = xxhash.xxh3_64(), 0
    with path.open("rb", buffering=0) as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return Written(size, digest.hexdigest())
