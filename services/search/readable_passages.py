"""Texts of passages, read only with the permissions of the moment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from domain import Passage, Principal
from services.access import Access
from storage.ledger.document_store import Documents

if TYPE_CHECKING:
    from langchain_core.documents import Document


@dataclass(frozen=True)
class ReadablePassages:
    """The passages that a principal may read now.

    Permissions may have changed since a search, so they are checked after the texts are read.
    """

    documents: Documents
    access: Access
    principal: Principal

    def hydrate(self, passage_ids: Sequence[str]) -> "list[Document]":
        """The passages in the order of the ids; unknown and hidden ones are omitted."""
        passages = self.documents.hydrate(passage_ids)
        readable = self.access.readable(self.principal)
        return [
            one
            for one in passages
            if readable.includes(one.metadata["source_id"], one.metadata["document_id"])
        ]

    def neighbors(self, passage_ids: Sequence[str], n: int) -> Mapping[str, Passage]:
        """See `Documents.neighbors`; hidden passages are omitted."""
        windows = self.documents.neighbors(passage_ids, n)
        ids = {one.document_id for one in windows.values()}
        hidden = self.access.unreadable(self.principal, ids)
        return {id_: one for id_, one in windows.items() if one.document_id not in hidden}
