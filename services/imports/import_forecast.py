"""Forecasts the rest of an import: the passages it will find, and the time it still needs."""

import math
from collections.abc import Iterable, Mapping
from enum import Enum, auto
from pathlib import PurePosixPath

from domain import DocumentRef, Progress, Stage

_PLAIN_TEXT = (".txt", ".md", ".markdown", ".csv", ".tsv", ".json", ".yaml", ".yml")
_BYTES_PER_PASSAGE = dict.fromkeys(_PLAIN_TEXT, 1000)
_BYTES_PER_PASSAGE_OF_OTHERS = 10_000
"""Typical sizes, used until documents of a format have been read."""

_PASSAGES_PER_DOCUMENT = 4.0
_NOTHING_KNOWN: Mapping[str, int] = {}


class PassageForecast:
    """A forecast that becomes more exact with each document that is read.

    The expected number of passages of a document is, in this order of preference:

    1. the known one, from a dry run or the stored version of the document;
    2. its size times the passages per byte of the documents of its format that have been read, or
       a typical density as long as none has been read;
    3. if its size is unknown, the average of the documents of unknown size that have been read, or
       `_PASSAGES_PER_DOCUMENT` as long as none has been read.
    """

    def __init__(
        self, refs: Iterable[DocumentRef] = (), known: Mapping[str, int] = _NOTHING_KNOWN
    ) -> None:
        """Create the forecast for documents to read; `known` has numbers of passages by key."""
        self._known = known
        self._formats: dict[str, _Density] = {}
        self._known_rest = 0
        for ref in refs:
            self._add(ref, 1)

    @property
    def rest(self) -> int:
        """The expected number of passages in the documents that have not been read."""
        return self._known_rest + round(sum(one.rest for one in self._formats.values()))

    def note(self, ref: DocumentRef, passages: int) -> None:
        """Record that a document has been read; it has no passages if it could not be read."""
        self._add(ref, -1)
        self._density(ref).note(ref.size, passages)

    def drop(self, ref: DocumentRef) -> None:
        """Record that another worker has read a document."""
        self._add(ref, -1)

    def _add(self, ref: DocumentRef, documents: int) -> None:
        if ref.key in self._known:
            self._known_rest += documents * self._known[ref.key]
        else:
            self._density(ref).add(documents, documents * ref.size)

    def _density(self, ref: DocumentRef) -> "_Density":
        suffix = PurePosixPath(ref.key).suffix.lower() if ref.size else ""
        size = _BYTES_PER_PASSAGE.get(suffix, _BYTES_PER_PASSAGE_OF_OTHERS)
        return self._formats.setdefault(suffix, _Density(size))


class _Density:
    """The documents of one format: those still to be read, and the passages of the others.

    Documents without a size form a format of their own, so both units are never mixed.
    """

    def __init__(self, bytes_per_passage: int) -> None:
        self._bytes_per_passage = bytes_per_passage
        self._documents = self._bytes = 0
        self._read_documents = self._read_bytes = self._passages = 0

    def add(self, documents: int, size: int) -> None:
        self._documents += documents
        self._bytes += size

    def note(self, size: int, passages: int) -> None:
        self._read_documents += 1
        self._read_bytes += size
        self._passages += passages

    @property
    def rest(self) -> float:
        if self._read_bytes:
            return self._bytes * self._passages / self._read_bytes
        if self._bytes:
            return self._bytes / self._bytes_per_passage
        if self._read_documents:
            return self._documents * self._passages / self._read_documents
        return self._documents * _PASSAGES_PER_DOCUMENT


_WINDOW_S = 60.0
"""A pace is a mean over about this much work time, so a change shows within a minute."""

_SMOOTHING = 0.1
_MIN_SMOOTHING_S, _MAX_SMOOTHING_S = 1.0, 20.0
"""The estimate approaches a new value over about a tenth of it instead of jumping to it."""

_MIN_STEP_S = 5.0
_MAX_SLOWDOWN = 10.0
"""Of a step that took longer than usual by this factor, the rest counts as an interruption."""


class _Work(Enum):
    READING = auto()
    EMBEDDING = auto()
    WRITING = auto()
    REMOVING = auto()


