"""File permissions that are enforced even if the tests run as root."""

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_VERSION_3 = 0x20080522
_DAC_OVERRIDE, _DAC_READ_SEARCH = 1 << 1, 1 << 2
"""The capabilities that let root bypass permissions, numbered as in capabilities(7)."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable"))


@contextmanager
def enforced_permissions() -> Iterator[None]:
    """Enforce file modes for this thread and its children, by dropping root's capabilities."""
    if os.geteuid() != 0:
        yield
        return
    if not sys.platform.startswith("linux"):
        pytest.skip("root may open everything, and only on Linux can that be prevented")
    sets = _call("capget")
    before = sets[0].effective
    sets[0].effective = before & ~(_DAC_OVERRIDE | _DAC_READ_SEARCH)
    _call("capset", sets)
    try:
        yield
    finally:
        sets[0].effective = before
        _call("capset", sets)


def _call(name: str, sets: "ctypes.Array[_Sets] | None" = None) -> "ctypes.Array[_Sets]":
    sets = sets or (_Sets * 2)()
    header = _Header(_VERSION_3, 0)
    if getattr(ctypes.CDLL(None, use_errno=True), name)(ctypes.byref(header), sets) != 0:
        raise OSError(ctypes.get_errno(), name)
    return sets
