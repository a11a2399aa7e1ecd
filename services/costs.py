"""What answers took: tokens, and money where a price is set."""

from collections.abc import Sequence
from dataclasses import dataclass

from domain import EXTRACTIVE, Turn

_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """The price of a million tokens, in and out, of one model; None where it is not set."""

    model: str
    input: float | None = None
    output: float | None = None
    currency: str = "USD"


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens as the model's endpoint counted them, and what they cost.

    `amount` is None where some answer has no price: none is set, it is of another model than the
    one that is, or its endpoint counted no tokens. The built-in answerer costs nothing.
    """

    input_tokens: int
    output_tokens: int
    amount: float | None
    currency: str


@dataclass(frozen=True)
class CostService:
    """Counts what turns took, at the prices of the settings."""

    prices: Prices

    def of(self, turns: Sequence[Turn]) -> Cost:
        """What these turns took together; nothing at all for none."""
        amounts = [self._amount(turn) for turn in turns]
        known = [amount for amount in amounts if amount is not None]
        return Cost(
            input_tokens=sum(turn.usage.get("input_tokens", 0) for turn in turns),
            output_tokens=sum(turn.usage.get("output_tokens", 0) for turn in turns),
            amount=sum(known) if len(known) == len(amounts) else None,
            currency=self.prices.currency,
        )

    def _amount(self, turn: Turn) -> float | None:
        if turn.model == EXTRACTIVE:
            return 0.0
        price_in, price_out = self.prices.input, self.prices.output
        if turn.model != self.prices.model or not turn.usage:
            return None
        if price_in is None or price_out is None:
            return None
        tokens_in = turn.usage.get("input_tokens", 0)
        tokens_out = turn.usage.get("output_tokens", 0)
        return (tokens_in * price_in + tokens_out * price_out) / _MILLION
