"""Notes of what each commit changed, so that other processes need not read everything again."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

KEPT = 256
"""So many notes are kept; whoever is further behind reads everything."""

MOST_GONE = 10_000
"""A commit that deletes more rows leaves no note: reading everything is as quick."""


@dataclass(frozen=True, slots=True)
class Change:
    """From the state before to the state after: rows `gone` of the one, `added` at the end."""

    gone: Sequence[int]
    added: int


class Changes:
    """The notes of one dataset, a small file for each state that was followed by another.

    A note is written after its commit, by the holder of the writer lock. Where one is missing,
    because its writer was killed or it is old, nothing but time is lost.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "changes"

    def note(self, before: str, after: str, change: Change) -> None:
        """Note what a commit changed; the oldest notes are dropped.

        Raises:
            OSError: The folder can't be written.
        """
        if len(change.gone) > MOST_GONE:
            return
        self._folder.mkdir(exist_ok=True)
        written = {"after": after, "gone": sorted(change.gone), "added": change.added}
        temporary = self._folder / f"{before}.new"
        temporary.write_text(json.dumps(written), encoding="utf-8")
        temporary.replace(self._folder / f"{before}.json")
        for old in sorted(self._folder.glob("*.json"))[:-KEPT]:
            old.unlink(missing_ok=True)

    def between(self, before: str, after: str, rows: int) -> Change | None:
        """All that changed from one state, of so many rows, to another, as a single change.

        None where a note is missing or does not fit, and everything is to be read.
        """
        # The row of the first state that stands at each place now; -1 for a new one.
        now = np.arange(rows)
        for _ in range(KEPT):
            if before == after:
                kept = now[now >= 0]
                gone = np.setdiff1d(np.arange(rows), kept, assume_unique=True)
                return Change(gone.tolist(), len(now) - len(kept))
            found = self._read(before)
            if found is None:
                return None
            before, change = found
            if change.gone and change.gone[-1] >= len(now):
                return None
            now = np.append(np.delete(now, change.gone), np.full(change.added, -1))
        return None

    def _read(self, before: str) -> tuple[str, Change] | None:
        try:
            text = (self._folder / f"{before}.json").read_text(encoding="utf-8")
            found = json.loads(text)
            return str(found["after"]), Change(list(map(int, found["gone"])), int(found["added"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None
