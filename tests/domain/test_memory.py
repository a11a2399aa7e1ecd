import ctypes
import platform

import pytest

from domain.memory import return_freed_memory
from tests.fakes.allocator import FREED_BYTES, memory_with_freed_blocks, resident_bytes


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="about glibc")
def test_freed_memory_is_returned_to_the_operating_system():
    with memory_with_freed_blocks():
        before = resident_bytes()
        return_freed_memory()
        assert before - resident_bytes() > FREED_BYTES / 2


def test_nothing_happens_on_systems_without_the_call(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    monkeypatch.setattr(ctypes, "CDLL", None)  # calling it would fail
    return_freed_memory()
