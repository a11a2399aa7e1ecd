"""Replaces the services of a running process when the stored settings change."""

import threading
from collections.abc import Callable

from bootstrap.services import Services
from bootstrap.stored_settings import SettingsLocation, settings_stamp
from domain.errors import AppError
from domain.logs import get_logger

_log = get_logger("processes")


class LatestServices:
    """The services for the settings as they are now; a call of `get` compares only a stamp.

    Work that has begun continues with the services that it got.
    """

    def __init__(
        self,
        build: Callable[[], Services],
        location: SettingsLocation,
        services: Services | None = None,
    ) -> None:
        """Create the holder; without `services`, it builds them now, and raises what that raises.

        Args:
            build: Builds the services for the current settings.
            location: Where the settings are stored.
            services: Services that were built just before.
        """
        self._build = build
        self._location = location
        self._stamp = services.stamp if services else settings_stamp(location)
        self._services = services or build()
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
