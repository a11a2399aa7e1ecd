"""Import records without the names of documents that their reader may not read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from domain import ImportItem, ImportRun, Principal, Role
from domain.messages import _
from services.access import Access, SourceDocument
from storage.ledger.document_store import document_id
from storage.ledger.source_store import StoredSource, mirrors_permissions

UNNAMED = _("A document that you may not read")


@dataclass(frozen=True)
class ReadableRecords:
    """Import records as the principal may see them, as of its creation.

    Documents that the principal may not read are not named. Neither are those whose readers are
    unknown, because the source mirrors permissions, and they are not in the library: new documents
    of a dry run, and skipped and failed ones. Only administrators see the names of the latter.
    """

    access: Access
    principal: Principal

    def run(self, run: ImportRun) -> ImportRun:
        """The run; documents that are not named are neither in its progress nor among its keys.

        Progress names a document by its key or its title, so it names none if any may be hidden.
        """
        if not self._denied and run.source_id not in self._mirrored:
            return run
        unnamed = self.unnamed((run.source_id, key) for key in run.keys)
        keys = [key for key in run.keys if (run.source_id, key) not in unnamed]
        progress = None if run.progress is None else replace(run.progress, key="")
        return replace(run, options={**run.options, "keys": keys}, progress=progress)

    def items(self, source_id: str, items: Iterable[ImportItem]) -> list[ImportItem]:
        """The items; documents that are not named keep their outcomes, so the totals are right."""
        items = list(items)
        unnamed = self.unnamed((source_id, one.key) for one in items)
        return [_without_name(one) if (source_id, one.key) in unnamed else one for one in items]

    def unnamed(self, documents: Iterable[SourceDocument]) -> set[SourceDocument]:
        """Those of the documents that are not named."""
        by_id = {document_id(*one): one for one in documents} if self._hides else {}
        unknown = {id_: one for id_, one in by_id.items() if one[0] in self._mirrored}
        known = self.access.sources.of_documents(list(unknown)) if unknown else {}
        restricted = self.access.restrictions.of_documents(unknown)
        without_readers = unknown.keys() - known.keys() - restricted.keys()
        return {by_id[id_] for id_ in without_readers | (by_id.keys() & self._denied)}

    @property
    def _hides(self) -> bool:
        return bool(self._denied or self._mirrored)

    @cached_property
    def _denied(self) -> frozenset[str]:
        return self.access.denied(self.principal).documents

    @cached_property
    def _mirrored(self) -> Mapping[str, StoredSource]:
        """The sources with documents whose readers may be unknown."""
        if self.principal.role.includes(Role.ADMIN):
            return {}
        sources = self.access.library_sources(self.principal)
        return {id_: one for id_, one in sources.items() if mirrors_permissions(one.options)}


def _without_name(item: ImportItem) -> ImportItem:
    return replace(item, key="", location="", reason="", title=str(UNNAMED))
