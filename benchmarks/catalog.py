"""Questions about a large catalog without model time: embedding costs next to nothing.

The catalog is imported and searched through the real services, without chat model and
cross-encoder. The baseline is what NumPy needs to compare a question with as many vectors.
"""

import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from langchain_core.embeddings import Embeddings

from benchmarks.catalog_data import DIMENSION, SAMPLE, WordVectors, write_catalog
from benchmarks.measure import Clocks, Report, compare_clocks
from bootstrap import Services
from bootstrap.parts import Parts
from domain import LOCAL_USER, CatalogFilters, CatalogQuery
from services.catalog.preferences import mentioned_weights
from services.evaluation.catalog_figures import load_catalog_questions
from settings import Settings

NEAREST = 60
LIMIT = 16
"""The maximum p95 of a whole answer, as a multiple of NumPy's p50, both in processor time.

This is stricter than 150 ms on a machine where the exact dense search took 7.6 ms: 20 times.
"""
Search = Callable[[CatalogQuery], object]
Matrix = npt.NDArray[np.float32]
SMALL = {"places": 60, "questions": 5}
FILTERS = {
    "all places": CatalogFilters(),
    "one type desired": CatalogFilters(desired_types=("italian_restaurant",)),
    "a borough, a quarter of all": CatalogFilters({"borough_en": "Queens"}),
    "a borough and a rating, few": CatalogFilters({"borough_en": "Queens"}, None, 4.0),
    "a rating, nine of ten places": CatalogFilters(min_rating=2.9),
}
NUMPY = f"NumPy alone, best {NEAREST} of as many vectors"
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
        alone: Search = partial(nearest_by_numpy, random_vectors(places + reviews))
        contenders = {NUMPY: alone, **searches(services)}
        queries = analyzed_questions(services, questions)
        report = Report(
            "Catalog search",
            f"{places:,} places with {reviews:,} reviews, {DIMENSION} dimensions; {len(queries)} "
            "labeled questions in three languages, twice, warm, one thread; vectors are made of "
            "words in no time, no chat model, no cross-encoder",
        )
        add_times(report, compare_clocks(contenders, queries))
    return report


def add_times(report: Report, times: Mapping[str, Clocks]) -> None:
    """A table of all times, and the processor times as multiples of NumPy's p50."""
    numpy = times[NUMPY].processor.p50
    rows: list[list[str | float | None]] = [
        [name, *(ms for clock in each for ms in (clock.p50, clock.p95))]
        for name, each in times.items()
    ]
    columns = ["p50 ms", "p95 ms", "p50 ms, processor", "p95 ms, processor"]
    report.table(report.title, ["", *columns], rows)
    for name in (DENSE, *FILTERS, WHOLE):
        processor = times[name].processor
        report.ratio(f"{name}: p50 / NumPy's p50", processor.p50 / numpy)
        report.ratio(f"{name}: p95 / NumPy's p50", processor.p95 / numpy)
    whole = times[WHOLE].processor.p95
    report.ratio(f"{WHOLE}: p95 / its limit, {LIMIT} times NumPy's p50", whole / (LIMIT * numpy))


def random_vectors(rows: int) -> Matrix:
    return np.random.default_rng(0).standard_normal((rows, DIMENSION), dtype=np.float32)


def nearest_by_numpy(vectors: Matrix, _query: CatalogQuery) -> object:
    """The rows nearest to the first one, best first; the time is the same for every query."""
    scores = np.vecdot(vectors, vectors[0])
    nearest = np.argpartition(-scores, NEAREST)[:NEAREST]
    return nearest[np.argsort(-scores[nearest])]


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


def searches(services: Services) -> dict[str, Search]:
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
