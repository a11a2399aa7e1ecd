"""Measures how long each stage of a question or an import takes."""

import time
from collections import defaultdict

from domain.logs import milliseconds


class StageTimes:
    """Adds up the times of stages; each stage lasts until the next one is entered."""

    def __init__(self, stage: str = "") -> None:
        """Start the clock and a stage; time in the stage "" counts only for the total."""
        self._began = self._since = time.perf_counter()
        self._stage = stage
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def enter(self, stage: str) -> float:
        """Start a stage; returns the seconds spent in the one that it ends."""
        now = time.perf_counter()
        seconds = now - self._since
        if self._stage:
            self._seconds[self._stage] += seconds
        self._stage, self._since = stage, now
        return seconds

    def fields(self) -> dict[str, float]:
        """The fields of a log line: the total, then the stages that have ended."""
        stages = {f"{name}_ms": milliseconds(seconds) for name, seconds in self._seconds.items()}
        return {"total_ms": milliseconds(time.perf_counter() - self._began), **stages}
