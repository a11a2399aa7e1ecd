"""The Deep Lake dataset of passages; not thread-safe, so `PassageRows` synchronizes access."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from domain import Metadata
from domain.errors import StorageError
from domain.messages import _
from storage.safe_writes import replace_text, unusable, unwritable
from storage.vectors.deep_lake import FORMAT_FILE, fill_gaps, load
from storage.vectors.new_rows import NewRows

SCHEMA_VERSION = 1


def schema(types: Any, dimension: int) -> dict[str, Any]:
    """Columns without indexes: an indexed vector column returns rows that the filter excludes."""
    return {
        "id": types.Text(),
        "text": types.Text(),
        "embedding": types.Array("float32", [dimension]),
        "metadata": types.Text(),
    }


def describe(folder: Path, dimension: int) -> None:
    """Record the format version, deeplake version, and dimension in the folder."""
    description = {
        "schema": SCHEMA_VERSION,
        "deeplake": load().__version__,
        "dimension": dimension,
    }
    replace_text(folder / FORMAT_FILE, json.dumps(description))


def checked_dimension(folder: Path) -> int:
    """The length of the stored vectors, after checking that the format is supported.

    Raises:
        StorageError: The format is not supported, or the description is missing.
    """
    try:
        description = json.loads((folder / FORMAT_FILE).read_text(encoding="utf-8"))
        stored = (description["schema"], description["deeplake"])
        dimension = int(description["dimension"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unusable(_("passages"), folder, _("format.json is missing or damaged")) from error
    expected = (SCHEMA_VERSION, load().__version__)
    if stored != expected:  # different versions of Deep Lake silently read different rows
        theirs, ours = (
            _("format {schema} by Deep Lake {by}").format(schema=schema, by=by)
            for schema, by in (stored, expected)
        )
        reason = _("it was written as {theirs}, but this version of Footnote uses {ours}").format(
            theirs=theirs, ours=ours
        )
        raise unusable(_("passages"), folder, reason)
    return dimension


MAX_CHANGES = 256
"""The number of recorded changes; processes that lag further behind read everything."""

MAX_DELETED = 10_000
"""Commits that delete more rows are not recorded, because reading everything is as fast."""

MAX_ADDED = 1_000_000
"""If more rows were added, everything is read, because a damaged record may contain any number."""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of state: the row numbers deleted, and the number of rows appended."""

    deleted: Sequence[int]
    added: int


