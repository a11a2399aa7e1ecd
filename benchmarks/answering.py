"""Time of a warm question without a chat model, from the typed question to the stored answer.

The library holds the sample documents, embedded by the built-in model, and additional passages of
their lines shuffled within each language, with random vectors. The questions are those of the
evaluation set, in three languages, including follow-ups.
"""

import random
import shutil
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from langchain_core.documents import Document

from benchmarks.afresh import ROOT
from benchmarks.ask import seconds_of
from benchmarks.measure import Report, Times
from benchmarks.memory import import_made_up, prepare_model
from bootstrap import Services, build_services
from domain import LOCAL_USER, NEVER_IMPORTED, DocumentRef, PreviousImport
from domain.language.script import script_of
from services.evaluation.sample_evaluation import SampleQuestion, load_sample_questions
from settings import Settings

SAMPLES = ROOT / "samples" / "documents"
QUESTIONS = ROOT / "samples" / "questions"
SECTIONS_PER_DOCUMENT = 10
SECTION_CHARS = 500
WARM_UP = 12
BOUND_MS = 400
SMALL = {"size": 100, "every": 40}


def measure(*, cache: str, size: int = 10_000, every: int = 1) -> Report:
    report = Report(
        "A warm question without a chat model",
        "condensing, spelling, the default search mode, choice of sentences with the built-in "
        "embedding, decision, checked citations and the stored turn; the questions of the "
        f"evaluation set over the sample documents and {size:,} passages made of their lines",
    )
    prepare_model(cache)
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        shutil.copytree(cache, data / "cache")
        samples = ["cli.py", "import", str(SAMPLES), "--data-dir", str(data)]
        seconds_of(samples, Path(folder) / "compiled")
        import_made_up(str(data), ShuffledDocuments(size))
        services = build_services(Settings(data_dir=data, _env_file=None))
        times = ask_all(services, load_sample_questions(QUESTIONS)[::every])
    for language, each in times.items():
        report.add(f"{language}: p50 of {len(each.milliseconds)} questions", each.p50, "ms")
        report.add(f"{language}: p95", each.p95, "ms")
    report.ratio(f"p95 of all / the bound of {BOUND_MS} ms", times["all"].p95 / BOUND_MS)
    return report


def ask_all(services: Services, questions: Sequence[SampleQuestion]) -> Mapping[str, Times]:
    """Times by language and in total, after a few warm-up questions."""
    services.warm_up()
    for question in questions[:: max(1, len(questions) // WARM_UP)]:
        services.chat.ask(LOCAL_USER, question.question)
    times: dict[str, list[float]] = defaultdict(list)
    for question in questions:
        for milliseconds in milliseconds_of_turns(services, question):
            times[question.language].append(milliseconds)
            times["all"].append(milliseconds)
    return {language: Times(each) for language, each in times.items()}


def milliseconds_of_turns(services: Services, question: SampleQuestion) -> Iterator[float]:
    """The time of the question, without the earlier questions of its conversation."""
    conversation = None
    for text in (*question.history, question.question):
        started = time.perf_counter()
        turn = services.chat.ask(LOCAL_USER, text, conversation)
        yield (time.perf_counter() - started) * 1000
        conversation = turn.conversation_id


class ShuffledDocuments:
    """A loader of generated sections, each of the samples' lines in one language."""

    reads_without_listing = False

    def __init__(self, sections: int) -> None:
        self._documents = sections // SECTIONS_PER_DOCUMENT
        self._lines = list(lines_by_script().values())
        self._random = random.Random(0)

    def list(self, previous: PreviousImport = NEVER_IMPORTED) -> Iterator[DocumentRef]:  # noqa: ARG002  # all is new
        """Every document."""
        for number in range(self._documents):
            yield DocumentRef(f"{number:05}.md", "1", f"/made-up/{number:05}.md")

    def read(self, ref: DocumentRef) -> Document:
        """Sections about as long as a short passage."""
        lines = self._lines[int(ref.key[:5]) % len(self._lines)]
        sections = [
            f"## {self._random.choice(lines)[:40]}\n\n{self._section(lines)}"
            for _ in range(SECTIONS_PER_DOCUMENT)
        ]
        return Document("\n\n".join(sections), metadata={"title": ref.key, "format": "md"})

    def _section(self, lines: Sequence[str]) -> str:
        chosen = ""
        while len(chosen) < SECTION_CHARS:
            chosen += self._random.choice(lines) + "\n"
        return chosen


def lines_by_script() -> Mapping[str, Sequence[str]]:
    """Text lines of the samples' Markdown files, without headings and tables."""
    found: dict[str, list[str]] = defaultdict(list)
    for file in sorted(SAMPLES.glob("*.md")):
        lines = file.read_text(encoding="utf-8").splitlines()
        prose = [line for line in lines if len(line) > 20 and line[0] not in "#|`"]
        found[script_of(" ".join(prose))] += prose
    return found
