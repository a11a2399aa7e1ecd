"""The answer about places: while it is written, and with its checked citations."""

from datetime import UTC, datetime

from catalog.events import CatalogueAnswer
from domain import Turn, TurnState
from ui import words
from ui.html import answer_html, escape
from ui.sources import citation_marker, sources_html, verdict_html


def written_html(text: str) -> str:
    """The answer so far; nothing is checked yet, so its markers lead nowhere."""
    return _titled(answer_html(text, lambda n: f'<span class="fn-cite">{n}</span>', heading=3))


def answered_html(answer: CatalogueAnswer) -> str:
    """The answer, its markers as links to the cited words; below it what proves it, folded."""
    turn = _as_turn(answer)
    shown = _titled(answer_html(turn.answer, citation_marker(turn), heading=3))
    sources = sources_html(turn)
    proof = f"<summary>{escape(words.PLACES_PROOF)}</summary>{sources}"
    folded = f'<details class="fn-more">{proof}</details>' if sources else ""
    return (
        f'{shown}<section class="fn-sources" aria-label="{words.SOURCES}">'
        f"{verdict_html(turn)}{folded}</section>"
    )


def _titled(answer: str) -> str:
    return f'<h2 class="fn-unseen">{escape(words.PLACES_ANSWER)}</h2>{answer}'


def _as_turn(answer: CatalogueAnswer) -> Turn:
    """As a turn of no conversation: what is shown of answers is the same everywhere."""
    return Turn(
        id="",
        conversation_id="",
        question=answer.query.question,
        state=TurnState.COMPLETE,
        created_at=datetime.now(UTC),
        answer=answer.answer,
        model=answer.model,
        sources=answer.sources,
        citations=answer.citations,
        unsupported_sentences=answer.unsupported_sentences,
        timings_ms=answer.timings_ms,
    )
