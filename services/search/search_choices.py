"""The choices for narrowing a search."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from domain import Principal, Scope, SearchChoice
from services.access import own_sources
from services.search.search_scope import condition_of
from storage.ledger.document_list_store import DocumentList, LabelList
from storage.ledger.source_store import Sources, StoredSource

CACHE_S = 5.0
"""The time in seconds for which the contents of the library are cached."""


@dataclass(frozen=True, slots=True)
class Choices:
    """The names to choose from.

    `sources` are names by id, and `catalogs` the ids of those that are searched only if they are
    chosen; `own` is the source id of the conversation's files, or "".
    `settings` is the default search, without None values.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    collections: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    own: str = ""
    catalogs: tuple[str, ...] = ()
    settings: SearchChoice = field(default_factory=SearchChoice)


class _Contents(NamedTuple):
    """The formats and labels of each source's documents, by source id."""

    read_at: float
    formats: Mapping[str, Set[str]]
    labels: Mapping[str, Set[str]]


class ChoiceService:
    """Lists the sources, collections, formats, and labels by which searches can be narrowed."""

    def __init__(
        self,
        documents: DocumentList,
        labels: LabelList,
        sources: Sources,
        settings: SearchChoice,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Build the service; `settings` is the default search, `now` a monotonic clock."""
        self._documents = documents
        self._labels = labels
        self._sources = sources
        self._settings = settings
        self._now = now
        self._contents: _Contents | None = None

    def choices(self, principal: Principal, conversation_id: str | None = None) -> Choices:  # noqa: ARG002  # every call has one
        """The contents of the library, at most `CACHE_S` old, without other people's files.

        A catalog is a source to choose, but its format and labels are not.

        Args:
            principal: The user.
            conversation_id: The conversation whose files are included.
        """
        contents = self._current_contents()
        conversations = ("", conversation_id)
        visible = [
            one
            for one in self._sources.list()
            if one.conversation_id in conversations and one.id in contents.formats
        ]
        documents = [one for one in visible if not one.is_catalog]
        return Choices(
            sources={one.id: one.name or one.location for one in visible},
            collections=tuple(sorted({one.collection for one in visible})),
            formats=_sort(contents.formats, documents),
            labels=_sort(contents.labels, documents),
            own=next((one.id for one in visible if one.conversation_id), ""),
            catalogs=tuple(one.id for one in visible if one.is_catalog),
            settings=self._settings,
        )

    def check(self, principal: Principal, scope: Scope) -> None:
        """Check that a search can be narrowed to the scope.

        Raises:
            InputError: A source was removed, or the dates contradict each other.
        """
        condition_of(scope, own_sources(self._sources, principal).values())

    def _current_contents(self) -> _Contents:
        # A page calls this on every click, and it reads every document's row.
        if self._contents is None or self._now() - self._contents.read_at > CACHE_S:
            formats: defaultdict[str, set[str]] = defaultdict(set)
            for tally in self._documents.tallies():
                formats[tally.source_id].add(tally.format)
            self._contents = _Contents(self._now(), formats, self._labels.by_source())
        return self._contents


def _sort(by_source: Mapping[str, Set[str]], sources: Iterable[StoredSource]) -> tuple[str, ...]:
    return tuple(sorted({name for one in sources for name in by_source.get(one.id, ())}))
