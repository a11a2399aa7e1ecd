"""Derives metrics and traces from the lines that this process logs."""

import logging
import re
from abc import ABC, abstractmethod

from domain.logs import PROGRAM

ENDED_RUN = re.compile(r"(import|dry run|removal) (finished|failed|interrupted|stopped)")
"""The event of the line that ends a run; its groups are the kind and how the run ended."""


class LogObserver(logging.Handler, ABC):
    """A handler that reads the events and fields of lines, which docs/operations.md lists."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)

    def start(self) -> None:
        """Observe lines from now on, whatever the configured level is."""
        program = logging.getLogger(PROGRAM)
        program.addHandler(self)
        program.setLevel(min(program.getEffectiveLevel(), self.level))

    def emit(self, record: logging.LogRecord) -> None:
        """Observe one line; an error here never reaches the code that logs."""
        try:
            self.observe(record)
        except Exception:  # noqa: BLE001  # as in the handlers of the standard library
            self.handleError(record)

    @abstractmethod
    def observe(self, record: logging.LogRecord) -> None:
        """Observe one line."""
