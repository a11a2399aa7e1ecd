"""The services of the library page: documents one by one, and those that could not be read."""

from functools import cached_property
from typing import TYPE_CHECKING

from bootstrap.parts import Parts

if TYPE_CHECKING:
    from services.documents import DocumentService
    from services.failures import FailureService
    from services.queue import ImportQueue
    from services.uploads import UploadService


class BrowsingServices:
    """Built when first used, as all services are."""

    _parts: Parts

    @property
    def queue(self) -> "ImportQueue":
        """Imports as jobs."""
        raise NotImplementedError

    @property
    def uploads(self) -> "UploadService":
        """Files that people give, in boxes."""
        raise NotImplementedError

    @cached_property
    def documents(self) -> "DocumentService":
        """The library's documents one by one."""
        from services.documents import DocumentService
        from storage.indexes import Indexes
        from storage.sources import Sources

        database = self._parts.database
        return DocumentService(
            database, Sources(database), Indexes(database), self.queue, self.uploads
        )

    @cached_property
    def failures(self) -> "FailureService":
        """Documents that could not be read."""
        from services.failures import FailureService
        from storage.failures import Failures
        from storage.sources import Sources

        database = self._parts.database
        return FailureService(Failures(database), Sources(database), self.queue)
