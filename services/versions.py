"""One document on its way into the library: what was read of it, split and described."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from domain import DocumentRef, ImportItem, Outcome, Passage
from errors import UnreadableError
from language.script import script_of
from storage.documents import KnownVersion, StoredDocument, document_id
from storage.filing import filed
from storage.indexes import IndexSpec
from storage.ledger import NewVersion
from storage.sources import StoredSource

if TYPE_CHECKING:
    from langchain_core.documents import Document

_OF_THE_LEDGER = {"key", "version", "location", "title", "format", "encoding", "pages", "warnings"}


@dataclass(frozen=True, slots=True)
class Versions:
    """Makes new versions of a source's documents; `formats_version` is that of the readers."""

    source: StoredSource
    formats_version: int

    def make(
        self,
        ref: DocumentRef,
        document: "Document",
        known: KnownVersion | None,
        spec: IndexSpec,
        *,
        is_new: bool,
    ) -> NewVersion:
        """The document with its passages for an index of that spec, and its item."""
        text = document.page_content
        stored = self._stored(ref, document.metadata, 1 if known is None else known.revision + 1)
        passages = split_document(stored, text, spec)
        counted = replace(
            stored,
            characters=len(text),
            script=script_of(text),
            passages=len(passages),
            longest_passage=max((len(passage.text) for passage in passages), default=0),
        )
        return NewVersion(counted, text, passages, _item(counted, is_new=is_new))

    def _stored(self, ref: DocumentRef, metadata: dict[str, Any], revision: int) -> StoredDocument:
        told = {key: value for key, value in metadata.items() if key not in _OF_THE_LEDGER}
        return StoredDocument(
            id=document_id(self.source.id, ref.key),
            source_id=self.source.id,
            key=ref.key,
            version=metadata.get("version", ref.version),
            formats_version=self.formats_version,
            title=metadata.get("title") or ref.key,
            location=metadata.get("location", ref.location),
            format=metadata.get("format", ""),
            encoding=metadata.get("encoding"),
            pages=tuple((start, page) for start, page in metadata.get("pages", ())),
            warnings=tuple(metadata.get("warnings", ())),
            details=filed(told, self.source.collection, self.source.labels),
            imported_at=datetime.now(UTC),
            revision=revision,
        )


def _item(document: StoredDocument, *, is_new: bool) -> ImportItem:
    return ImportItem(
        key=document.key,
        location=document.location,
        outcome=Outcome.NEW if is_new else Outcome.CHANGED,
        title=document.title,
        passages=document.passages,
        pages=len(document.pages),
        characters=document.characters,
    )


def split_document(document: StoredDocument, text: str, spec: IndexSpec) -> list[Passage]:
    """The passages of a document for an index of that spec.

    Their ids follow from its reader's version too: other readers find other text in the same
    bytes.
    """
    from loaders.split import split  # an import that changes nothing must not load it

    return split(
        text,
        document_id=document.id,
        version=f"{document.version}/{document.formats_version}",
        pages=document.pages,
        size=spec.size,
        overlap=spec.overlap,
    )


def refuse_unstorable(text: str) -> None:
    """Refuse a text that the ledger could not hold.

    Raises:
        UnreadableError: With the reason.
    """
    if "\0" in text:
        raise UnreadableError("it holds NUL characters: probably not a text")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableError(f"it holds half a character at position {error.start}") from error
