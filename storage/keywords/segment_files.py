"""The files of a tantivy index.

Segments and their lists of deletions are written once and deleted when they are merged. The
mutable files are `meta.json`, which lists the segments, and `.managed.json`, which lists all files;
commits and merges replace both.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from storage.index_files import FileList, IndexFiles, file_digest, stamp_of

_FILES = "index"
_META = f"{_FILES}/meta.json"
_MANAGED = f"{_FILES}/.managed.json"


class SegmentFiles(IndexFiles):
    """The files of the keyword index."""

    what = "keyword index"
    head = _META

    def _immutable_files(self) -> Iterable[str]:
        deletions = _deletions(self._meta())
        return [
            f"{_FILES}/{file.name}"
            for file in (self.folder / _FILES).iterdir()
            if _is_referenced(file.name, deletions)
        ]

    def _state(self) -> dict[str, Any]:
        return {"opstamp": self._meta()["opstamp"], "meta": self._meta_checksum()}

    def _references(self, listed: FileList) -> Iterable[str]:
        deletions = _deletions(self._meta())
        return [name for name in listed.files if _is_referenced(name.rpartition("/")[2], deletions)]

    def _state_problems(self, listed: FileList) -> Iterator[str]:
        meta = self._meta()
        deletions = _deletions(meta)
        for segment in deletions:
            name = f"{_FILES}/{segment}.store"
            if name not in listed.files and not (self.folder / name).exists():
                yield f"{_META} names {name}, which is missing"
        referenced = set(self._references(listed))
        managed = {f"{_FILES}/{name}" for name in self._json(_MANAGED, list)}
        if not {_META, *referenced} <= managed:
            yield f"{_MANAGED} does not name all files of the index"
        if self._is_as_listed(listed) and self._meta_checksum() != listed.state.get("meta"):
            yield f"{_META} is damaged: its checksum differs"

    def _unlisted(self, listed: FileList) -> str:
        """The checksum of `meta.json`, unless it is the one of the list."""
        return "" if self._is_as_listed(listed) else self._meta_checksum()

    def _is_as_listed(self, listed: FileList) -> bool:
        meta = self._meta()
        deletions = _deletions(meta)
        return (
            set(self._references(listed)) == listed.files.keys()
            and _are_listed(deletions, listed)
            and meta.get("opstamp") == listed.state.get("opstamp")
        )

    def _stamp(self) -> tuple[int, int, int] | None:
        return stamp_of(self.folder / _META)

    def _meta(self) -> Any:
        return self._json(_META, dict)

    def _json(self, name: str, kind: type) -> Any:
        try:
            content = json.loads((self.folder / name).read_bytes())
        except (OSError, ValueError, RecursionError) as error:
            raise ValueError(f"{name} can't be read ({error})") from error
        if not isinstance(content, kind):
            raise ValueError(f"{name} is damaged")  # noqa: TRY004 - every damaged file is the same error
        return content

    def _meta_checksum(self) -> str:
        return file_digest(self.folder / _META).checksum


def _deletions(meta: Any) -> dict[str, str]:
    """By segment, the file with its deletions; "" if there is none.

    Raises:
        ValueError: `meta` is damaged.
    """
    by_segment = {}
    try:
        for one in meta["segments"]:
            segment, deletes = one["segment_id"].replace("-", ""), one["deletes"]
            by_segment[segment] = f"{segment}.{deletes['opstamp']}.del" if deletes else ""
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{_META} is damaged") from error
    return by_segment


def _is_referenced(file: str, deletions: Mapping[str, str]) -> bool:
    """Whether the file belongs to a segment; a list of deletions must also be current."""
    segment, *rest = file.split(".")
    return segment in deletions and (len(rest) == 1 or file == deletions[segment])


def _are_listed(deletions: Mapping[str, str], listed: FileList) -> bool:
    """Whether the list contains all segments and deletions, which means that it is up to date."""
    names = [*(f"{segment}.store" for segment in deletions), *filter(None, deletions.values())]
    return all(f"{_FILES}/{name}" in listed.files for name in names)
