"""What a person can choose of how the library is searched."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from domain import Principal, Scope, SearchChoice
from services.scope import condition_of
from storage.document_list import DocumentList
from storage.label_list import LabelList
from storage.sources import Sources, StoredSource


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


@dataclass(frozen=True)
class ChoiceService:
    """Lists what searches can be narrowed to. `settings` is what the settings choose."""

    documents: DocumentList
    labels: LabelList
    sources: Sources
    settings: SearchChoice

    def choices(self, principal: Principal, conversation_id: str | None = None) -> Choices:  # noqa: ARG002  # every call names who asks
        """What the library holds now; of conversations' own files only this one's."""
        tallies = self.documents.tallies()
        filled = {tally.source_id for tally in tallies}
        seen = [one for one in self._visible(conversation_id) if one.id in filled]
        ids = {one.id for one in seen}
        return Choices(
            sources={one.id: one.name or one.location for one in seen},
            collections=tuple(sorted({one.collection for one in seen})),
            formats=tuple(sorted({one.format for one in tallies if one.source_id in ids})),
            labels=tuple(self.labels.names(ids)),
            own=next((one.id for one in seen if one.conversation_id), ""),
            settings=self.settings,
        )

    def check(self, principal: Principal, scope: Scope) -> None:  # noqa: ARG002  # every call names who asks
        """Make sure a search can be narrowed to that scope.

        Raises:
            InputError: A source is gone, or the dates contradict each other; what to do is said.
        """
        condition_of(scope, self.sources.list())

    def _visible(self, conversation_id: str | None) -> list[StoredSource]:
        return [one for one in self.sources.list() if one.conversation_id in ("", conversation_id)]
