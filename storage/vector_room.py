"""Room for the vectors of an index: in memory or, for many, in the system's file cache."""

import logging
import mmap
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from storage.disk import SPARE_BYTES

logger = logging.getLogger(__name__)

Matrix = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

MAPPED_FROM = 50_000
"""Rows from which a file is used. Where there are fewer, every search reads them all."""

_SCANNED_AT_ONCE = 16_384
"""Rows in a run that are read before their memory is let go: 24 MiB of vectors."""

_GATHERED_AT_ONCE = 64
"""The same for rows here and there, with each of which the system maps up to 1 MiB around it."""


class VectorRoom:
    """A matrix that one process fills and reads.

    Where it is a file, this file has no name, ends with the process and is mapped: what is read
    counts as memory of the process only until `release`, and the system may write it to the disk
    and take its memory whenever others need it.
    """

    def __init__(self, rows: int, dimension: int, folder: Path | None = None) -> None:
        """Make a matrix whose numbers are undefined.

        Args:
            rows: Its length.
            dimension: Its width.
            folder: On the disk for the file; None keeps everything in memory.
        """
        self._folder = folder
        self._map: mmap.mmap | None = None
        if folder is not None and rows >= MAPPED_FROM:
            self._map = _mapped(folder, rows * dimension * np.dtype(np.float32).itemsize)
        self.matrix: Matrix = np.ndarray((rows, dimension), np.float32, self._map)

    def another(self, rows: int) -> "VectorRoom":
        """A matrix of another length in the same place."""
        return VectorRoom(rows, self.matrix.shape[1], self._folder)

    def rows(self, places: Rows) -> Matrix:
        """A copy of the rows at these places, in their order."""
        found = np.empty((len(places), self.matrix.shape[1]), np.float32)
        for start in range(0, len(places), _GATHERED_AT_ONCE):
            part = slice(start, start + _GATHERED_AT_ONCE)
            found[part] = self.matrix[places[part]]
            self.release()
        return found

    def products(self, query: Matrix, start: int, stop: int) -> Matrix:
        """The inner products of a run of rows with the query."""
        found = np.empty(max(0, stop - start), np.float32)
        for first in range(start, stop, _SCANNED_AT_ONCE):
            last = min(first + _SCANNED_AT_ONCE, stop)
            # It takes half the time of `@`, which is made for matrices on both sides.
            np.vecdot(self.matrix[first:last], query, out=found[first - start : last - start])
            self.release()
        return found

    def release(self) -> None:
        """Let go of the memory of what was read or written; the next reader gets it back.

        Safe while other threads read or write.
        """
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)


def _mapped(folder: Path, size: int) -> mmap.mmap | None:
    """A mapped file of that size in the folder; None where there can be none."""
    if not hasattr(os, "posix_fallocate") or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    try:
        if shutil.disk_usage(folder).free < size + SPARE_BYTES:
            return None
        with tempfile.TemporaryFile(dir=folder) as file:
            # Writing into a map whose file finds no room on the disk would kill the process.
            os.posix_fallocate(file.fileno(), 0, size)
            return mmap.mmap(file.fileno(), size)
    except OSError as error:
        logger.info("Vectors are kept in memory, for %s takes no file: %s", folder, error)
        return None
