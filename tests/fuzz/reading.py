"""Reads mutants as an import does, and says what became of them."""

import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from random import Random

from domain.errors import UnreadableError
from loaders import document_reader
from loaders.confluence.confluence_loader import read_storage
from loaders.document_reader import Limits
from loaders.formats.content import clean
from tests.fuzz.mutations import mutated
from tests.fuzz.seeds import STORAGE, seed_of
from tests.loaders.confluence.storage_format.site import Site

LIMITS = Limits()
EXCEEDED = ("processor", "elapsed", "memory", "text")


@dataclass(frozen=True)
class Mutant:
    """The `index`-th mutant of a format; the same seed gives the same one."""

    suffix: str
    index: int
    seed: int

    def data(self) -> bytes:
        random = Random(f"{self.seed} {self.suffix} {self.index}")
        return mutated(seed_of(self.suffix), self.suffix, random)

    @property
    def name(self) -> str:
        return f"{self.seed}-{self.index}{self.suffix}"


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    `kind` is text, rejected, a limit, or crashed, which import reports explain, or failed, which
    must not occur. `peak_kib` is the largest memory of a reader process so far.
    """

    mutant: Mutant
    kind: str
    reason: str = ""
    seconds: float = 0.0
    peak_kib: int = 0


def outcome_of(mutant: Mutant) -> Outcome:
    """Read a mutant in the reader process of this process."""
    data, start = mutant.data(), time.monotonic()
    kind, reason = _read(mutant, data)
    seconds = time.monotonic() - start
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if seconds > LIMITS.elapsed_s or peak > LIMITS.memory_bytes(len(data)) // 1024:
        kind, reason = "failed", f"{seconds:.0f} s, {peak} KiB: {reason}"
    return Outcome(mutant, kind, reason, seconds, peak)


def _read(mutant: Mutant, data: bytes) -> tuple[str, str]:
    try:
        text = _text(mutant, data)
    except UnreadableError as error:
        return _kind_of(str(error), len(data)), str(error)
    except BaseException as error:  # noqa: BLE001  # this is what the program looks for
        return "failed", f"{type(error).__name__}: {error}"
    is_clean = mutant.suffix == STORAGE or (text == clean(text) and text.strip())
    return ("text", "") if is_clean else ("failed", f"not clean: {text[:80]!r}")


def _text(mutant: Mutant, data: bytes) -> str:
    if mutant.suffix == STORAGE:
        return read_storage(data.decode("utf-8", "replace"), Site())
    return document_reader.read_document(mutant.name, data).page_content


def _kind_of(reason: str, size: int) -> str:
    if "the process that reads it failed" in reason:
        return "crashed"
    exceeded = [limit for limit in EXCEEDED if LIMITS.message(limit, size) == reason]
    return exceeded[0] if exceeded else "rejected"


def save(outcome: Outcome, folder: Path) -> Path:
    """Save the mutant's file for another try, and return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / outcome.mutant.name
    path.write_bytes(outcome.mutant.data())
    print(f"{outcome.kind}: {path}: {outcome.reason}", file=sys.stderr)  # noqa: T201
    return path
