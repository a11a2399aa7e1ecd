"""The Deep Lake dataset that holds passages. Not safe for threads: `PassageRows` sees to that."""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from domain import Metadata
from errors import StorageError
from storage.changes import Change, Changes
from storage.commit_log import fill_gaps
from storage.deep_lake import load
from storage.disk import unusable, unwritable
from storage.empty_files import refuse_dangerous
from storage.new_rows import NewRows
from storage.passage_format import checked_dimension, describe, schema

_NOT_EMPTY = "\0"
"""Put before a text that is empty, or begins with it: Deep Lake gives None for an empty text, as
it does for one that is missing."""


class PassageDataset:
    """A Deep Lake dataset of passages in `folder`/rows, described by `folder`/format.json.

    Rows are in the order they were written. A handle sees what others commit only after
    `refresh`; offsets into it hold until then.
    """

    def __init__(self, folder: Path, dataset: Any, dimension: int) -> None:
        self.folder = folder
        self.dimension = dimension
        self._dataset = dataset
        self._changes = Changes(folder)

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether a dataset was ever completed there; does not import deeplake."""
        return (folder / "rows").exists()

    @classmethod
    def open(cls, folder: Path, *, read_only: bool) -> "PassageDataset":
        """Open an existing dataset.

        Raises:
            StorageError: It is damaged, or of another version.
        """
        dimension = checked_dimension(folder)
        refuse_dangerous(folder, folder / "rows")
        deeplake = load()
        with _reading(folder):
            opener = deeplake.open_read_only if read_only else deeplake.open
            return cls(folder, opener(str(folder / "rows")), dimension)

    @classmethod
    def create(cls, folder: Path, dimension: int) -> "PassageDataset":
        """Make an empty dataset; one that a killed process left half-made is started anew.

        Raises:
            StorageError: The folder can't be written to.
        """
        deeplake = load()
        unfinished = folder / "rows.new"
        with _writing(folder):
            describe(folder, dimension)
            shutil.rmtree(unfinished, ignore_errors=True)
            made = deeplake.create(str(unfinished), schema=schema(deeplake.types, dimension))
            made.commit()
            del made
            unfinished.rename(folder / "rows")
        return cls.open(folder, read_only=False)

    @property
    def version(self) -> str:
        """Names the state that this handle sees; every commit gives another one."""
        return str(self._dataset.version)

    def refresh(self) -> None:
        """See what other processes committed."""
        with _reading(self.folder):
            self._dataset.refresh()

    def ids(self) -> list[str]:
        """The id of every row."""
        with _reading(self.folder):
            ids = list(self._dataset["id"][:])
        return self._whole(ids)

    def metadata(self) -> Iterator[Metadata]:
        """The metadata of every row."""
        with _reading(self.folder):
            column = self._dataset["metadata"][:]
        return map(self._parsed, column)

    def changed_since(self, version: str, rows: int) -> tuple[list[int], NewRows] | None:
        """The rows of an earlier state that are gone, and those at the end that are new.

        None where that is not known any more, and everything is to be read. The new rows are
        without their texts, which are not kept in memory.
        """
        change = self._changes.between(version, self.version, rows)
        with _reading(self.folder):
            total = len(self._dataset)
        start = rows if change is None else rows - len(change.gone)
        if change is None or start + change.added != total:
            return None
        return list(change.gone), self._rows_from(start, total)

    def _rows_from(self, start: int, stop: int) -> NewRows:
        if start == stop:
            return NewRows([], [], np.empty((0, self.dimension), np.float32), [])
        with _reading(self.folder):
            ids = self._whole(list(self._dataset["id"][start:stop]))
            metadata = list(self._dataset["metadata"][start:stop])
        return NewRows(ids, [""] * len(ids), self.vectors(start, stop), metadata)

    def vectors(self, start: int, stop: int) -> npt.NDArray[np.float32]:
        """The vectors of a run of rows, as they were given."""
        with _reading(self.folder):
            found = np.asarray(self._dataset["embedding"][start:stop], dtype=np.float32)
            return found.reshape(stop - start, self.dimension)

    def vectors_at(self, rows: list[int]) -> npt.NDArray[np.float32]:
        """The vectors of these rows, in the order asked, as they were given."""
        with _reading(self.folder):
            vectors = [np.asarray(vector, np.float32) for vector in self._at("embedding", rows)]
            return np.stack(vectors).reshape(len(rows), self.dimension)

    def texts_and_metadata(self, rows: list[int]) -> list[tuple[str, Metadata]]:
        """Text and metadata of these rows, in the order asked."""
        if not rows:
            return []
        with _reading(self.folder):
            texts, metadata = self._at("text", rows), self._at("metadata", rows)
        whole = [text.removeprefix(_NOT_EMPTY) for text in self._whole(texts)]
        return list(zip(whole, map(self._parsed, metadata), strict=True))

    def write(self, gone: Sequence[int], new: NewRows | None) -> None:
        """Delete rows and append others in one commit, as the holder of the writer lock.

        Raises:
            StorageError: It failed; none of it is kept, and this handle must be opened again.
        """
        before = self.version  # with changes not committed yet it is another
        with _writing(self.folder):
            fill_gaps(self.folder / "rows")
            for row in sorted(gone, reverse=True):  # a deletion moves the rows behind it
                self._dataset.delete(row)
            if new is not None:
                self._dataset.append(_columns(new))
            self._dataset.commit()
        with suppress(OSError):  # the commit stands; without its note others read everything
            self._changes.note(before, self.version, Change(gone, len(new.ids) if new else 0))

    def _at(self, column: str, rows: list[int]) -> list[Any]:
        """The values of these rows, read in row order: any other is a hundred times slower."""
        ascending = sorted(set(rows))
        values = dict(zip(ascending, self._dataset[column][ascending], strict=True))
        return [values[row] for row in rows]

    def _whole(self, column: list[str]) -> list[str]:
        """The column, once it is sure that no value is missing; we never write an empty one."""
        if None in column:
            raise unusable("passages", self.folder, "a commit is there only in part")
        return column

    def _parsed(self, json_: str) -> Metadata:
        with _reading(self.folder):
            metadata: Metadata = json.loads(json_)
            return metadata


def _columns(new: NewRows) -> dict[str, Any]:
    return {
        "id": list(new.ids),
        "text": [_never_empty(text) for text in new.texts],
        "embedding": new.vectors,
        "metadata": list(new.metadata),
    }


def _never_empty(text: str) -> str:
    return text if text and not text.startswith(_NOT_EMPTY) else _NOT_EMPTY + text


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """The boundary to deeplake, which raises bare RuntimeError, KeyError and a hundred others."""
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        raise unusable("passages", folder, f"reading failed ({error})") from error


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    """The same boundary around a commit."""
    try:
        yield
    except StorageError:
        raise
    except Exception as error:
        raise unwritable("passages", folder, error) from error
