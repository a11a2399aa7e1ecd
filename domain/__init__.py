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
)
from domain.people import (
    LOCAL_USER,
    Principal,
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
    "DocumentRef",
    "Explanation",
    "Filter",
    "FoundPassage",
    "ImportItem",
    "ImportKind",
    "ImportReport",
    "ImportState",
    "Metadata",
    "Move",
    "Normalisation",
    "Outcome",
    "Passage",
    "Principal",
    "Scope",
    "ScorePart",
    "SearchChoice",
    "SearchMode",
    "Skipped",
    "Source",
    "Turn",
    "TurnState",
    "shared_headings",
]
