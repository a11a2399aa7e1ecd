"""A folder imported end to end with the built-in embedding, against embedding alone.

Embedding is the bound: an import cannot be faster than its model. The documents are Markdown with
sentences of the sample handbook in random order.
"""

import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any

import services.imports.new_version
from benchmarks.afresh import ROOT
from benchmarks.measure import Report
from bootstrap import build_services
from domain import LOCAL_USER, ImportState
from loaders.directory_loader import DirectoryLoader
from models.builtin import BuiltinEmbeddings
from models.builtin_models import MODELS, default_model
from settings import Settings
from storage.keywords.keyword_index import KeywordIndex
from storage.ledger.ledger import Ledger
from storage.vectors.passage_store import DeepLakePassages

HANDBOOK = ROOT / "samples" / "documents"
SECTIONS = 10
SECTION_WORDS = 120
SAMPLE = 400
ROUNDS = 2
EMBEDDING = "embedding"
STAGES: list[tuple[str, Any, str]] = [
    ("reading files", DirectoryLoader, "read"),
    ("splitting", services.imports.new_version, "split_document"),
    (EMBEDDING, BuiltinEmbeddings, "embed_documents"),
    ("writing passages", DeepLakePassages, "add_vectors"),
    ("writing the keyword index", KeywordIndex, "add"),
    ("writing the ledger", Ledger, "stage"),
    ("writing the ledger", Ledger, "commit"),
]
SMALL = {"documents": 2}


@dataclass
class Stopwatch:
    """Seconds by stage; `texts` are the embedded texts."""

    seconds: dict[str, float] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Time every call of each stage's function in this process."""
        with ExitStack() as stack:
            for stage, owner, name in STAGES:
                original = getattr(owner, name)
                setattr(owner, name, self._timed(stage, original))
                stack.callback(setattr, owner, name, original)
            yield

    def _timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if stage == EMBEDDING:
                self.texts += args[1]
            started = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                elapsed = time.perf_counter() - started
                self.seconds[stage] = self.seconds.get(stage, 0.0) + elapsed

        return timed


def measure(*, cache: str, documents: int = 500) -> Report:
    default_embeddings(Path(cache)).embed_query("The graph is built before, once for ever.")
    with tempfile.TemporaryDirectory() as place:
        folder, data_dir = Path(place) / "documents", Path(place) / "data"
        write_documents(folder, documents)
        shutil.copytree(cache, data_dir / "cache")
        watch = Stopwatch()
        with watch.watching():
            first = seconds_of_import(data_dir, folder)
        again_s = seconds_of_import(data_dir, folder)
        by_command = seconds_of_command(data_dir, folder)
    alone = seconds_of_embedding(Path(cache), watch.texts)
    return add_figures(documents, watch, first, again_s, by_command, alone)


def add_figures(
    documents: int,
    watch: Stopwatch,
    first: float,
    again_s: float,
    by_command: float,
    alone: float,
) -> Report:
    count = len(watch.texts)
    report = Report(
        "Import",
        f"{documents} Markdown files, {count:,} passages of {SECTION_WORDS} words, built-in "
        "embedding on all cores; the time of embedding alone is extrapolated from "
        f"{min(SAMPLE, count)} of them",
    )
    report.ratio("import / embedding the same passages alone", first / alone)
    report.ratio("import / the embedding within it", first / watch.seconds[EMBEDDING])
    report.ratio("second run, no changes / first run", 100 * again_s / first, "%")
    label = "second run as a command, including the start of Python / first run"
    report.ratio(label, 100 * by_command / first, "%")
    for stage, seconds in watch.seconds.items():
        report.ratio(f"share of {stage}", 100 * seconds / first, "%")
    rest = first - sum(watch.seconds.values())
    report.ratio(
        "share of everything else (listing, hashing, garbage collection, startup)",
        100 * rest / first,
        "%",
    )
    report.add("first run", first, "s")
    report.add("passages per second", count / first, "/s")
    report.add("second run", again_s, "s")
    report.add("second run as a command", by_command, "s")
    report.add("embedding alone, texts per second", count / alone, "/s")
    return report


def write_documents(folder: Path, documents: int) -> None:
    """Files of ten sections, each of which makes one passage."""
    folder.mkdir()
    rng = random.Random(0)
    sentences = handbook_sentences()
    for number in range(documents):
        parts = [f"# Document {number}"]
        for section in range(SECTIONS):
            parts += [f"## Section {section} of {number}", prose(rng, sentences)]
        (folder / f"{number:05}.md").write_text("\n\n".join(parts), encoding="utf-8")


def handbook_sentences() -> list[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(HANDBOOK.glob("**/*.md")))
    lines = [line for line in text.splitlines() if line.isascii() and line[:1].isalpha()]
    sentences = re.split(r"(?<=[.!?])\s+", " ".join(lines))
    return [sentence for sentence in sentences if len(sentence.split()) >= 4]


def prose(rng: random.Random, sentences: list[str]) -> str:
    words: list[str] = []
    while len(words) < SECTION_WORDS:
        words += rng.choice(sentences).split()
    return " ".join(words[:SECTION_WORDS])


def seconds_of_import(data_dir: Path, folder: Path) -> float:
    started = time.perf_counter()
    # Default settings, without the .env of this folder.
    services = build_services(Settings(data_dir=data_dir, _env_file=None))
    report = services.directories.import_directory(LOCAL_USER, folder)
    if report.state is not ImportState.COMPLETED:
        raise SystemExit(f"the import ended {report.state}: {report.message}")
    return time.perf_counter() - started


def seconds_of_command(data_dir: Path, folder: Path) -> float:
    command = [sys.executable, "cli.py", "import", str(folder), "--data-dir", str(data_dir)]
    started = time.perf_counter()
    subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def default_embeddings(cache: Path) -> BuiltinEmbeddings:
    """The model with which an import embeds unless the settings name another."""
    return BuiltinEmbeddings(MODELS[default_model()](cache), cache)


def seconds_of_embedding(cache: Path, texts: list[str]) -> float:
    """Time of the model alone for all texts: the best round over an even sample."""
    some = texts[:: max(1, len(texts) // SAMPLE)]
    model = default_embeddings(cache)
    model.embed_query("Loads the model.")
    rounds = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        model.embed_documents(some)
        rounds.append(time.perf_counter() - started)
    return min(rounds) * len(texts) / len(some)
