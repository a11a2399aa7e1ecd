"""A guard against the one damage that kills the process which reads it.

A full disk leaves files of 0 bytes in a Deep Lake dataset; reading such a column is a
segmentation fault. But a writer that was killed leaves them too, where no row refers to them.
Only reading tells the two apart, so another process reads first.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from storage.disk import unusable

READING_TIMEOUT_S = 120
_READ_EVERYTHING = """
import sys
from storage.deep_lake import load
dataset = load().open_read_only(sys.argv[1])
for column in ("id", "text", "embedding", "metadata"):
    dataset[column][:]
"""


def refuse_dangerous(folder: Path, rows: Path) -> None:
    """Make sure that reading the dataset in `rows` doesn't kill this process.

    Raises:
        StorageError: It would.
    """
    empty = list(_empty_files(rows))
    if empty and not _survives_reading(rows):
        why = f"{len(empty)} of its files are empty, which is what a full disk leaves behind"
        raise unusable("passages", folder, why)


def _empty_files(rows: Path) -> Iterator[Path]:
    """Files without content apart from the log, whose lock files are always empty."""
    for folder, folders, names in os.walk(rows):
        if "_deeplake_log" in folders:
            folders.remove("_deeplake_log")
        for name in names:
            if os.path.getsize(os.path.join(folder, name)) == 0:
                yield Path(folder, name)


def _survives_reading(rows: Path) -> bool:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    command = [sys.executable, "-c", _READ_EVERYTHING, str(rows.absolute())]
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter and program
            command, env=environment, capture_output=True, timeout=READING_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0
