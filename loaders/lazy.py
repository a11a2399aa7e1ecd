"""LangChain's contract for what lists and reads documents."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from domain import DocumentRef, Listed
from errors import UnreadableError


class LazyLoader(BaseLoader):
    """Base of the loaders that stand beside a lister of the same name; an import needs none."""

    if TYPE_CHECKING:

        def list(self) -> Iterable[Listed]:
            """Everything there is."""

        def read(self, ref: DocumentRef) -> Document:
            """One document of it."""

    def lazy_load(self) -> Iterator[Document]:
        """Yield the documents that can be read, as they are listed."""
        for ref in self.list():
            if isinstance(ref, DocumentRef):
                try:
                    yield self.read(ref)
                except UnreadableError:  # BaseLoader's contract has no place for reasons
                    continue
