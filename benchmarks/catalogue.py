"""Ranking the places of a catalogue, without the models' own time: vectors are given.

The catalogue is made by the real import; there is no cross-encoder, what reviewers praise stands
in for it. Beside it runs the exact dense search alone, which every answer needs once.
"""

import re
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from benchmarks.measure import Report, Times, compare
from benchmarks.texts import zipf
from domain import (
    ASPECTS,
    LOCAL_USER,
    NOTHING_BEFORE,
    Before,
    CatalogueFilters,
    CatalogueQuery,
    DocumentRef,
)

DIMENSION = 384
REVIEWS, WORDS, QUESTION_WORDS = 10, 40, 6
KINDS = 200
"""Groups of places whose vectors are near each other, as those of one cuisine are."""
BOROUGHS, TYPES = 5, 24
WEIGHTS = {aspect: n / len(ASPECTS) for n, aspect in enumerate(ASPECTS)}
NEAREST = 60
LIMIT_MS = 150
SMALL = {"places": 60, "queries": 5}
FILTERS = {
    "all places": CatalogueFilters(),
    "one type desired": CatalogueFilters(desired_types=("type3",)),
    "one borough of five": CatalogueFilters({"borough": "borough2"}),
    "a borough and a rating": CatalogueFilters({"borough": "borough2"}, None, 4.0),
    "a rating, nine of ten places": CatalogueFilters(min_rating=0.5),
}
DENSE = f"the exact dense search alone, best {NEAREST} passages"


def measure(
    *,
    cache: str,  # noqa: ARG001  # every part is called alike
    places: int = 10_000,
    queries: int = 200,
) -> Report:
    report = Report(
        "Catalogue search",
        f"{places:,} places of {REVIEWS + 1} passages of {WORDS} made-up words, {DIMENSION} "
        f"dimensions; {queries} questions twice, warm, one thread; the question's vector is given, "
        "no cross-encoder; best 20 places with their passages",
    )
    with tempfile.TemporaryDirectory() as folder:
        vectors = PlaceVectors(places)
        searches = open_engine(Path(folder), vectors, places)
        asked = [(words, vectors.question()) for words in zipf(queries, QUESTION_WORDS, seed=1)]
        add_times(report, compare(searches, asked))
    return report


def add_times(report: Report, times: dict[str, Times]) -> None:
    dense = times[DENSE].p50
    rows: list[list[str | float | None]] = [
        [name, each.p50, each.p95, each.p50 / dense] for name, each in times.items()
    ]
    report.table(report.title, ["", "p50 ms", "p95 ms", "times the dense search"], rows)
    for name in FILTERS:
        report.ratio(f"{name}: engine / dense search alone, p50", times[name].p50 / dense)
        report.ratio(f"{name}: p95 / the {LIMIT_MS} ms asked for", times[name].p95 / LIMIT_MS)


class PlaceVectors(Embeddings):
    """Vectors around that of a place, which lie around that of its kind; a question's is given."""

    given: Any = None

    def __init__(self, places: int) -> None:
        self._rng = np.random.default_rng(0)
        kinds = self._drawn(KINDS)
        self._places = kinds[self._rng.integers(KINDS, size=places)] + 0.7 * self._drawn(places)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One near its place for each text, which begins with the place's title."""
        numbers = [int(found.group(1)) for text in texts if (found := _TITLE.search(text))]
        return (self._places[numbers] + 0.7 * self._drawn(len(texts))).tolist()  # type: ignore[no-any-return]

    def embed_query(self, text: str) -> Any:  # noqa: ARG002  # LangChain's signature
        """The one that was given."""
        return self.given

    def question(self) -> Any:
        """One near some place."""
        return self._places[self._rng.integers(len(self._places))] + 0.7 * self._drawn(1)[0]

    def _drawn(self, count: int) -> Any:
        return self._rng.standard_normal((count, DIMENSION), dtype=np.float32)


_TITLE = re.compile(r"Place (\d+)")


class MadeUpPlaces:
    """A loader of places with reviews of words with Zipf's frequencies."""

    def __init__(self, places: int) -> None:
        self._rng = np.random.default_rng(0)
        self._texts = zipf(places * (REVIEWS + 1), WORDS)
        self._places = places

    def list(self, before: Before = NOTHING_BEFORE) -> Iterator[DocumentRef]:  # noqa: ARG002  # all is new
        """Every place."""
        for number in range(self._places):
            yield DocumentRef(f"{number}", "1", "/made-up")

    def read(self, ref: DocumentRef) -> Document:
        """A description and reviews, each a section of its own."""
        number = int(ref.key)
        first = number * (REVIEWS + 1)
        about, *reviews = self._texts[first : first + REVIEWS + 1]
        sections = [f"### Review {n}\n\n{review}" for n, review in enumerate(reviews)]
        place = {
            "place_id": ref.key,
            "types": [f"type{number % TYPES}"],
            "fields": {"borough": f"borough{number % BOROUGHS}"},
            "rating": round(float(self._rng.uniform(0, 5)), 1),
            "ratings": REVIEWS,
            "aspects": {aspect: self._rng.integers(REVIEWS, size=2).tolist() for aspect in ASPECTS},
        }
        title = f"Place {number}"
        text = "\n\n".join([f"# {title}", about, *sections])
        return Document(text, metadata={"title": title, "format": "place", "place": place})


def open_engine(
    folder: Path, vectors: PlaceVectors, places: int
) -> dict[str, Callable[[tuple[str, Any]], object]]:
    """Import so many places into the folder, and give the searches by name."""
    from catalog.search_engine import SearchEngine
    from loaders.split import SPLITTER_VERSION
    from services.imports import ImportService
    from services.ranking import OpenIndex
    from storage.database import open_database
    from storage.documents import Documents
    from storage.index_stores import IndexStores
    from storage.indexes import Indexes, IndexSpec
    from storage.places import Places
    from storage.sources import Sources

    database = open_database(folder)
    stores = IndexStores(folder, lambda _stored: vectors)
    source = Sources(database).ensure("catalogue", "/made-up", name="made-up")
    wanted = IndexSpec({"name": "made-up"}, "made-up", SPLITTER_VERSION, 1000, 150)
    done = ImportService(database, stores, wanted, 1).run(LOCAL_USER, source, MadeUpPlaces(places))
    if done.passages_embedded != places * (REVIEWS + 1):
        raise SystemExit(f"{done.passages_embedded} passages: {done.message}")

    class Library:
        """As `services.library.Library` opens the index, without the models."""

        def open_index(self) -> OpenIndex | None:
            active = Indexes(database).active()
            assert active is not None  # the import has made it
            store = stores.open(active)
            return OpenIndex(store.passages, store.keywords)

    engine = SearchEngine(Library(), Documents(database), Places(database))

    def search(filters: CatalogueFilters, question: tuple[str, Any]) -> object:
        words, vectors.given = question
        return engine.search(source.id, 5.0, CatalogueQuery(words, words, filters), WEIGHTS)

    def dense(question: tuple[str, Any]) -> object:
        words, vectors.given = question
        index = Library().open_index()
        assert index is not None
        return index.passages.similar_ids(words, NEAREST, filter={"source_id": source.id})

    return {DENSE: dense, **{name: partial(search, each) for name, each in FILTERS.items()}}
