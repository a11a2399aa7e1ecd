"""Documents that could not be read: listed until they can be, or until a person has seen enough."""

from collections.abc import Iterable
from dataclasses import dataclass

from domain import FailedDocument, Principal, QueuedImport
from services.own_sources import Named, Queue, by_source, own_sources
from storage.failures import Failures
from storage.sources import Sources


@dataclass(frozen=True, slots=True)
class FailurePage:
    """One page of the documents that could not be read, and how many there are."""

    failures: tuple[FailedDocument, ...]
    total: int


@dataclass(frozen=True)
class FailureService:
    """The failures in the sources that the principal may see."""

    remembered: Failures
    sources: Sources
    queue: Queue

    def page(self, principal: Principal, *, limit: int = 50, offset: int = 0) -> FailurePage:
        """`limit` failures that were not dismissed, after the first `offset`, latest first."""
        own = list(own_sources(self.sources, principal))
        found = self.remembered.page(own, limit=limit, offset=offset)
        return FailurePage(tuple(found), self.remembered.count(own))

    def count(self, principal: Principal) -> int:
        """How many there are."""
        return self.remembered.count(list(own_sources(self.sources, principal)))

    def named(self, principal: Principal) -> list[Named]:
        """All of them: the source's id and the key of each."""
        return self.remembered.named(list(own_sources(self.sources, principal)))

    def dismiss(self, principal: Principal, failed: Iterable[Named]) -> None:
        """Show these no more, until they fail again."""
        for source_id, keys in by_source(own_sources(self.sources, principal), failed).items():
            self.remembered.dismiss(source_id, keys)

    def retry(self, principal: Principal, failed: Iterable[Named]) -> list[QueuedImport]:
        """Have these read again, changed or not; the imports that will do it."""
        return [
            self.queue.enqueue(principal, source_id, keys=keys)
            for source_id, keys in by_source(own_sources(self.sources, principal), failed).items()
        ]
