"""Forecasts how many passages an import will find in the documents that it has yet to read."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from domain import DocumentRef

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
