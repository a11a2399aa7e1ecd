"""Questions about a large catalogue, without the models' own time: vectors cost next to nothing.

The catalogue is made by the real import and asked through the real service; no chat model and no
cross-encoder is set. Beside it runs the exact dense search alone, which every answer needs once.
"""

import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from benchmarks.catalogue_data import DIMENSION, SAMPLE, WordVectors, write_catalogue
from benchmarks.measure import Report, Times, compare
from bootstrap import Services
from bootstrap.parts import Parts
from catalog.preferences import spoken_of
from domain import LOCAL_USER, CatalogueFilters, CatalogueQuery
from evaluation.catalogue_questions import load_catalogue_questions
from settings import Settings

NEAREST = 60
LIMIT_MS = 150
SMALL = {"places": 60, "questions": 5}
FILTERS = {
    "all places": CatalogueFilters(),
    "one type desired": CatalogueFilters(desired_types=("italian_restaurant",)),
    "a borough, a quarter of all": CatalogueFilters({"borough_en": "Queens"}),
    "a borough and a rating, few": CatalogueFilters({"borough_en": "Queens"}, None, 4.0),
    "a rating, nine of ten places": CatalogueFilters(min_rating=2.9),
}
DENSE = f"the exact dense search alone, best {NEAREST} passages"
WHOLE = "a whole answer, as each question is understood"


def measure(
    *,
    cache: str,  # noqa: ARG001  # every part is called alike
    places: int = 10_000,
    questions: int = 60,
) -> Report:
    with tempfile.TemporaryDirectory() as folder:
        services, reviews = imported(Path(folder), places)
        asked = understood(services, questions)
        report = Report(
            "Catalogue search",
            f"{places:,} places with {reviews:,} reviews, {DIMENSION} dimensions; {len(asked)} "
            "labelled questions in three languages, twice, warm, one thread; vectors are made of "
            "words in no time, no chat model, no cross-encoder",
        )
        add_times(report, compare(searches(services), asked))
    return report


def add_times(report: Report, times: Mapping[str, Times]) -> None:
    dense = times[DENSE].p50
    rows: list[list[str | float | None]] = [
        [name, each.p50, each.p95, each.p50 / dense] for name, each in times.items()
    ]
    report.table(report.title, ["", "p50 ms", "p95 ms", "times the dense search"], rows)
    for name in (*FILTERS, WHOLE):
        report.ratio(f"{name}: p50 / dense search alone", times[name].p50 / dense)
        report.ratio(f"{name}: p95 / the {LIMIT_MS} ms asked for", times[name].p95 / LIMIT_MS)


class _Parts(Parts):
    """Those of nobody's settings, with vectors that are made of words."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(Settings(data_dir=data_dir, _env_file=None))
        self._vectors = WordVectors()

    def embeddings_for(self, stored: Mapping[str, Any]) -> Embeddings:  # noqa: ARG002  # there is one
        return self._vectors


class _Services(Services):
    def __init__(self, data_dir: Path) -> None:
        self._parts = _Parts(data_dir)


def imported(folder: Path, places: int) -> tuple[Services, int]:
    """The services over a catalogue of so many places, and how many reviews it has."""
    data = folder / "catalogue"
    data.mkdir()
    reviews = write_catalogue(data, places)
    services = _Services(folder / "library")
    done = services.catalogue_imports.run(LOCAL_USER, data)
    if done.passages_embedded < places + reviews:
        raise SystemExit(f"{done.passages_embedded} passages: {done.message}")
    return services, reviews


def understood(services: Services, count: int) -> list[CatalogueQuery]:
    """So many of the labelled questions, of all languages, as the rules understand them."""
    known = load_catalogue_questions(SAMPLE / "questions.jsonl")
    rules = services.catalogue.known.find(LOCAL_USER).rules
    return [rules.analyse(one.text) for one in known[:: max(1, len(known) // count)]]


def searches(services: Services) -> dict[str, Callable[[CatalogueQuery], object]]:
    """The dense search, the engine with each of the filters, and whole answers."""
    catalogue, asker = services.catalogue.known.find(LOCAL_USER), services.catalogue.make_asker()
    index = services.library.open_index()
    assert index is not None  # the import has made it

    def dense(query: CatalogueQuery) -> object:
        condition = {"source_id": catalogue.id}
        return index.passages.similar_ids(query.query_en, NEAREST, filter=condition)

    def ranked(filters: CatalogueFilters, query: CatalogueQuery) -> object:
        asked = CatalogueQuery(query.question, query.query_en, filters)
        weights = spoken_of(query.aspect_weights, {}, catalogue.description.aspect_names)
        return asker.engine.search(catalogue.id, 5.0, asked, weights)

    def answered(query: CatalogueQuery) -> object:
        return deque(services.catalogue.search(LOCAL_USER, query.question), maxlen=1)

    engine = {name: partial(ranked, filters) for name, filters in FILTERS.items()}
    return {DENSE: dense, **engine, WHOLE: answered}
