"""Memory for the vectors of an index, which are in a memory-mapped file if there are many."""

import mmap
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from domain.logs import get_logger
from storage.disk import SPARE_BYTES

logger = get_logger("storage")

Matrix = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

MAPPED_FROM = 50_000
"""Minimum number of rows for a file; with fewer rows, every search reads all of them."""

_SCANNED_AT_ONCE = 16_384
"""Consecutive rows read before their memory is released: 24 MiB of vectors."""

_GATHERED_AT_ONCE = 64
"""The same for scattered rows; the system maps up to 1 MiB for each."""


class VectorMatrix:
    """A matrix that one process fills and reads.

    Its file, if any, is memory-mapped, has no name, and is deleted when the process ends. Its pages
    count as memory of the process only until `release`, and the system may write them to disk when
    it needs memory.
    """

    def __init__(self, rows: int, dimension: int, folder: Path | None = None) -> None:
        """Create an uninitialized matrix.

        Args:
            rows: The number of rows.
            dimension: The number of columns.
            folder: The folder for the file; None keeps everything in memory.
        """
        self._folder = folder
        self._map: mmap.mmap | None = None
        if folder is not None and rows >= MAPPED_FROM:
            self._map = _map_file(folder, rows * dimension * np.dtype(np.float32).itemsize)
        self.values: Matrix = np.ndarray((rows, dimension), np.float32, self._map)

    def with_rows(self, rows: int) -> "VectorMatrix":
        """A new matrix with another number of rows in the same folder."""
        return VectorMatrix(rows, self.values.shape[1], self._folder)

    def rows(self, positions: Rows) -> Matrix:
        """A copy of the rows at these positions, in this order."""
        copy = np.empty((len(positions), self.values.shape[1]), np.float32)
        for start in range(0, len(positions), _GATHERED_AT_ONCE):
            part = slice(start, start + _GATHERED_AT_ONCE)
            copy[part] = self.values[positions[part]]
            self.release()
        return copy

    def products(self, query: Matrix, start: int, stop: int) -> Matrix:
        """The inner products of a range of rows with the query."""
        result = np.empty(max(0, stop - start), np.float32)
        for first in range(start, stop, _SCANNED_AT_ONCE):
            last = min(first + _SCANNED_AT_ONCE, stop)
            # Twice as fast as `@`, which is optimized for matrices on both sides.
            np.vecdot(self.values[first:last], query, out=result[first - start : last - start])
            self.release()
        return result

    def release(self) -> None:
        """Release the memory of pages that were read or written; they are reloaded on demand.

        Thread-safe.
        """
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)


def _map_file(folder: Path, size: int) -> mmap.mmap | None:
    """A memory-mapped file of this size in the folder; None if it can't be created."""
    if not hasattr(os, "posix_fallocate") or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    try:
        if shutil.disk_usage(folder).free < size + SPARE_BYTES:
            return None
        with tempfile.TemporaryFile(dir=folder) as file:
            # Reserve the space, because writing to a mapped file on a full disk would crash.
            os.posix_fallocate(file.fileno(), 0, size)
            return mmap.mmap(file.fileno(), size)
    except OSError as error:
        logger.info("Vectors are kept in memory, because %s can't hold a file: %s", folder, error)
        return None
