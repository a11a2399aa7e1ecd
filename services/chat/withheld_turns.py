"""Withholds stored answers that tell of what the reader may no longer read."""

from collections.abc import Sequence
from dataclasses import replace

from domain import Principal, Turn
from domain.messages import _
from services.access import Access

WITHHELD = _("This answer is withheld, because it uses documents that you may no longer read.")


def readable_turns(access: Access, principal: Principal, turns: Sequence[Turn]) -> list[Turn]:
    """The turns, without answer and evidence where any of it may be from something unreadable.

    The history of a turn counts, too. The question stays, because the principal wrote it.
    """
    unreadable = access.unreadable(principal, {id_ for turn in turns for id_ in turn.used})
    return [turn if unreadable.isdisjoint(turn.used) else _withheld(turn) for turn in turns]


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
        basis=(),
    )
