"""Whether a text has begun to repeat the same words without end, as small models do."""

import re

LONGEST_TAIL = 2_400
"""Only so many characters at the end of a text are looked at."""
LEAST_CHARS = 500
LEAST_TIMES = 4
CHECK_EVERY_CHARS = 100
_KEY_CHARS = 40
# Small models like to count on: "[6] Leave policy", "[7] Leave policy", or "1. Yes", "2. Yes".
_COUNTER = re.compile(r"\[\d{1,4}\]|^[ \t]*\d{1,4}[.)]", re.MULTILINE)


def ends_in_loop(text: str) -> bool:
    """Whether the text ends with the same characters, over and over.

    They stand there at least `LEAST_TIMES` times in a row and fill at least `LEAST_CHARS`, which
    is more than any ruled line or table of an answer does. Numbers of sources and of list items
    may differ.
    """
    tail = _COUNTER.sub("", text[-LONGEST_TAIL:])
    key, last = tail[-_KEY_CHARS:], len(tail) - _KEY_CHARS
    start = tail.rfind(key, 0, len(tail) - 1)
    while start >= 0:
        period = last - start
        span = max(LEAST_CHARS, LEAST_TIMES * period)
        if span > len(tail):
            return False
        if tail[-span:-period] == tail[-span + period :]:
            return True
        start = tail.rfind(key, 0, start + _KEY_CHARS - 1)
    return False


class LoopDetector:
    """Reads a text piece by piece and knows when it repeats itself."""

    def __init__(self) -> None:
        self._tail = ""
        self._unchecked = 0
        self.in_loop = False

    def read(self, piece: str) -> None:
        """Take the next piece; `in_loop` is checked after each `CHECK_EVERY_CHARS`."""
        self._tail = (self._tail + piece)[-LONGEST_TAIL:]
        self._unchecked += len(piece)
        if self._unchecked >= CHECK_EVERY_CHARS:
            self._unchecked = 0
            self.in_loop = self.in_loop or ends_in_loop(self._tail)
