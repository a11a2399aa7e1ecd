"""Reads all vectors of a dataset without leaving a second copy of them in memory."""

from storage.passage_dataset import PassageDataset
from storage.vector_room import Matrix

ROWS_PER_HANDLE = 16_384
"""Rows that one handle reads: 24 MiB of vectors, against a twentieth of a second to open one."""


class VectorReader:
    """Reads the vectors of the state that a dataset's handle sees, from the first row on.

    Deep Lake keeps whatever a handle has read until the handle is gone and another one is opened.
    So many vectors are read through handles of their own, each for some of the rows.
    """

    def __init__(self, dataset: PassageDataset, rows: int) -> None:
        self._dataset = dataset
        self._handle = dataset
        self._read_until = rows if rows <= ROWS_PER_HANDLE else 0

    def read(self, start: int, stop: int) -> Matrix:
        """The vectors of the rows from `start` up to `stop`, as they were given."""
        if start >= self._read_until:
            self._handle = self._dataset  # the one before is gone before the next is opened
            self._handle = self._opened()
            self._read_until = start + ROWS_PER_HANDLE
        return self._handle.vectors(start, stop)

    def _opened(self) -> PassageDataset:
        opened = PassageDataset.open(self._dataset.folder, read_only=True)
        # Another process may just have committed: its rows lie elsewhere.
        return opened if opened.version == self._dataset.version else self._dataset
