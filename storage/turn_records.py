"""Turns and conversations as rows of the ledger, and back, exactly as they were."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from domain import (
    Citation,
    CitationState,
    Conversation,
    Explanation,
    FoundPassage,
    Move,
    Scope,
    ScorePart,
    SearchChoice,
    SearchMode,
    Source,
    Step,
    StepState,
    Turn,
    TurnState,
)
from storage.tables import ConversationRow, TurnRow

_PLAIN = (
    "conversation_id",
    "question",
    "state",
    "created_at",
    "standalone_question",
    "standalone_given",
    "answer",
    "error",
    "model",
    "unsupported_sentences",
    "parent_id",
)


def conversation_of(row: ConversationRow) -> Conversation:
    """The conversation that a row holds."""
    return Conversation(
        id=row.id,
        user_id=row.user_id,
        title=row.title,
        created_at=row.created_at,
        updated_at=row.updated_at,
        shown_turn_id=row.shown_turn_id or "",
        search=search_choice(row.search or {}),
        deleted_at=row.deleted_at,
    )


def fill_row(row: TurnRow, turn: Turn) -> None:
    """Write everything the turn says into its row."""
    for name in _PLAIN:
        setattr(row, name, getattr(turn, name))
    row.sources = [asdict(source) for source in turn.sources]
    row.citations = [asdict(citation) for citation in turn.citations]
    row.timings_ms = dict(turn.timings_ms)
    row.usage = dict(turn.usage)
    row.search = asdict(turn.search)
    row.steps = [asdict(step) for step in turn.steps]


def turn_of(row: TurnRow) -> Turn:
    """The turn that a row holds."""
    plain = {name: getattr(row, name) for name in _PLAIN}
    return Turn(
        id=row.id,
        **(plain | {"state": TurnState(row.state)}),
        sources=tuple(map(source_of, row.sources)),
        citations=tuple(map(citation_of, row.citations)),
        timings_ms=row.timings_ms,
        usage=row.usage,
        search=search_choice(row.search),
        steps=tuple(map(_step, row.steps)),
    )


def search_choice(stored: Mapping[str, Any]) -> SearchChoice:
    """What `asdict` made of a choice, as it was; {} is the choice of nothing."""
    scope = {name: _as_told(value) for name, value in stored.get("scope", {}).items()}
    mode = stored.get("mode")
    return SearchChoice(
        scope=Scope(**scope),
        mode=mode and SearchMode(mode),
        k=stored.get("k"),
        score_threshold=stored.get("score_threshold"),
        by_agent=stored.get("by_agent", False),
    )


def _as_told(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def source_of(stored: Mapping[str, Any]) -> Source:
    """What `asdict` made of a source, as it was."""
    # Turns stored before there were explanations have none; neither had they widened sources.
    why = stored.get("why")
    later = {
        "why": why and _explanation(why),
        "hits": tuple(FoundPassage(*hit) for hit in stored.get("hits", ())),
    }
    return Source(**_with_heading_path(stored) | later)


def _step(stored: Mapping[str, Any]) -> Step:
    known = {"state": StepState(stored["state"]), "sources": tuple(stored["sources"])}
    return Step(**{**stored, **known})


def _explanation(stored: Mapping[str, Any]) -> Explanation:
    return Explanation(
        score=stored["score"],
        parts=tuple(ScorePart(*part) for part in stored["parts"]),
        matched_words=tuple(stored["matched_words"]),
        move=stored["move"] and Move(*stored["move"]),
        condition=stored["condition"],
    )


def citation_of(stored: Mapping[str, Any]) -> Citation:
    """What `asdict` made of a citation, as it was."""
    return Citation(**_with_heading_path(stored) | {"state": CitationState(stored["state"])})


def _with_heading_path(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, "heading_path": tuple(stored["heading_path"])}
