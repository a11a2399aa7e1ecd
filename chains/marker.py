"""A citation marker of an answer, as values."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """One source number of a marker, with the quote it gives for it, if any."""

    n: int
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation marker as written (`raw`) and what it cites, in order.

    `quotes` says how many characters of the text directly before it, spaces aside, are what it
    quotes, where an answerer wrote it that knows; 0 where that is to be read from the text.
    """

    raw: str
    claims: tuple[Claim, ...]
    quotes: int = 0

    @property
    def shown(self) -> str:
        """The marker as a reader sees it: the numbers alone, `[1][2]`."""
        return "".join(f"[{claim.n}]" for claim in self.claims)
