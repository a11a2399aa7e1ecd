"""A scripted catalog service for tests of the catalog page."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from domain import (
    CatalogDescription,
    CatalogFilters,
    CatalogQuery,
    Citation,
    CitationState,
    FilterField,
    NamedValue,
    Pattern,
    Person,
    Place,
    PlaceHit,
    PlacePart,
    PlacePassage,
    Quote,
    RetrievedPassage,
)
from domain.errors import AppError, NotFoundError
from services.catalog.catalog_question import (
    AnswerCompleted,
    AnswerText,
    CatalogAnswer,
    CatalogEvent,
    PlacesRanked,
    QuestionAnalyzed,
)
from services.catalog.catalogs import CatalogSummary

DESCRIPTION = CatalogDescription(
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


def place_hit(n: int, title: str, score: float = 2.5, **changes: object) -> PlaceHit:
    parts = (
        PlacePart("hybrid", 0.9, 1.0),
        PlacePart("confidence", 0.8, 0.3),
        PlacePart("type", 1.0, 0.5),
        PlacePart("cross_encoder", 0.43, 2.0),
    )
    passage = PlacePassage(f"passage{n}", START, START + len(QUOTE), QUOTE)
    patterns, tags = (PATTERN,), ("ambience",)
    return PlaceHit(place(n, title, **changes), score, parts, (passage,), patterns, tags)


SOURCE = RetrievedPassage(1, "passage1", "d1", "Trattoria Lucia", "places.jsonl", TEXT)
CITATION = Citation(
    1, CitationState.VERIFIED, QUOTE, document_id="d1", start=START, end=START + len(QUOTE)
)

FILTERS = CatalogFilters({"borough_en": "Brooklyn"}, ("italian_restaurant",), 4.0)


@dataclass
class ScriptedCatalog:
    """Plays its script for every question and records its arguments."""

    summaries: list[CatalogSummary] = field(
        default_factory=lambda: [
            CatalogSummary("c1", "Restaurants", 300, DESCRIPTION, BOROUGHS, TYPES)
        ]
    )
    places: tuple[PlaceHit, ...] = (
        place_hit(1, "Trattoria Lucia"),
        place_hit(2, "Pasta Pronto", 1.5),
    )
    filters: CatalogFilters = FILTERS
    weights: dict = field(default_factory=lambda: {"ambience": 0.9, "price": 0.1, "food": None})
    notices: tuple[str, ...] = ()
    is_refusal: bool = False
    error: AppError | None = None
    fails_after: int = 99
    requests: list[dict] = field(default_factory=list)

    def catalogs(self, principal: object) -> list[CatalogSummary]:
        return self.summaries

    def search(self, principal: object, question: str, **options: object) -> Iterator:
        self.requests.append({"question": question, **options})
        if self.error and self.fails_after == 0:
            raise self.error
        analysis = options["analysis"] or self.analysis(question)
        return self._events(analysis)

    def analysis(self, question: str) -> CatalogQuery:
        return CatalogQuery(question, "italian with ambience", self.filters, self.weights)

    def _events(self, query: CatalogQuery) -> Iterator[CatalogEvent]:
        events = [
            QuestionAnalyzed(query, {"ambience": 0.9}),
            PlacesRanked(self.places, self.notices),
            AnswerText("It is lovely "),
            AnswerText("[1]."),
            AnswerCompleted(self._answer(query)),
        ]
        for n, event in enumerate(events, start=1):
            yield event
            if self.error and n == self.fails_after:
                raise self.error

    def _answer(self, query: CatalogQuery) -> CatalogAnswer:
        return CatalogAnswer(
            "c1",
            query,
            {"ambience": 0.9},
            self.places,
            "It is lovely [1].",
            (CITATION,),
            (SOURCE,),
            notices=self.notices,
            timings_ms={"total": 1200.0},
            is_refusal=self.is_refusal,
        )


@dataclass
class ScriptedPeople:
    """Stores one person."""

    person: Person | None = None

    def get(self, principal: object, user_id: str) -> Person:
        if self.person is None:
            raise NotFoundError("there is no such user")
        return self.person

    def patch(
        self, principal: object, user_id: str, preferences: dict[str, float | None]
    ) -> Person:
        before = dict(self.person.preferences) if self.person else {}
        merged = {**before, **preferences}
        remaining = {one: it for one, it in merged.items() if it is not None}
        self.person = Person("local", user_id, remaining)
        return self.person
