"""Numbers for the sources of one conversation, whichever tool found them."""

import threading
from collections.abc import Sequence

from langchain_core.documents import Document


class SourceNumbers:
    """Numbers passages from 1 without gaps, in the order in which they come.

    A passage keeps its number, whichever tool finds it again; it is known by its id, or by its
    document and place where it has none. Tools at work at the same time may share it.
    """

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], int] = {}
        self._documents: list[Document] = []
        self._lock = threading.Lock()

    def number(self, documents: Sequence[Document]) -> list[int]:
        """The number of each document, new ones numbered on."""
        with self._lock:
            return [self._number(document) for document in documents]

    @property
    def documents(self) -> tuple[Document, ...]:
        """Every document numbered so far: number n is at place n - 1."""
        with self._lock:
            return tuple(self._documents)

    def _number(self, document: Document) -> int:
        known = _identity(document)
        if known not in self._numbers:
            self._documents.append(document)
            self._numbers[known] = len(self._documents)
        return self._numbers[known]


def _identity(document: Document) -> tuple[object, ...]:
    if document.id:
        return (document.id,)
    place = document.metadata.get("document_id"), document.metadata.get("start")
    return (*place, document.page_content)
