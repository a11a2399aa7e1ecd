"""Resident memory: the idle command line, and services over libraries of several sizes.

The libraries are imported with random vectors in place of the model and then opened in a new
process that asks some questions. These load the model, the matrix, and both indexes, and build
the codes of a large library.
"""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from benchmarks.afresh import call_afresh
from benchmarks.measure import Report, resident_mib
from domain import LOCAL_USER, NEVER_IMPORTED, DocumentRef, PreviousImport

if TYPE_CHECKING:
    from services.imports.import_plan import Loader

DIMENSION = 384
PASSAGES_PER_DOCUMENT = 10
WORDS = 60
VOCABULARY = 20_000
QUESTION = "Which of word1 and word2 is meant?"
SMALL = {"sizes": [200]}


def measure(*, cache: str, sizes: Sequence[int] = (10_000, 100_000)) -> Report:
    report = Report(
        "Resident memory",
        f"each line is a separate process; passages of {WORDS} words, {DIMENSION} dimensions; "
        '"matrix" is the size of the vectors',
    )
    if not resident_mib():
        report.notes.append("not measured: this system doesn't tell a process its memory")
        return report
    call_afresh("benchmarks.memory:prepare_model", cache=cache)
    bare = call_afresh("benchmarks.measure:resident_mib")
    idle = call_afresh("benchmarks.memory_idle:command_line")
    report.add("Python alone", bare, "MiB")
    report.add("command line, before any question", idle, "MiB")
    loaded = [measure_library(report, size, cache) for size in sizes]
    matrices = [matrix_mib(size) for size in sizes]
    for size, resident, matrix in zip(sizes, loaded, matrices, strict=True):
        report.ratio(f"{size:,}: services / matrix", resident / matrix)
    if len(sizes) > 1:
        growth = (loaded[-1] - loaded[0]) / (matrices[-1] - matrices[0])
        report.ratio(f"growth from {sizes[0]:,} to {sizes[-1]:,} / growth of the matrix", growth)
    return report


def measure_library(report: Report, size: int, cache: str) -> float:
    """Resident MiB of services after answering questions over a library of that size."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(cache, Path(place) / "data" / "cache")
        call_afresh("benchmarks.memory:fill", data_dir=f"{place}/data", size=size)
        memory = call_afresh("benchmarks.memory_idle:services", data_dir=f"{place}/data")
    report.add(f"{size:,}: matrix", matrix_mib(size), "MiB")
    report.add(f"{size:,}: services, before any question", memory["idle"], "MiB")
    report.add(f"{size:,}: services, after the questions", memory["after_questions"], "MiB")
    report.add(f"{size:,}: peak until then", memory["peak"], "MiB")
    return float(memory["after_questions"])


def matrix_mib(size: int) -> float:
    return size * DIMENSION * 4 / 1024 / 1024


def prepare_model(cache: str) -> None:
    """Build the model's graph once in another process, since building takes memory too."""
    from models.builtin import BuiltinEmbeddings
    from models.builtin_models import MODELS, default_model

    model = MODELS[default_model()]
    BuiltinEmbeddings(model(Path(cache)), Path(cache)).embed_query(QUESTION)


class RandomVectors(Embeddings):
    """A fast stand-in for an embedding model."""

    def __init__(self) -> None:
        self._rng = np.random.default_rng(0)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Random numbers, whatever the texts are."""
        vectors: list[list[float]] = self._rng.standard_normal((len(texts), DIMENSION)).tolist()
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Random numbers, whatever the question is."""
        return self.embed_documents([text])[0]


class MadeUpDocuments:
    """A loader of that many passages, ten to a document."""

    reads_without_listing = False

    def __init__(self, passages: int) -> None:
        self._documents = passages // PASSAGES_PER_DOCUMENT
        self._rng = np.random.default_rng(0)

    def list(self, previous: PreviousImport = NEVER_IMPORTED) -> Iterator[DocumentRef]:  # noqa: ARG002  # all is new
        """Every document."""
        for number in range(self._documents):
            yield DocumentRef(f"{number:06}.md", "1", f"/made-up/{number:06}.md")

    def read(self, ref: DocumentRef) -> Document:
        """Ten sections of words with a Zipf distribution."""
        numbers = self._rng.zipf(1.3, size=(PASSAGES_PER_DOCUMENT, WORDS)) % VOCABULARY
        sections = [
            f"## Section {number}\n\n" + " ".join(f"word{word}" for word in words)
            for number, words in enumerate(numbers)
        ]
        return Document("\n\n".join(sections), metadata={"title": ref.key, "format": "md"})


def fill(data_dir: str, size: int) -> int:
    """Import that many passages into a new library with the built-in embedding."""
    embedded = import_made_up(data_dir, MadeUpDocuments(size))
    if embedded != size:
        raise SystemExit(f"{embedded} passages instead of {size}")
    return embedded


def import_made_up(data_dir: str, loader: "Loader", database_url: str | None = None) -> int:
    """Import into a library with random vectors; returns the number of passages."""
    from loaders.formats import FORMATS_VERSION
    from loaders.split import SPLITTER_VERSION
    from models.embedding_choice import EmbeddingSpec, fingerprint
    from services.access import Access
    from services.imports.import_service import ImportService
    from storage.index_stores import IndexStores
    from storage.ledger.database import open_database
    from storage.ledger.index_store import IndexSpec
    from storage.ledger.restriction_store import Restrictions
    from storage.ledger.source_store import Sources

    spec = EmbeddingSpec()
    target = IndexSpec(spec.stored(), fingerprint(spec), SPLITTER_VERSION, 1000, 150)
    database = open_database(Path(data_dir), database_url)
    stores = IndexStores(Path(data_dir), lambda _stored: RandomVectors())
    access = Access(Sources(database), Restrictions(database))
    source = access.sources.ensure("directory", "/made-up", name="made-up")
    imports = ImportService(database, access, stores, target, FORMATS_VERSION)
    report = imports.run(LOCAL_USER, source, loader)
    database.close()
    if report.message:
        raise SystemExit(report.message)
    return report.passages_embedded
