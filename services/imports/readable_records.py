"""Import records without the names of documents that their reader may not read."""

from collections.abc import Iterable
from dataclasses import replace

from domain import FailedDocument, ImportItem, ImportRun, Principal
from domain.messages import _
from services.access import Access
from storage.ledger.document_store import document_id

HIDDEN = _("A document that you may not read")


def readable_run(access: Access, principal: Principal, run: ImportRun) -> ImportRun:
    """The run; hidden documents are neither in its progress nor among its keys.

    Progress names a document by its key or its title, so it names none if any document is hidden.
    """
    denied = access.denied(principal).documents
    if not denied:
        return run
    keys = [key for key in run.keys if document_id(run.source_id, key) not in denied]
    progress = None if run.progress is None else replace(run.progress, key="")
    return replace(run, options={**run.options, "keys": keys}, progress=progress)


def readable_items(
    access: Access, principal: Principal, source_id: str, items: Iterable[ImportItem]
) -> list[ImportItem]:
    """The items; hidden documents keep their outcomes, so that the totals are right."""
    several = list(items)
    hidden = _hidden_keys(access, principal, source_id, [one.key for one in several])
    return [_anonymous(one) if one.key in hidden else one for one in several]


def readable_failures(
    access: Access, principal: Principal, failures: Iterable[FailedDocument]
) -> list[FailedDocument]:
    """The failures; those of hidden documents don't say which document failed, and why."""
    denied = access.denied(principal).documents
    return [
        replace(one, key="", location="", reason="", title=str(HIDDEN))
        if document_id(one.source_id, one.key) in denied
        else one
        for one in failures
    ]


def _anonymous(item: ImportItem) -> ImportItem:
    return replace(item, key="", location="", reason="", title=str(HIDDEN))


def _hidden_keys(
    access: Access, principal: Principal, source_id: str, keys: Iterable[str]
) -> set[str]:
    denied = access.denied(principal).documents
    return {key for key in keys if document_id(source_id, key) in denied} if denied else set()
