"""The ledger's tables: what was imported, in which version, which passages, what was asked.

They are imported from here: only together are they the ledger, which a migration compares.
"""

from storage.tables.access import ApiKeyRow
from storage.tables.base import Base
from storage.tables.catalogue import PlaceRow, UserRow
from storage.tables.conversations import ConversationRow, LabelRow, RatingRow, TurnRow
from storage.tables.imports import FailureRow, ImportItemRow, ImportRow, WorkerRow
from storage.tables.library import (
    DiscardedPassageRow,
    DocumentRow,
    DocumentTextRow,
    IndexRow,
    PassageRow,
    SourceRow,
    SourceSecretRow,
)

__all__ = [
    "ApiKeyRow",
    "Base",
    "ConversationRow",
    "DiscardedPassageRow",
    "DocumentRow",
    "DocumentTextRow",
    "FailureRow",
    "ImportItemRow",
    "ImportRow",
    "IndexRow",
    "LabelRow",
    "PassageRow",
    "PlaceRow",
    "RatingRow",
    "SourceRow",
    "SourceSecretRow",
    "TurnRow",
    "UserRow",
    "WorkerRow",
]
