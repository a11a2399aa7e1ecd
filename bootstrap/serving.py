"""The services of the API itself: who may call it, and how much."""

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from bootstrap.hosting import make_host_policy
from bootstrap.parts import Parts
from web.hosts import Host
from web.policy import HostPolicy

if TYPE_CHECKING:
    from services.api_keys import ApiKeyService
    from services.api_limits import ApiLimits
    from services.embedding import EmbeddingService


class ServingServices:
    """Built when first used, as all services are."""

    _parts: Parts

    @cached_property
    def api_keys(self) -> "ApiKeyService":
        """The keys of programs."""
        from services.api_keys import ApiKeyService
        from storage.api_keys import ApiKeys

        return ApiKeyService(ApiKeys(self._parts.database))

    @cached_property
    def embedding(self) -> "EmbeddingService":
        """Vectors of texts that programs bring."""
        from services.embedding import EmbeddingService
        from storage.indexes import Indexes

        wanted = self._parts.wanted.embedding
        return EmbeddingService(
            Indexes(self._parts.database),
            self._parts.stores,
            wanted,
            self._parts.embeddings_for(wanted),
        )

    @property
    def api_limits(self) -> "ApiLimits":
        """What a process of the API takes at most."""
        from services.api_limits import ApiLimits

        settings = self._parts.settings
        origins = (origin.strip() for origin in settings.api_cors_origins.split(","))
        return ApiLimits(
            settings.api_requests_per_minute,
            settings.api_answers,
            settings.max_file_mb * 1024 * 1024,
            tuple(origin for origin in origins if origin),
        )

    def host_policy(
        self, bound: str = "", *, hosts: Iterable[Host] = (), origins: Iterable[str] = ()
    ) -> HostPolicy:
        """Which hosts and origins a server is open to that listens on the address `bound`.

        `hosts` and `origins` come on top of the settings.
        """
        return make_host_policy(self._parts.settings, bound, hosts, origins)