class Changes:
    """The recorded changes of a dataset, one small file for each state with a successor.

    The holder of the writer lock writes the file after its commit. If a file is missing because the
    writer was killed or because the file was too old, processes read everything.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "changes"

    def note(self, before: str, after: str, change: Change) -> None:
        """Record the change of a commit and delete the oldest records.

        Raises:
            OSError: The folder can't be written.
        """
        if len(change.deleted) > MAX_DELETED:
            return
        self._folder.mkdir(exist_ok=True)
        record = {"after": after, "gone": sorted(change.deleted), "added": change.added}
        replace_text(self._folder / f"{before}.json", json.dumps(record))
        for old in sorted(self._folder.glob("*.json"))[:-MAX_CHANGES]:
            old.unlink(missing_ok=True)

    def between(self, before: str, after: str, rows: int) -> Change | None:
        """The combined change from one state with `rows` rows to another.

        None if a record is missing or invalid.
        """
        # For each current row, its row number in the first state, or -1 if it is new.
        current = np.arange(rows)
        for _unused in range(MAX_CHANGES):
            if before == after:
                remaining = current[current >= 0]
                deleted = np.setdiff1d(np.arange(rows), remaining, assume_unique=True)
                return Change(deleted.tolist(), len(current) - len(remaining))
            next_change = self._read(before)
            if next_change is None:
                return None
            before, change = next_change
            if change.deleted and change.deleted[-1] >= len(current):
                return None
            if len(current) + change.added > rows + MAX_ADDED:
                return None
            current = np.append(np.delete(current, change.deleted), np.full(change.added, -1))
        return None

    def _read(self, before: str) -> tuple[str, Change] | None:
        try:
            text = (self._folder / f"{before}.json").read_text(encoding="utf-8")
            record = json.loads(text)
            deleted, added = list(map(int, record["gone"])), int(record["added"])
            if min([added, *deleted]) < 0 or deleted != sorted(set(deleted)):
                return None
            return str(record["after"]), Change(deleted, added)
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return None


_NOT_EMPTY = "\0"
"""Added before texts that are empty or start with it, because Deep Lake returns None for both empty
and missing texts."""


class PassageDataset:
    """A Deep Lake dataset of passages in `folder`/rows, described by `folder`/format.json.

    Rows are in the order in which they were written. A handle sees other commits only after
    `refresh`; row numbers are valid until then.
    """

    def __init__(self, folder: Path, dataset: Any, dimension: int) -> None:
        self.folder = folder
        self.dimension = dimension
        self._dataset = dataset
        self._changes = Changes(folder)

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether a dataset has been created there; does not import deeplake."""
        return (folder / "rows").exists()

    @classmethod
    def open(cls, folder: Path, *, read_only: bool) -> "PassageDataset":
        """Open an existing dataset.

        Raises:
            StorageError: The dataset is damaged or was written by another version.
        """
        dimension = checked_dimension(folder)
        deeplake = load()
        with _reading(folder):
            opener = deeplake.open_read_only if read_only else deeplake.open
            return cls(folder, opener(str(folder / "rows")), dimension)

    @classmethod
    def create(cls, folder: Path, dimension: int) -> "PassageDataset":
        """Create an empty dataset, replacing an incomplete one left by a killed process.

        Raises:
            StorageError: The folder can't be written to.
        """
        deeplake = load()
        unfinished = folder / "rows.new"
        with _writing(folder):
            describe(folder, dimension)
            shutil.rmtree(unfinished, ignore_errors=True)
            dataset = deeplake.create(str(unfinished), schema=schema(deeplake.types, dimension))
            dataset.commit()
            del dataset
            unfinished.rename(folder / "rows")
        return cls.open(folder, read_only=False)

    @property
    def version(self) -> str:
        """The id of the state that this handle sees; it changes with each commit."""
        return str(self._dataset.version)

    def refresh(self) -> None:
        """Load the commits of other processes."""
        with _reading(self.folder):
            self._dataset.refresh()

    def ids(self) -> list[str]:
        """The ids of all rows, in row order."""
        with _reading(self.folder):
            ids = list(self._dataset["id"][:])
        return self._whole(ids)

    def metadata(self) -> Iterator[Metadata]:
        """The metadata of every row."""
        with _reading(self.folder):
            column = self._dataset["metadata"][:]
        return map(self._parse, column)

    def changed_since(self, version: str, rows: int) -> tuple[list[int], NewRows] | None:
        """The row numbers deleted since an earlier state, and the appended rows without texts.

        None if the changes are no longer recorded, so that everything must be read.
        """
        change = self._changes.between(version, self.version, rows)
        with _reading(self.folder):
            total = len(self._dataset)
        start = rows if change is None else rows - len(change.deleted)
        if change is None or start + change.added != total:
            return None
        return list(change.deleted), self._rows_from(start, total)

    def _rows_from(self, start: int, stop: int) -> NewRows:
        if start == stop:
            return NewRows([], [], np.empty((0, self.dimension), np.float32), [])
        with _reading(self.folder):
            ids = self._whole(list(self._dataset["id"][start:stop]))
            metadata = list(self._dataset["metadata"][start:stop])
        return NewRows(ids, [""] * len(ids), self.vectors(start, stop), metadata)

    def vectors(self, start: int, stop: int) -> npt.NDArray[np.float32]:
        """The stored vectors of a range of rows."""
        with _reading(self.folder):
            vectors_read = np.asarray(self._dataset["embedding"][start:stop], dtype=np.float32)
            return vectors_read.reshape(stop - start, self.dimension)

    def vectors_at(self, rows: list[int]) -> npt.NDArray[np.float32]:
        """The stored vectors of these rows, in this order."""
        with _reading(self.folder):
            vectors = [np.asarray(vector, np.float32) for vector in self._at("embedding", rows)]
            return np.stack(vectors).reshape(len(rows), self.dimension)

    def texts_and_metadata(self, rows: list[int]) -> list[tuple[str, Metadata]]:
        """Text and metadata of these rows, in this order."""
        if not rows:
            return []
        with _reading(self.folder):
            texts, metadata = self._at("text", rows), self._at("metadata", rows)
        whole = [text.removeprefix(_NOT_EMPTY) for text in self._whole(texts)]
        return list(zip(whole, map(self._parse, metadata), strict=True))

    def write(self, deleted: Sequence[int], new: NewRows | None) -> None:
        """Delete and append rows in one commit. The caller holds the writer lock.

        Raises:
            StorageError: The commit failed; nothing was saved, and the dataset must be reopened.
        """
        before = self.version  # uncommitted changes modify it
        with _writing(self.folder):
            fill_gaps(self.folder / "rows")
            for row in sorted(deleted, reverse=True):  # a deletion renumbers the rows after it
                self._dataset.delete(row)
            if new is not None:
                self._dataset.append(_columns(new))
            self._dataset.commit()
        with suppress(OSError):  # without a record, other processes read everything
            self._changes.note(before, self.version, Change(deleted, len(new.ids) if new else 0))

    def _at(self, column: str, rows: list[int]) -> list[Any]:
        """The values of these rows, read in row order, which is a hundred times faster."""
        ascending = sorted(set(rows))
        values = dict(zip(ascending, self._dataset[column][ascending], strict=True))
        return [values[row] for row in rows]

    def _whole(self, column: list[str]) -> list[str]:
        """The column, after checking that no value is missing; empty values are never written."""
        if None in column:
            raise unusable(_("passages"), self.folder, _("a commit is incomplete"))
        return column

    def _parse(self, json_: str) -> Metadata:
        with _reading(self.folder):
            metadata: Metadata = json.loads(json_)
            return metadata


def _columns(new: NewRows) -> dict[str, Any]:
    return {
        "id": list(new.ids),
        "text": [_encode_text(text) for text in new.texts],
        "embedding": new.vectors,
        "metadata": list(new.metadata),
    }


def _encode_text(text: str) -> str:
    return text if text and not text.startswith(_NOT_EMPTY) else _NOT_EMPTY + text


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Converts deeplake's errors, which are RuntimeError, KeyError, and many others."""
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        raise unusable(
            _("passages"), folder, _("reading failed ({error})").format(error=error)
        ) from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """Converts deeplake's errors during a commit."""
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        raise unwritable("passages", folder, error) from error
