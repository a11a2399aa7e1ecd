"""Converts turns and conversations to rows and back, without loss, and to texts to search.

The texts are stored in the form in which words are searched, because SQL unifies neither the width
nor the case of all Unicode letters. They have a table of their own, because the rows of turns are
long.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, and_, exists, func, true

from domain import (
    Citation,
    CitationState,
    Conversation,
    Explanation,
    FoundPassage,
    Move,
    RetrievedPassage,
    Scope,
    ScorePart,
    SearchChoice,
    SearchMode,
    Step,
    StepState,
    Turn,
    TurnState,
)
from domain.language.script import fold
from storage.ledger.columns import from_row
from storage.ledger.ledger_tables import ConversationRow, ConversationTextRow, TurnRow


def conversation_of(row: ConversationRow) -> Conversation:
    """Convert a row to a conversation."""
    return from_row(
        Conversation,
        row,
        shown_turn_id=row.shown_turn_id or "",
        search=search_choice(row.search or {}),
    )


def fill_row(row: TurnRow, turn: Turn) -> None:
    """Write all fields of the turn to its row."""
    for name, value in asdict(turn).items():
        setattr(row, name, value)


def turn_of(row: TurnRow) -> Turn:
    """Convert a row to a turn; the inverse of `fill_row`."""
    return from_row(
        Turn,
        row,
        state=TurnState(row.state),
        sources=tuple(map(source_of, row.sources)),
        citations=tuple(map(citation_of, row.citations)),
        search=search_choice(row.search),
        steps=tuple(map(_step, row.steps)),
    )


def search_choice(stored: Mapping[str, Any]) -> SearchChoice:
    """The inverse of `asdict` for a SearchChoice; {} is the default choice."""
    scope = {name: _as_tuple(value) for name, value in stored.get("scope", {}).items()}
    mode = stored.get("mode")
    return SearchChoice(
        scope=Scope(**scope),
        mode=mode and SearchMode(mode),
        k=stored.get("k"),
        score_threshold=stored.get("score_threshold"),
        by_agent=stored.get("by_agent", False),
    )


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def source_of(stored: Mapping[str, Any]) -> RetrievedPassage:
    """The inverse of `asdict` for a retrieved passage."""
    # Turns stored by earlier versions of Footnote lack explanations, merged neighbors, and formats.
    why = stored.get("why")
    later = {
        "why": why and _explanation(why),
        "hits": tuple(FoundPassage(*hit) for hit in stored.get("hits", ())),
    }
    return RetrievedPassage(**_with_heading_path(stored) | later)


def _step(stored: Mapping[str, Any]) -> Step:
    converted = {"state": StepState(stored["state"]), "sources": tuple(stored["sources"])}
    return Step(**{**stored, **converted})


def _explanation(stored: Mapping[str, Any]) -> Explanation:
    return Explanation(
        score=stored["score"],
        parts=tuple(ScorePart(*part) for part in stored["parts"]),
        matched_words=tuple(stored["matched_words"]),
        move=stored["move"] and Move(*stored["move"]),
        condition=stored["condition"],
    )


def citation_of(stored: Mapping[str, Any]) -> Citation:
    """The inverse of `asdict` for a citation."""
    return Citation(**_with_heading_path(stored) | {"state": CitationState(stored["state"])})


def _with_heading_path(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {**stored, "heading_path": tuple(stored["heading_path"])}


TITLE = ""
"""The `turn_id` of the text that is the title."""


def title_text(conversation_id: str, title: str) -> ConversationTextRow:
    """The row of a title; merge it to replace that of an earlier title."""
    return ConversationTextRow(conversation_id=conversation_id, turn_id=TITLE, text=fold(title))


def turn_text(turn: Turn) -> ConversationTextRow:
    """The row of a question and its answer; merge it to replace that of an earlier state."""
    text = fold(f"{turn.question}\n{turn.answer}")
    return ConversationTextRow(conversation_id=turn.conversation_id, turn_id=turn.id, text=text)


def contains_words(words: Iterable[str]) -> ColumnElement[bool]:
    """Whether a conversation contains all words, in its title or any of its turns.

    Words match parts of longer words, ignoring case and width. The time is proportional to the
    number of words and to the length of the principal's conversations.
    """
    return and_(true(), *(_contains(fold(word)) for word in words))


def _contains(word: str) -> ColumnElement[bool]:
    return exists().where(
        ConversationTextRow.conversation_id == ConversationRow.id,
        func.instr(ConversationTextRow.text, word) > 0,
    )
