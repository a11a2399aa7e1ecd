"""Plans who may read imported documents, as their source restricts them."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from domain import HIDDEN, DocumentRef, ImportItem, Outcome
from domain.messages import _
from storage.ledger.document_store import StoredVersion

HIDDEN_WORDS = "hidden from everyone"
"""Part of the reason for each document whose permissions could not be read."""

Restrictions = frozenset[frozenset[str]]
_NONE: Restrictions = frozenset()


def changed_restrictions(
    refs: Iterable[DocumentRef],
    to_read: Collection[str],
    stored: Mapping[str, StoredVersion],
    current: Mapping[str, Restrictions],
) -> dict[str, Restrictions]:
    """The restrictions to replace now, by document id.

    A document that will be read keeps its `current` restrictions in addition to the new ones until
    its new version replaces both: its earlier text may have been for fewer people.

    Args:
        refs: The listed documents.
        to_read: The keys of those that will be read.
        stored: Stored versions by key.
        current: The restrictions of stored documents by document id.
    """
    changed = {}
    for ref in refs:
        if ref.restrictions is None or ref.key not in stored:
            continue
        document_id = stored[ref.key].document_id
        before, new = current.get(document_id, _NONE), frozenset(ref.restrictions)
        target = before | new if ref.key in to_read else new
        if target != before:
            changed[document_id] = target
    return changed


def hidden_documents(
    keys: Iterable[str], stored: Mapping[str, StoredVersion], current: Mapping[str, Restrictions]
) -> dict[str, Restrictions]:
    """The restrictions that hide these stored documents, by document id, unless they are hidden."""
    hidden = frozenset(HIDDEN)
    ids = (stored[key].document_id for key in keys)
    return {id_: hidden for id_ in ids if current.get(id_) != hidden}


def with_permissions(
    item: ImportItem, ref: DocumentRef | None, changed: Collection[str]
) -> ImportItem:
    """The item of a document that is not read, with what happened to its permissions.

    `ref` is None if the source restricts its documents, but did not list this one; `changed` are
    the keys of documents whose restrictions change.
    """
    if ref is None:
        return replace(item, reason=_unlisted(item.reason))
    if item.outcome is Outcome.UNCHANGED:
        outcome = Outcome.PERMISSIONS if item.key in changed else item.outcome
        return replace(item, outcome=outcome, reason=hidden_reason(ref))
    return item


def hidden_reason(ref: DocumentRef) -> str:
    """Why everyone is excluded from a listed document; "" if its permissions could be read."""
    if not ref.hidden_reason:
        return ""
    return _("hidden from everyone: {reason}").format(reason=ref.hidden_reason)


def _unlisted(reason: str) -> str:
    return _("{reason}; hidden from everyone, because its permissions could not be read").format(
        reason=reason
    )
