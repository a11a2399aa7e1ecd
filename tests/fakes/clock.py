"""A clock that is set forward or back while the program runs."""

import sys
from datetime import datetime, timedelta

import pytest

PACKAGES = ("api", "bootstrap", "domain", "loaders", "models", "services", "storage")


def set_forward(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    """Let every module of the program read a clock that is ahead by so much, or behind if negative.

    Each call counts from the real time. Monotonic clocks stay as they are.
    """

    class SetClock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + by

    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in PACKAGES and _reads_clock(module):
            monkeypatch.setattr(module, "datetime", SetClock)


def _reads_clock(module: object) -> bool:
    found = vars(module).get("datetime")
    return isinstance(found, type) and issubclass(found, datetime)
