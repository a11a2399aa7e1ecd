"""Mending what a killed writer leaves in the commit log of a Deep Lake dataset.

A commit first takes the next number and then writes the log file of that number. A writer that
dies in between leaves a number without a file, and from then on every commit which deletes rows
waits two seconds for it. An empty file in its place says that nothing was committed.

This knows the files of exactly the version that `PassageDataset` insists on.
"""

from pathlib import Path

_SUFFIX = "m00000000.jsonl.lz4"
_DIGITS = 10


def fill_gaps(rows: Path) -> None:
    """Put an empty log file where a number was taken and never used.

    Only for the holder of the writer lock: for a commit under way it would be a gap as well.
    """
    for log in (rows / "_deeplake_log").iterdir():
        if log.name != "_meta":
            for number in _unused(log):
                (log / f"{number:0{_DIGITS}}{_SUFFIX}").touch()


def _unused(log: Path) -> set[int]:
    used = {int(file.name[:_DIGITS]) for file in log.glob("[0-9]*")}
    upcoming = int.from_bytes((log / "next_base").read_bytes(), "little")
    return set(range(min(used), upcoming)) - used
