"""The garbage collector does not scan what a page process loads at startup again after each run."""

import gc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ui.shared.frame import _warm_up


@pytest.fixture(autouse=True)
def _nothing_frozen_at_first() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.freeze()


def test_objects_loaded_at_startup_are_frozen_once() -> None:
    counts: list[int] = []
    for _ in range(2):
        services: Any = SimpleNamespace(warm_up=lambda: counts.append(gc.get_freeze_count()))
        _warm_up(services)
        counts.append(gc.get_freeze_count())
    before, after, before_again, after_again = counts
    assert before == 0
    assert after > 1000
    assert max(before_again, after_again) <= after  # some may have been freed, but none added
