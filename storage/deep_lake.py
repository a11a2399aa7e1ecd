"""The one module that imports deeplake, and keeps it from calling home."""

import ctypes
import logging
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

logger = logging.getLogger(__name__)

_DEAD_PORT = "http://127.0.0.1:9"
_PROXIES = tuple(
    name for lower in ("http_proxy", "https_proxy", "all_proxy") for name in (lower, lower.upper())
)
_EXEMPTIONS = ("no_proxy", "NO_PROXY")
_PURGE_DELAY = "MIMALLOC_PURGE_DELAY"
"""Milliseconds until its allocator gives freed memory back to the system; it is read on loading."""
_loading = threading.Lock()


def load() -> Any:
    """The deeplake module, imported at the first call with its crash reporting switched off.

    Until that first call returns, the proxy variables of this process point at a dead port.
    """
    with _loading:
        return _import()


@cache
def _import() -> Any:
    with _no_way_out(), _environment({_PURGE_DELAY: "0"}):
        import deeplake

        _stop_reporting(deeplake)
    return deeplake


@contextmanager
def _no_way_out() -> Iterator[None]:
    """Point every proxy at a port where nobody listens: the import reports its own start."""
    with _environment(dict.fromkeys(_EXEMPTIONS) | dict.fromkeys(_PROXIES, _DEAD_PORT)):
        yield


@contextmanager
def _environment(changed: Mapping[str, str | None]) -> Iterator[None]:
    """Set these variables of this process within, or (None) remove them."""
    before = {name: os.environ.pop(name, None) for name in changed}
    os.environ.update({name: value for name, value in changed.items() if value is not None})
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _stop_reporting(deeplake: Any) -> None:
    """Close the crash reporter inside deeplake's extension module, which has no switch for it."""
    try:
        code = ctypes.CDLL(deeplake._deeplake.__file__).sentry_close()
    except (OSError, AttributeError) as error:
        code = error
    if code != 0:
        logger.warning("Deep Lake's crash reporting could not be switched off: %s", code)
