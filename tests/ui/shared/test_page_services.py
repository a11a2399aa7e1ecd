"""What is loaded for the process is not looked through again after each run of a page."""

import gc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ui.shared.frame import _warm_up


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    gc.unfreeze()
    yield
    gc.unfreeze()


def test_the_collector_is_kept_off_what_was_loaded_once_and_for_all() -> None:
    frozen: list[int] = []
    for _ in range(2):
        built: Any = SimpleNamespace(warm_up=lambda: frozen.append(gc.get_freeze_count()))
        _warm_up(built)
        frozen.append(gc.get_freeze_count())
    before, after, before_again, again = frozen
    assert before == 0
    assert after > 1000
    assert max(before_again, again) <= after  # a few may be gone, none is added
