"""The one module that imports deeplake, and keeps it from calling home."""

import ctypes
import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

logger = logging.getLogger(__name__)

_DEAD_PORT = "http://127.0.0.1:9"
_PROXIES = tuple(
    name for lower in ("http_proxy", "https_proxy", "all_proxy") for name in (lower, lower.upper())
)
_EXEMPTIONS = ("no_proxy", "NO_PROXY")
_loading = threading.Lock()


def load() -> Any:
    """The deeplake module, imported at the first call with its crash reporting switched off.

    Until that first call returns, the proxy variables of this process point at a dead port.
    """
    with _loading:
        return _import()


@cache
def _import() -> Any:
    with _no_way_out():
        import deeplake

        _stop_reporting(deeplake)
    return deeplake


@contextmanager
def _no_way_out() -> Iterator[None]:
    """Point every proxy at a port where nobody listens: the import reports its own start."""
    names = (*_PROXIES, *_EXEMPTIONS)
    before = {name: os.environ.pop(name, None) for name in names}
    os.environ.update(dict.fromkeys(_PROXIES, _DEAD_PORT))
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
