"""The turn of an import run: how long it may work while other runs wait."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from domain import CancelledError
from services.long_work import never

TURN_S = 30.0
"""The time after which a run lets others run if any wait."""


class TurnOverError(CancelledError):
    """The run returns to the queue, because others wait for their turn."""


@dataclass(eq=False)
class ImportTurn:
    """One turn of a run; by default, nobody waits, so that it has no end.

    A run that continues in a later turn lists its source again. The time to read and write is
    therefore at least as long as that for the listing, so that a turn always makes progress.
    """

    others_wait: Callable[[], bool] = never
    seconds: float = TURN_S
    _began: float = field(default_factory=time.monotonic)
    _ends: float | None = None

    def end_listing(self) -> None:
        """Note that the source has been listed; until then, the turn does not end."""
        now = time.monotonic()
        self._ends = now + max(self.seconds - (now - self._began), now - self._began)

    def is_over(self) -> bool:
        """Whether the run should return to the queue at the next document."""
        has_ended = self._ends is not None and time.monotonic() >= self._ends
        return has_ended and self.others_wait()


UNLIMITED = ImportTurn()
"""The turn of a run that nobody waits for."""