_WORK = {
    Stage.READING: _Work.READING,
    Stage.SPLITTING: _Work.READING,
    Stage.EMBEDDING: _Work.EMBEDDING,
    Stage.WRITING: _Work.WRITING,
    Stage.REMOVING: _Work.REMOVING,
}
_OF_AN_IMPORT = (_Work.READING, _Work.EMBEDDING, _Work.WRITING)


class TimeLeft:
    """The estimated remaining seconds of a run, updated with each report of its progress.

    Reading, embedding, and writing each have their own pace, in passages. At constant paces, the
    estimate never rises. Waits don't count.
    """

    def __init__(self, *, embeds: bool) -> None:
        """Create the estimate; a run that `embeds` has none before its first passages."""
        self._required = {_Work.EMBEDDING if embeds else _Work.READING}
        self._paces = {work: _Pace(skips_first=work is not _Work.WRITING) for work in _Work}
        self._last: Progress | None = None
        self._at = 0.0
        self._estimate: float | None = None

    def note(self, progress: Progress, seconds: float) -> None:
        """Record progress that was reported at this time, in seconds of a monotonic clock."""
        last, elapsed = self._last, seconds - self._at
        self._last, self._at = progress, seconds
        if last is not None and (work := _WORK.get(last.stage)):
            self._paces[work].add(
                elapsed, _finished_units(progress, work) - _finished_units(last, work)
            )
            self._approach(self._remaining(progress), elapsed)

    def at(self, seconds: float) -> float | None:
        """The remaining seconds at this time, at least 0; None until the paces are known."""
        if self._estimate is None or self._last is None:
            return None
        passed = seconds - self._at if self._last.stage in _WORK else 0.0
        return max(self._estimate - passed, 0.0)

    def _remaining(self, progress: Progress) -> float | None:
        if not progress.total or progress.stage is Stage.LISTING:
            return None
        is_removing = progress.stage is Stage.REMOVING
        kinds = (_Work.REMOVING,) if is_removing else _OF_AN_IMPORT
        required = set(kinds) if is_removing else self._required
        seconds = {kind: self._paces[kind].seconds_for(_rest(progress, kind)) for kind in kinds}
        if any(seconds[kind] is None for kind in required):
            return None
        return sum(one for one in seconds.values() if one is not None)

    def _approach(self, remaining: float | None, elapsed: float) -> None:
        if remaining is None or self._estimate is None:
            self._estimate = remaining
            return
        expected = self._estimate - elapsed
        smoothing_s = min(max(remaining * _SMOOTHING, _MIN_SMOOTHING_S), _MAX_SMOOTHING_S)
        share = -math.expm1(-elapsed / smoothing_s)
        self._estimate = max(expected + (remaining - expected) * share, 0.0)


class _Pace:
    """The recent mean of seconds per unit of work.

    With `skips_first`, the first step doesn't count: it also opens a model or a connection.
    """

    def __init__(self, *, skips_first: bool) -> None:
        self._seconds = self._work = self._waiting_s = 0.0
        self._skips_next = skips_first

    def add(self, seconds: float, work: float) -> None:
        """Add a step; the time of steps without finished work counts toward the next one."""
        self._waiting_s += seconds
        if work <= 0:
            return
        seconds, self._waiting_s = self._plausible(self._waiting_s, work), 0.0
        if self._skips_next:
            self._skips_next = False
            return
        fading = math.exp(-seconds / _WINDOW_S)
        self._seconds = self._seconds * fading + seconds
        self._work = self._work * fading + work

    def seconds_for(self, work: float) -> float | None:
        """The seconds that this much work takes; None until the pace is known."""
        return work * self._seconds / self._work if self._work else None

    def _plausible(self, seconds: float, work: float) -> float:
        usual = self.seconds_for(work)
        return seconds if usual is None else min(seconds, max(_MIN_STEP_S, usual * _MAX_SLOWDOWN))


def _finished_units(progress: Progress, work: _Work) -> int:
    return {
        _Work.READING: progress.read,
        _Work.EMBEDDING: progress.passages,
        _Work.WRITING: progress.passages - progress.part,
        _Work.REMOVING: progress.done,
    }[work]


def _rest(progress: Progress, work: _Work) -> int:
    total = progress.total if work is _Work.REMOVING else progress.expected
    return max(total - _finished_units(progress, work), 0)
