"""A Drive as LangChain's document loaders are used."""

from collections.abc import Iterator

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from domain import DocumentRef
from errors import UnreadableError
from loaders.google_drive.files import DriveFiles


class GoogleDriveLoader(DriveFiles, BaseLoader):
    """`DriveFiles` with LangChain's contract; an import needs the former alone."""

    def lazy_load(self) -> Iterator[Document]:
        """Yield the documents that can be read, in the order in which Drive lists them."""
        for ref in self.list():
            if isinstance(ref, DocumentRef):
                try:
                    yield self.read(ref)
                except UnreadableError:  # BaseLoader's contract has no place for reasons
                    continue
