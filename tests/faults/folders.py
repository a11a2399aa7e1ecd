"""Folders whose documents are added, edited, and deleted all the time; each text is unique."""

import hashlib
import os
import random
from collections.abc import Sequence
from pathlib import Path

from benchmarks.crash.scene import WORDS, texts_in

_LEAST, _MOST = 30, 60
_WORDS = 40, 400


class Folder:
    """A folder of documents; the next edition of any of them has a higher number.

    Documents about gates never change, and answer a question each.
    """

    def __init__(self, path: Path, gates: Sequence[str], seed: int) -> None:
        self.path = path
        self.codes: dict[str, str] = {}
        """The access codes of the gates."""
        self.editions: dict[str, int] = {}
        """The edition of each version that was ever written."""
        self.changes = {"add": 0, "edit": 0, "delete": 0}
        self._random = random.Random(f"{seed} {path.name}")
        path.mkdir()
        for gate in gates:
            self._write_gate(gate)
        while len(self._notes()) < (_LEAST + _MOST) // 2:
            self._add()

    @property
    def texts(self) -> dict[str, str]:
        """What the library must contain, by key."""
        return texts_in(self.path)

    def change(self) -> None:
        """Add, edit, or delete a document; only editing leaves their number alone."""
        notes = self._notes()
        may = [
            *(["edit"] * 3),
            *(["add"] if len(notes) < _MOST else []),
            *(["delete"] if len(notes) > _LEAST else []),
        ]
        kind = self._random.choice(may)
        self.changes[kind] += 1
        if kind == "add":
            self._add()
        elif kind == "edit":
            self.edit(self._random.choice(notes).name)
        else:
            self._random.choice(notes).unlink()

    def edit(self, name: str) -> None:
        """Write a new edition of a document."""
        edition = len(self.editions) + 1
        words = " ".join(self._random.choices(WORDS, k=self._random.randint(*_WORDS)))
        text = f"# {name}\n\nEdition {edition} has the code {self._code()}. {words}.\n"
        self._write(name, text, edition)

    def _add(self) -> None:
        self.edit(f"note-{len(self.editions):05}.md")

    def _write_gate(self, gate: str) -> None:
        self.codes[gate] = self._code()
        text = f"# The {gate} gate\n\nThe access code of the {gate} gate is {self.codes[gate]}.\n"
        self._write(f"gate-{gate}.md", text, len(self.editions) + 1)

    def _write(self, name: str, text: str, edition: int) -> None:
        """Replace the file at once, so that no import reads a half one."""
        self.editions[hashlib.sha256(text.encode()).hexdigest()] = edition
        temporary = self.path.parent / f".{self.path.name}-{name}"
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, self.path / name)

    def _code(self) -> str:
        return f"zq{self._random.getrandbits(48):012x}"

    def _notes(self) -> list[Path]:
        return sorted(self.path.glob("note-*.md"))
