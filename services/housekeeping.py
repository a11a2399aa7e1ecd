"""Removes what is no longer kept: at the start of each process, and hourly in the worker."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from domain import LOCAL_USER, ImportKind
from domain.errors import NotFoundError
from services.access import owner_of
from services.audit_service import AuditService
from services.chat.conversation_service import ConversationService
from services.imports.import_queue import ImportQueue
from storage.ledger.source_store import Sources


@dataclass(frozen=True)
class Housekeeping:
    """Removes conversations, files, and events whose retention is over."""

    conversations: ConversationService
    audit: AuditService
    sources: Sources
    queue: ImportQueue

    def run(self, now: datetime) -> None:
        """Remove conversations and audit events, and queue the removal of files.

        The files are those of conversations that were permanently removed, now or earlier.
        """
        self.conversations.purge(now)
        self.audit.purge(now)
        for box in self.sources.of_lost_conversations():
            with suppress(NotFoundError):  # another process has removed it meanwhile
                self.queue.enqueue(owner_of(box, LOCAL_USER), box.id, ImportKind.REMOVAL)
