"""The files of a tantivy index.

Segments and their lists of deletions are written once each, and deleted when they are merged.
What changes is `meta.json`, which names them, and `.managed.json`, which names all files: both are
replaced by each commit, and by merges.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from storage.checksums import FileList, written_as
from storage.index_files import IndexFiles, stamp_of

_FILES = "index"
_META = f"{_FILES}/meta.json"
_MANAGED = f"{_FILES}/.managed.json"


class SegmentFiles(IndexFiles):
    """The files of the keyword index."""

    what = "keyword index"
    head = _META

    def _unchanging(self) -> Iterable[str]:
        deletions = _deletions(self._meta())
        return [
            f"{_FILES}/{file.name}"
            for file in (self.folder / _FILES).iterdir()
            if _is_named(file.name, deletions)
        ]

    def _state(self) -> dict[str, Any]:
        return {"opstamp": self._meta()["opstamp"], "meta": self._meta_checksum()}

    def _referenced(self, listed: FileList) -> Iterable[str]:
        deletions = _deletions(self._meta())
        return [name for name in listed.files if _is_named(name.rpartition("/")[2], deletions)]

    def _wrong_state(self, listed: FileList) -> Iterator[str]:
        meta = self._meta()
        deletions = _deletions(meta)
        for segment in deletions:
            name = f"{_FILES}/{segment}.store"
            if name not in listed.files and not (self.folder / name).exists():
                yield f"{_META} names {name}, which is missing"
        referenced = set(self._referenced(listed))
        managed = {f"{_FILES}/{name}" for name in self._json(_MANAGED, list)}
        if not {_META, *referenced} <= managed:
            yield f"{_MANAGED} lacks files of the index"
        is_as_listed = (
            referenced == listed.files.keys()
            and _are_listed(deletions, listed)
            and meta.get("opstamp") == listed.state["opstamp"]
        )
        if is_as_listed and self._meta_checksum() != listed.state["meta"]:
            yield f"{_META} is not what was written: its checksum differs"

    def _stamp(self) -> tuple[int, int, int] | None:
        return stamp_of(self.folder / _META)

    def _meta(self) -> Any:
        return self._json(_META, dict)

    def _json(self, name: str, kind: type) -> Any:
        try:
            found = json.loads((self.folder / name).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            message = f"{name} can't be read ({error})"
            raise ValueError(message) from error
        if not isinstance(found, kind):
            message = f"{name} is not what was written"
            raise ValueError(message)  # noqa: TRY004 - every damaged file is the same error
        return found

    def _meta_checksum(self) -> str:
        return written_as(self.folder / _META).checksum


def _deletions(meta: Any) -> dict[str, str]:
    """By segment, the file of its deletions; "" where it has none.

    Raises:
        ValueError: It is damaged.
    """
    found = {}
    try:
        for one in meta["segments"]:
            segment, deletes = one["segment_id"].replace("-", ""), one["deletes"]
            found[segment] = f"{segment}.{deletes['opstamp']}.del" if deletes else ""
    except (KeyError, TypeError, AttributeError) as error:
        message = f"{_META} is not what was written"
        raise ValueError(message) from error
    return found


def _is_named(file: str, deletions: Mapping[str, str]) -> bool:
    """Whether the file is one of a segment's, or its deletions of now."""
    segment, *rest = file.split(".")
    return segment in deletions and (len(rest) == 1 or file == deletions[segment])


def _are_listed(deletions: Mapping[str, str], listed: FileList) -> bool:
    """Whether the list knows all segments and deletions, and so was made after them."""
    names = [*(f"{segment}.store" for segment in deletions), *filter(None, deletions.values())]
    return all(f"{_FILES}/{name}" in listed.files for name in names)
