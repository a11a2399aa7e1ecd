"""How long one person's upload waits while a large import of another person runs.

python -m benchmarks.import_turns                       # 1,000 documents, turns of 30 s

A large import and, a moment later, an upload of one file are performed by one worker: first without
turns, as if each import ran to its end, and then with them. The figures are the seconds from the
upload until its file is found, and those of both imports together. The exit code is 1 if the upload
with turns waits longer than one turn, the embedding of one batch, and its own import.
"""

import argparse
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Report, machine
from benchmarks.show import as_text
from bootstrap import Services
from domain import ImportState, Principal, Role, SearchMode
from services.imports.import_turn import TURN_S
from settings import Settings

ANNA = Principal("anna", role=Role.EDITOR)
BERT = Principal("bert", role=Role.EDITOR)
ENDLESS = float("inf")
WORDS = "zebra quokka ocelot"
BATCH_S = 15.0
"""A generous bound of the time for one batch and the small import on a machine with two cores."""


class Waits(NamedTuple):
    """Seconds from the upload until its file is found, and until both imports have ended."""

    upload: float
    both: float


def main() -> int:
    """Print the report; 1 if the bound is exceeded."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.import_turns", description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000)
    parser.add_argument("--turn", type=float, default=TURN_S, help="seconds of a turn")
    options = parser.parse_args()
    before = measure(options.documents, ENDLESS)
    after = measure(options.documents, options.turn)
    report = Report(
        "Turns of imports",
        f"{options.documents:,} documents of one person, and a file of another person that is"
        f" uploaded 2 s later; one worker; turns of {options.turn:g} s",
    )
    report.ratio("wait of the upload, without turns / with turns", before.upload / after.upload)
    report.ratio("both imports, with turns / without turns", after.both / before.both)
    for name, waits in (("without turns", before), ("with turns", after)):
        report.add(f"{name}: until the upload is found", waits.upload, "s")
        report.add(f"{name}: until both imports have ended", waits.both, "s")
    print(as_text(machine(), [report]))
    return 0 if after.upload <= options.turn + BATCH_S else 1


def measure(documents: int, turn_s: float) -> Waits:
    """Import the documents and upload a file meanwhile, in a new library."""
    with tempfile.TemporaryDirectory(prefix="footnote-turns-") as name:
        write_documents(Path(name) / "site", documents)
        services = Services(Settings(data_dir=Path(name) / "data", _env_file=None))
        services.worker.turn_s = turn_s
        stop = threading.Event()
        worker = threading.Thread(target=services.worker.run, args=(stop,))
        worker.start()
        try:
            return wait(services, Path(name) / "site")
        finally:
            stop.set()
            worker.join()


def write_documents(folder: Path, number: int) -> None:
    """Documents of a few passages each."""
    folder.mkdir()
    for n in range(number):
        paragraphs = (f"Rule {m} of page {n} says to keep it short. " * 8 for m in range(4))
        (folder / f"{n:05}.md").write_text("\n\n".join(paragraphs), encoding="utf-8")


def wait(services: Services, folder: Path) -> Waits:
    """Start the imports and wait for them."""
    source = services.source_kinds.get("directory").add(ANNA, {"path": str(folder)}).source
    large = services.queue.enqueue(ANNA, source.id).id
    while not services.queue.get(ANNA, large).progress:
        time.sleep(0.1)
    time.sleep(2)
    began = time.monotonic()
    box = services.uploads.add(BERT, [("animals.md", WORDS.encode())], box="Animals").source_id
    services.queue.enqueue(BERT, str(box))
    while not is_found(services):
        time.sleep(0.2)
    upload = time.monotonic() - began
    while not (run := services.queue.get(ANNA, large)).ended:
        time.sleep(0.2)
    if run.state is not ImportState.COMPLETED:
        raise SystemExit(f"the large import ended in the state {run.state}: {run.message}")
    return Waits(upload, time.monotonic() - began)


def is_found(services: Services) -> bool:
    """Whether a search finds the uploaded file."""
    hits = services.search.search(BERT, WORDS, k=1, mode=SearchMode.BM25)
    return any("zebra" in hit.page_content for hit in hits)


if __name__ == "__main__":
    sys.exit(main())
