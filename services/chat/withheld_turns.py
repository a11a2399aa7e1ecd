"""Withholds stored answers whose evidence the reader may no longer read."""

from collections.abc import Sequence
from dataclasses import replace

from domain import Principal, Turn
from domain.messages import _
from services.access import Access

WITHHELD = _("This answer is withheld, because it uses documents that you may no longer read.")


def readable_turns(access: Access, principal: Principal, turns: Sequence[Turn]) -> list[Turn]:
    """The turns, without answer and evidence where any of it is from an unreadable document.

    The question stays, because the principal wrote it.
    """
    unreadable = access.unreadable(principal, {id_ for turn in turns for id_ in _evidence(turn)})
    return [turn if unreadable.isdisjoint(_evidence(turn)) else _withheld(turn) for turn in turns]


def _evidence(turn: Turn) -> set[str]:
    ids = {one.document_id for one in turn.sources}
    return (ids | {one.document_id for one in turn.citations}) - {""}


def _withheld(turn: Turn) -> Turn:
    return replace(
        turn,
        standalone_question=turn.standalone_question if turn.standalone_given else "",
        answer=str(WITHHELD),
        sources=(),
        citations=(),
        unsupported_sentences=0,
        steps=(),
        reasoning="",
    )
