"""The words of Footnote as values: who asks, what was found, what was proven."""

from domain.answers import (
    EXTRACTIVE,
    Citation,
    CitationState,
    Conversation,
    FoundPassage,
    Source,
    Turn,
    TurnState,
)
from domain.documents import (
    DocumentRef,
    Metadata,
    Passage,
    Skipped,
    shared_headings,
)
from domain.imports import (
    ImportItem,
    ImportKind,
    ImportReport,
    ImportState,
    Outcome,
    QueuedImport,
)
from domain.library import (
    DocumentFilter,
    DocumentOrder,
    FailedDocument,
    ImportDay,
    ListedDocument,
    SharedPassage,
)
from domain.people import (
    LOCAL_USER,
    Principal,
)
from domain.progress import (
    Progress,
    Stage,
)
from domain.search import (
    COMPARED_MODES,
    FILTER_FIELDS,
    Explanation,
    Filter,
    Move,
    Normalisation,
    Scope,
    ScorePart,
    SearchChoice,
    SearchMode,
)

__all__ = [
    "COMPARED_MODES",
    "EXTRACTIVE",
    "FILTER_FIELDS",
    "LOCAL_USER",
    "Citation",
    "CitationState",
    "Conversation",
    "DocumentFilter",
    "DocumentOrder",
    "DocumentRef",
    "Explanation",
    "FailedDocument",
    "Filter",
    "FoundPassage",
    "ImportDay",
    "ImportItem",
    "ImportKind",
    "ImportReport",
    "ImportState",
    "ListedDocument",
    "Metadata",
    "Move",
    "Normalisation",
    "Outcome",
    "Passage",
    "Principal",
    "Progress",
    "QueuedImport",
    "Scope",
    "ScorePart",
    "SearchChoice",
    "SearchMode",
    "SharedPassage",
    "Skipped",
    "Source",
    "Stage",
    "Turn",
    "TurnState",
    "shared_headings",
]
