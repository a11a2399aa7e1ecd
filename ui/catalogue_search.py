"""What is known of a search of places: while it goes on, and as it was left."""

from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bootstrap import Services
from catalog.events import Answered, CatalogueEvent, Ranked, Understood, Written
from errors import AppError
from ui.catalogue_form import PlacesAsked
from ui.catalogue_preferences import ME, me
from ui.services import principal

if TYPE_CHECKING:
    from catalog.events import CatalogueAnswer
    from domain import CatalogueQuery, FoundPlace


@dataclass
class Search:
    """What is known so far of a search; `answer` and `error` end it.

    `preferences` are those of the person when it began.
    """

    catalogue_id: str
    asked: PlacesAsked
    preferences: Mapping[str, float]
    query: "CatalogueQuery | None" = None
    places: "tuple[FoundPlace, ...] | None" = None
    notices: tuple[str, ...] = ()
    text: str = ""
    answer: "CatalogueAnswer | None" = None
    error: AppError | None = None

    @property
    def again(self) -> PlacesAsked:
        """The same once more; what was understood is not read again."""
        return PlacesAsked(self.asked.question, self.query) if self.query else self.asked

    def take(self, event: CatalogueEvent) -> None:
        """Know what the event tells."""
        match event:
            case Understood(query, _):
                self.query = query
            case Ranked(places, notices):
                self.places, self.notices = places, notices
            case Written(text):
                self.text += text
            case Answered(answer):
                self.answer, self.places, self.notices = answer, answer.places, answer.notices


def events_of(services: Services, search: Search) -> Generator[CatalogueEvent, None, None]:
    """What the service tells of the search, counting what the person prefers."""
    return services.catalogue.search(
        principal(),
        search.asked.question,
        catalogue=search.catalogue_id,
        user_id=ME if me(services) else "",
        understood=search.asked.understood,
    )
