"""What a person can choose of how the library is searched."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from domain import Principal, Scope, SearchChoice
from services.own_sources import own_sources
from services.scope import condition_of
from storage.document_list import DocumentList
from storage.label_list import LabelList
from storage.sources import Sources, StoredSource

KEPT_S = 5.0
"""So long what the library holds is not read again."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to choose from, each by name.

    `sources` are names by id, and `own` is the id of the conversation's own files, "" where it
    has none. `settings` is how is searched where nothing is chosen; none of it is None.
    """

    sources: Mapping[str, str] = field(default_factory=dict)
    collections: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    own: str = ""
    settings: SearchChoice = field(default_factory=SearchChoice)


class _Held(NamedTuple):
    """By source id, what its documents have; read at that moment."""

    read_at: float
    formats: Mapping[str, Set[str]]
    labels: Mapping[str, Set[str]]


class ChoiceService:
    """Lists what searches can be narrowed to."""

    def __init__(
        self,
        documents: DocumentList,
        labels: LabelList,
        sources: Sources,
        settings: SearchChoice,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Args are kept, nothing is read.

        Args:
            documents: The documents, counted.
            labels: Their labels.
            sources: The sources.
            settings: How is searched where nothing is chosen.
            now: Seconds that go by.
        """
        self._documents = documents
        self._labels = labels
        self._sources = sources
        self._settings = settings
        self._now = now
        self._held: _Held | None = None

    def choices(self, principal: Principal, conversation_id: str | None = None) -> Choices:  # noqa: ARG002  # every call names who asks
        """What the library holds, now or a few seconds ago; of private files only one's own.

        Args:
            principal: Who asks.
            conversation_id: The conversation whose own files are among the choices.
        """
        held = self._held_now()
        own = ("", conversation_id)
        seen = [
            one
            for one in self._sources.list()
            if one.conversation_id in own and one.id in held.formats
        ]
        return Choices(
            sources={one.id: one.name or one.location for one in seen},
            collections=tuple(sorted({one.collection for one in seen})),
            formats=_sorted(held.formats, seen),
            labels=_sorted(held.labels, seen),
            own=next((one.id for one in seen if one.conversation_id), ""),
            settings=self._settings,
        )

    def check(self, principal: Principal, scope: Scope) -> None:
        """Make sure a search can be narrowed to that scope.

        Raises:
            InputError: A source is gone, or the dates contradict each other; what to do is said.
        """
        condition_of(scope, own_sources(self._sources, principal).values())

    def _held_now(self) -> _Held:
        # A page asks at each press of a button, and every document is looked at for it.
        if self._held is None or self._now() - self._held.read_at > KEPT_S:
            formats: defaultdict[str, set[str]] = defaultdict(set)
            for tally in self._documents.tallies():
                formats[tally.source_id].add(tally.format)
            self._held = _Held(self._now(), formats, self._labels.by_source())
        return self._held


def _sorted(by_source: Mapping[str, Set[str]], sources: Iterable[StoredSource]) -> tuple[str, ...]:
    return tuple(sorted({name for one in sources for name in by_source.get(one.id, ())}))
