"""A version of a document as it was read, with its passages and its item."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from domain import DocumentRef, ImportItem, Outcome, Passage
from domain.errors import UnreadableError
from domain.language.script import script_of
from domain.messages import _
from services.imports.permission_plan import hidden_reason
from storage.ledger.document_store import (
    StoredDocument,
    StoredVersion,
    document_id,
    source_metadata,
)
from storage.ledger.index_store import IndexSpec
from storage.ledger.ledger import NewVersion
from storage.ledger.source_store import StoredSource

if TYPE_CHECKING:
    from langchain_core.documents import Document

_OWN_COLUMNS = {"key", "version", "location", "title", "format", "encoding", "pages", "warnings"}


def new_version(
    ref: DocumentRef,
    document: "Document",
    previous: StoredVersion | None,
    source: StoredSource,
    spec: IndexSpec,
    formats_version: int,
    *,
    is_new: bool,
) -> NewVersion:
    """The new version: the document, its passages for an index with this spec, and its item.

    `formats_version` is the version of the readers.
    """
    text, metadata = document.page_content, document.metadata
    own = {key: value for key, value in metadata.items() if key not in _OWN_COLUMNS}
    stored = StoredDocument(
        id=document_id(source.id, ref.key),
        source_id=source.id,
        key=ref.key,
        version=metadata.get("version", ref.version),
        formats_version=formats_version,
        title=metadata.get("title") or ref.key,
        location=metadata.get("location", ref.location),
        format=metadata.get("format", ""),
        encoding=metadata.get("encoding"),
        pages=tuple((start, page) for start, page in metadata.get("pages", ())),
        warnings=tuple(metadata.get("warnings", ())),
        details=source_metadata(own, source.collection, source.labels),
        imported_at=datetime.now(UTC),
        revision=1 if previous is None else previous.revision + 1,
        characters=len(text),
        script=script_of(text),
    )
    passages = split_document(stored, text, spec)
    longest = max((len(passage.text) for passage in passages), default=0)
    stored = replace(stored, passages=len(passages), longest_passage=longest)
    item = _item(stored, hidden_reason(ref), is_new=is_new)
    return NewVersion(stored, text, passages, item, ref.restrictions)


def _item(document: StoredDocument, reason: str, *, is_new: bool) -> ImportItem:
    return ImportItem(
        key=document.key,
        location=document.location,
        outcome=Outcome.NEW if is_new else Outcome.CHANGED,
        reason=reason,
        title=document.title,
        passages=document.passages,
        pages=len(document.pages),
        characters=document.characters,
    )


def split_document(document: StoredDocument, text: str, spec: IndexSpec) -> list[Passage]:
    """The passages of a document for an index with this spec.

    Passage ids also depend on the reader version, because another version may extract different
    text from the same bytes.
    """
    from loaders.split import split  # not needed by an import without changes

    return split(
        text,
        document_id=document.id,
        version=f"{document.version}/{document.formats_version}",
        pages=document.pages,
        size=spec.size,
        overlap=spec.overlap,
    )


def refuse_unstorable(text: str) -> None:
    """Reject text that the ledger can't store.

    Raises:
        UnreadableError: The text can't be stored; the message gives the reason.
    """
    if "\0" in text:
        raise UnreadableError(_("it contains NUL characters and is probably not a text file"))
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UnreadableError(
            _("it contains an unpaired surrogate at position {start}").format(start=error.start)
        ) from error
