"""Logs how long each stage of a question takes, and the evidence of its answer."""

import logging
from typing import Any

from domain import CitationState, RetrievedPassage, Turn
from domain.logs import get_logger, new_id
from services.stage_times import StageTimes

_log = get_logger("questions")


class AnswerLog:
    """Measures the stages of one question; text of people and documents is logged only at debug.

    The stages are prepare (opening the index, choosing the model), condense (spelling included),
    retrieve (reranking included), tool (of an agent), answer, and verify (of citations).
    """

    def __init__(self, turn: Turn) -> None:
        self.question_id = turn.id or new_id()
        """The id of the stored turn; a new one if the turn is not stored."""
        self._times = StageTimes("prepare")

    def enter(self, stage: str) -> None:
        """End the current stage and start another."""
        self._times.enter(stage)

    def end(self, turn: Turn) -> None:
        """Log the finished turn."""
        self.enter("")
        states = [citation.state for citation in turn.citations]
        fields: dict[str, Any] = {
            "conversation_id": turn.conversation_id or None,
            "model": turn.model,
            "mode": turn.search.mode,
            **self._times.fields(),
            "first_token_ms": turn.timings_ms.get("first_token"),
            **turn.usage,
            "passages": len(turn.sources),
            "best_score": max((_score(one) for one in turn.sources), default=None),
            "citations": len(states),
            "verified": states.count(CitationState.VERIFIED),
            "unsupported": turn.unsupported_sentences,
            "steps": len(turn.steps),
        }
        _log.info(f"question {turn.state.value}", question_id=self.question_id, **fields)
        if _log.isEnabledFor(logging.DEBUG):
            self._log_evidence(turn)

    def _log_evidence(self, turn: Turn) -> None:
        texts = {"question": turn.question, "searched": turn.standalone_question}
        self._debug("question text", **texts, answer=turn.answer, error=str(turn.error))
        for one in turn.sources:
            ranks = {part.ranker: part.rank for part in one.why.parts} if one.why else None
            where = {"document": one.name, "heading": " > ".join(one.heading_path)}
            self._debug("passage retrieved", n=one.n, **where, score=_score(one), ranks=ranks)
        for cited in turn.citations:
            self._debug("citation checked", n=cited.n, state=cited.state, quote=cited.quote)

    def _debug(self, event: str, **fields: Any) -> None:
        _log.debug(event, question_id=self.question_id, **fields)


def _score(passage: RetrievedPassage) -> float:
    return round(passage.score or 0, 3)
