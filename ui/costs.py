"""What an answer and a conversation took: time, tokens, money."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from domain import EXTRACTIVE, Turn
from ui import words
from ui.html import escape

if TYPE_CHECKING:
    from bootstrap import Services
    from services.costs import Cost

A_SECOND_MS = 1000
SMALLEST = 0.0001
"""Of a currency; what is less would read as nothing."""


def show_cost(services: "Services", turn: Turn) -> None:
    """Show in one quiet line who answered, how long it took, and the tokens and their price."""
    if not turn.model:
        return
    cost = services.costs.of([turn])
    name = words.FREE_ANSWERER if turn.model == EXTRACTIVE else turn.model
    _show_line([name, *_times(turn), *_took(cost, free=turn.model == EXTRACTIVE)])


def show_total_cost(services: "Services", turns: Sequence[Turn]) -> None:
    """Show what a conversation took, where it was answered by a model; it is one more line."""
    paid = [turn for turn in turns if turn.usage]
    if len(paid) > 1:
        _show_line([words.CONVERSATION_TOOK, *_took(services.costs.of(paid), free=False)])


def _times(turn: Turn) -> list[str]:
    told = {"first_token": words.FIRST_WORDS, "total": words.ANSWER_TIME}
    return [
        form.format(seconds=turn.timings_ms[moment] / A_SECOND_MS)
        for moment, form in told.items()
        if moment in turn.timings_ms
    ]


def _took(cost: "Cost", *, free: bool) -> list[str]:
    if free or not cost.input_tokens + cost.output_tokens:
        return []
    took = [words.TOKENS.format(read=cost.input_tokens, written=cost.output_tokens)]
    if cost.amount is not None:
        took.append(_price(cost.currency, cost.amount))
    return took


def _price(currency: str, amount: float) -> str:
    if 0 < amount < SMALLEST:
        return words.COST_LESS.format(currency=currency, amount=SMALLEST)
    return words.COST.format(currency=currency, amount=amount)


def _show_line(parts: Sequence[str]) -> None:
    html = "".join(f"<span>{escape(part)}</span>" for part in parts)
    st.html(f'<p class="fn-cost">{html}</p>')
