"""Judges how far a stored answer rests on the documents, for everything that shows one."""

from enum import StrEnum

from chains.citations.support import admits_no_answer
from domain import EXTRACTIVE, CitationState, Turn


class Support(StrEnum):
    """How far an answer rests on the documents."""

    VERIFIED = "verified"
    """At least one citation was found in its document."""
    UNSUPPORTED = "unsupported"
    """The answer states something, but none of its citations was found, or it has none."""
    NOTHING_FOUND = "nothing found"
    """The answer says that the documents do not answer the question."""
    NO_CLAIM = "no claim"
    """There is nothing to support: a greeting, no answer yet, or one that ended before a claim."""


def support_of(turn: Turn) -> Support:
    """The support of the turn's answer."""
    if any(one.state is CitationState.VERIFIED for one in turn.citations):
        return Support.VERIFIED
    if turn.citations:
        return Support.UNSUPPORTED
    if not turn.answer:
        return Support.NO_CLAIM
    if turn.model == EXTRACTIVE:  # it quotes whenever it answers
        is_small_talk = not turn.standalone_question and not turn.sources
        return Support.NO_CLAIM if is_small_talk else Support.NOTHING_FOUND
    if turn.error and not turn.unsupported_sentences:
        return Support.NO_CLAIM
    if admits_no_answer(turn.answer):
        return Support.NOTHING_FOUND
    has_claim = bool(turn.sources or turn.unsupported_sentences)
    return Support.UNSUPPORTED if has_claim else Support.NO_CLAIM


def offers_nearest(turn: Turn) -> bool:
    """Whether the turn's sources are only the nearest passages, which answer nothing."""
    return bool(turn.sources) and support_of(turn) is Support.NOTHING_FOUND
