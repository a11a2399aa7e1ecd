"""Replaces the services of a running process when the stored settings change."""

import threading
from collections.abc import Callable

from bootstrap.services import Services
from bootstrap.stored_settings import location_of, settings_stamp
from domain.errors import AppError
from domain.logs import get_logger

_log = get_logger("processes")


class LatestServices:
    """The services for the settings as they are now; a call of `get` compares only a stamp.

    Work that has begun continues with the services that it got.
    """

    def __init__(self, services: Services, build: Callable[[], Services]) -> None:
        """Begin with `services`; `build` builds those for changed settings."""
        self._build = build
        self._location = location_of(services.parts.settings)
        self._stamp = services.stamp
        self._services = services
        self._lock = threading.Lock()

    def get(self) -> Services:
        """The services; if they can't be built for the changed settings, those from before."""
        if settings_stamp(self._location) != self._stamp:
            with self._lock:
                self._renew()
        return self._services

    def _renew(self) -> None:
        stamp = settings_stamp(self._location)
        if stamp == self._stamp:  # another thread was faster
            return
        try:
            services = self._build()
            services.parts.reuse_models(self._services.parts)
            self._services = services
        except AppError as error:
            _log.warning("changed settings are not used", reason=str(error))
            if error.retryable:  # such as a database that has just gone
                return
        self._stamp = stamp
