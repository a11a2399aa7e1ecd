"""Import records without the names of documents that their reader may not read."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from domain import FailedDocument, ImportItem, ImportRun
from domain.messages import _
from storage.ledger.document_store import document_id
from storage.ledger.restriction_store import Denied

Record = TypeVar("Record", ImportItem, FailedDocument)
HIDDEN = _("A document that you may not read")


def readable_run(denied: Denied, run: ImportRun) -> ImportRun:
    """The run; denied documents are neither in its progress nor among its keys.

    Progress names a document by its key or its title, so it names none if any document is denied.
    """
    if not denied.documents:
        return run
    keys = [key for key in run.keys if document_id(run.source_id, key) not in denied.documents]
    progress = None if run.progress is None else replace(run.progress, key="")
    return replace(run, options={**run.options, "keys": keys}, progress=progress)


def readable_items(denied: Denied, source_id: str, items: Iterable[ImportItem]) -> list[ImportItem]:
    """The items; denied documents keep their outcomes, so that the totals are right."""
    return [_without_name(one) if _is_denied(denied, source_id, one) else one for one in items]


def readable_failures(denied: Denied, failures: Iterable[FailedDocument]) -> list[FailedDocument]:
    """The failures; those of denied documents don't say which document failed, and why."""
    return [
        _without_name(one) if _is_denied(denied, one.source_id, one) else one for one in failures
    ]


def _is_denied(denied: Denied, source_id: str, record: ImportItem | FailedDocument) -> bool:
    return bool(denied.documents) and document_id(source_id, record.key) in denied.documents


def _without_name(record: Record) -> Record:
    return replace(record, key="", location="", reason="", title=str(HIDDEN))
