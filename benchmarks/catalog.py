"""Questions about a large catalog without model time: embedding costs next to nothing.

The catalog is imported and searched through the real services, without chat model and
cross-encoder. The baseline is the exact dense search that every answer needs once.
"""

import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings

from benchmarks.catalog_data import DIMENSION, SAMPLE, WordVectors, write_catalog
from benchmarks.measure import Report, Times, compare
from bootstrap import Services
from bootstrap.parts import Parts
from domain import LOCAL_USER, CatalogFilters, CatalogQuery
from services.catalog.preferences import mentioned_weights
from services.evaluation.catalog_figures import load_catalog_questions
from settings import Settings

NEAREST = 60
LIMIT_MS = 150
SMALL = {"places": 60, "questions": 5}
FILTERS = {
    "all places": CatalogFilters(),
    "one type desired": CatalogFilters(desired_types=("italian_restaurant",)),
    "a borough, a quarter of all": CatalogFilters({"borough_en": "Queens"}),
    "a borough and a rating, few": CatalogFilters({"borough_en": "Queens"}, None, 4.0),
    "a rating, nine of ten places": CatalogFilters(min_rating=2.9),
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
        queries = analyzed_questions(services, questions)
        report = Report(
            "Catalog search",
            f"{places:,} places with {reviews:,} reviews, {DIMENSION} dimensions; {len(queries)} "
            "labeled questions in three languages, twice, warm, one thread; vectors are made of "
            "words in no time, no chat model, no cross-encoder",
        )
        add_times(report, compare(searches(services), queries))
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
    """Services with default settings and word-based vectors."""

    def __init__(self, data_dir: Path) -> None:
        super().__init__(Settings(data_dir=data_dir, _env_file=None))
        self._vectors = WordVectors()

    def embeddings_for(self, stored: Mapping[str, Any]) -> Embeddings:  # noqa: ARG002  # there is one
        return self._vectors


class _Services(Services):
    def __init__(self, data_dir: Path) -> None:
        self.parts = _Parts(data_dir)


def imported(folder: Path, places: int) -> tuple[Services, int]:
    """Services over a catalog of `places` places, and the number of its reviews."""
    data = folder / "catalog"
    data.mkdir()
    reviews = write_catalog(data, places)
    services = _Services(folder / "library")
    import_report = services.catalog_imports.run(LOCAL_USER, data)
    if import_report.passages_embedded < places + reviews:
        raise SystemExit(f"{import_report.passages_embedded} passages: {import_report.message}")
    return services, reviews


def analyzed_questions(services: Services, count: int) -> list[CatalogQuery]:
    """Labeled questions in all languages, as interpreted by the rules."""
    questions = load_catalog_questions(SAMPLE / "questions.jsonl")
    rules = services.catalog.find(LOCAL_USER).rules
    return [rules.analyze(one.text) for one in questions[:: max(1, len(questions) // count)]]


def searches(services: Services) -> dict[str, Callable[[CatalogQuery], object]]:
    """The dense search, the engine with each of the filters, and whole answers."""
    catalog = services.catalog.find(LOCAL_USER)
    index = services.library.open_index()
    assert index is not None  # created by the import

    def dense(query: CatalogQuery) -> object:
        condition = {"source_id": catalog.id}
        return index.passages.similar_ids(query.query_en, NEAREST, filter=condition)

    def ranked(filters: CatalogFilters, query: CatalogQuery) -> object:
        filtered = CatalogQuery(query.question, query.query_en, filters)
        weights = mentioned_weights(query.aspect_weights, {}, catalog.description.aspect_names)
        return services.catalog.engine.search(catalog.id, 5.0, filtered, weights)

    def answer_of(query: CatalogQuery) -> object:
        return deque(services.catalog.search(LOCAL_USER, query.question), maxlen=1)

    engine = {name: partial(ranked, filters) for name, filters in FILTERS.items()}
    return {DENSE: dense, **engine, WHOLE: answer_of}
