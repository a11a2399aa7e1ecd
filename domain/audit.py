"""The audit log: who changed what, and when."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


class Action(StrEnum):
    """What an event of the audit log reports; the part before the dot is its subject."""

    SOURCE_ADDED = "source.added"
    SOURCE_EDITED = "source.edited"
    SOURCE_DELETED = "source.deleted"
    IMPORT_STARTED = "import.started"
    IMPORT_ENDED = "import.ended"
    DOCUMENT_REMOVED = "document.removed"
    DOCUMENT_RESTORED = "document.restored"
    UPLOAD_ADDED = "upload.added"
    UPLOAD_DELETED = "upload.deleted"
    SETTINGS_CHANGED = "settings.changed"
    ACCESS_CHANGED = "access.changed"
    ACCOUNT_ROLE_CHANGED = "account.role_changed"
    ACCOUNT_DISABLED = "account.disabled"
    ACCOUNT_ENABLED = "account.enabled"
    ACCOUNT_DELETED = "account.deleted"
    ACCOUNT_EXPORTED = "account.exported"
    API_KEY_CREATED = "api_key.created"
    API_KEY_REVOKED = "api_key.revoked"
    CONVERSATION_DELETED = "conversation.deleted"
    CONVERSATION_SHARED = "conversation.shared"
    CONVERSATION_UNSHARED = "conversation.unshared"
    SIGN_IN_OK = "sign_in.ok"
    SIGN_IN_REFUSED = "sign_in.refused"
    BACKUP_CREATED = "backup.created"

    @property
    def object_kind(self) -> str:
        """What the object of such an event is, such as "source"."""
        return _OBJECT_KINDS.get(self, self.partition(".")[0])


_OBJECT_KINDS = {
    Action.DOCUMENT_REMOVED: "source",
    Action.DOCUMENT_RESTORED: "source",
    Action.UPLOAD_ADDED: "source",
    Action.UPLOAD_DELETED: "source",
    Action.ACCESS_CHANGED: "restriction",
    Action.SIGN_IN_OK: "account",
    Action.SIGN_IN_REFUSED: "account",
}


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """An event of the audit log; later ones have higher ids.

    `actor` is the account's id, or the user id of an API key or of the command line. `actor_name`
    is the name of the key or the account at that time, "" if there is none or it was erased.
    `api_key` is the id of the key that made the call, if any. `action` is an `Action`, or that of
    a newer version of the program. `detail` contains ids, counts, and names of settings.
    """

    id: int
    at: datetime
    actor: str
    actor_name: str
    api_key: str
    action: str
    object_kind: str
    object_id: str
    detail: Mapping[str, Any]
