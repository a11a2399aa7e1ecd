"""A catalogue service that plays a script, for tests of the page of places."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from catalog.catalogues import CatalogueSummary
from catalog.events import Answered, CatalogueAnswer, CatalogueEvent, Ranked, Understood, Written
from domain import (
    CatalogueDescription,
    CatalogueFilters,
    CatalogueQuery,
    Citation,
    CitationState,
    FilterField,
    FoundPlace,
    NamedValue,
    Pattern,
    Person,
    Place,
    PlacePart,
    PlacePassage,
    Quote,
    Source,
)
from errors import AppError, NotFoundError

DESCRIPTION = CatalogueDescription(
    name="Restaurants",
    places="places.jsonl",
    id="id",
    title="name",
    types=(NamedValue("italian_restaurant", {"en": ("italian",), "ko": ("이탈리안",)}),),
    filters=(FilterField("borough_en", "borough", (NamedValue("Brooklyn"),)),),
    groups=(("korean", {"en": "Korean review", "ko": "한국인 리뷰"}),),
)
BOROUGHS = {"borough_en": ["Brooklyn", "Queens"]}
TYPES = ["italian_restaurant", "ramen_restaurant"]
QUOTE = "The ambience is lovely."
TEXT = f"# Trattoria Lucia\n\n## Reviews\n\n### Korean review\n\n{QUOTE}"
START = TEXT.index(QUOTE)


def place(n: int, title: str, **changes: object) -> Place:
    plain = Place(
        document_id=f"d{n}",
        catalogue_id="c1",
        place_id=f"p{n}",
        title=title,
        types=("italian_restaurant",),
        fields={"borough_en": "Brooklyn"},
        rating=4.5,
        reviews=32,
        latitude=40.6 + n / 100,
        longitude=-73.9 - n / 100,
    )
    return replace(plain, **changes)


PATTERN = Pattern(
    "ambience", "korean", True, 2, 5, (Quote("분위기가 좋아요.", START, START + 9),), 1
)


def found(n: int, title: str, score: float = 2.5, **changes: object) -> FoundPlace:
    parts = (
        PlacePart("hybrid", 0.9, 1.0),
        PlacePart("confidence", 0.8, 0.3),
        PlacePart("type", 1.0, 0.5),
        PlacePart("cross_encoder", 0.43, 2.0),
    )
    passage = PlacePassage(f"passage{n}", START, START + len(QUOTE), QUOTE)
    patterns, tags = (PATTERN,), ("ambience",)
    return FoundPlace(place(n, title, **changes), score, parts, (passage,), patterns, tags)


SOURCE = Source(1, "passage1", "d1", "Trattoria Lucia", "places.jsonl", TEXT)
CITATION = Citation(
    1, CitationState.VERIFIED, QUOTE, document_id="d1", start=START, end=START + len(QUOTE)
)

FILTERS = CatalogueFilters({"borough_en": "Brooklyn"}, ("italian_restaurant",), 4.0)


@dataclass
class ScriptedCatalogue:
    """Plays its script for every question, and keeps what it was asked."""

    known: list[CatalogueSummary] = field(
        default_factory=lambda: [
            CatalogueSummary("c1", "Restaurants", 300, DESCRIPTION, BOROUGHS, TYPES)
        ]
    )
    places: tuple[FoundPlace, ...] = (found(1, "Trattoria Lucia"), found(2, "Pasta Pronto", 1.5))
    filters: CatalogueFilters = FILTERS
    weights: dict = field(default_factory=lambda: {"ambience": 0.9, "price": 0.1, "food": None})
    notices: tuple[str, ...] = ()
    error: AppError | None = None
    fails_after: int = 99
    asked: list[dict] = field(default_factory=list)

    def catalogues(self, principal: object) -> list[CatalogueSummary]:
        return self.known

    def search(self, principal: object, question: str, **options: object) -> Iterator:
        self.asked.append({"question": question, **options})
        if self.error and self.fails_after == 0:
            raise self.error
        understood = options["understood"] or self.understood(question)
        return self._events(understood)

    def understood(self, question: str) -> CatalogueQuery:
        return CatalogueQuery(question, "italian with ambience", self.filters, self.weights)

    def _events(self, query: CatalogueQuery) -> Iterator[CatalogueEvent]:
        events = [
            Understood(query, {"ambience": 0.9}),
            Ranked(self.places, self.notices),
            Written("It is lovely "),
            Written("[1]."),
            Answered(self._answer(query)),
        ]
        for n, event in enumerate(events, start=1):
            yield event
            if self.error and n == self.fails_after:
                raise self.error

    def _answer(self, query: CatalogueQuery) -> CatalogueAnswer:
        return CatalogueAnswer(
            "c1",
            query,
            {"ambience": 0.9},
            self.places,
            "It is lovely [1].",
            (CITATION,),
            (SOURCE,),
            notices=self.notices,
            timings_ms={"total": 1200.0},
        )


@dataclass
class ScriptedPeople:
    """Keeps one person."""

    kept: Person | None = None

    def get(self, principal: object, user_id: str) -> Person:
        if self.kept is None:
            raise NotFoundError("there is no such user")
        return self.kept

    def patch(
        self, principal: object, user_id: str, preferences: dict[str, float | None]
    ) -> Person:
        before = dict(self.kept.preferences) if self.kept else {}
        told = {one: it for one, it in {**before, **preferences}.items() if it is not None}
        self.kept = Person("local", user_id, told)
        return self.kept
