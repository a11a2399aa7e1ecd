"""How long an import takes to stop after it is canceled, at each stage.

    python -m benchmarks.cancel

A worker process like the one that `serve` runs reads a PDF that takes minutes, embeds one long
text, and reads many short ones; each import is canceled midway.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bootstrap
from domain import LOCAL_USER, Stage
from settings import load_settings

ROOT = Path(__file__).parent.parent
START_S = 120


def slow_pdf(path: Path, lines: int = 400_000) -> None:
    """One page with so many lines that extracting them takes minutes."""
    drawn = b"\n".join(
        b"BT /F1 9 Tf 40 %d Td (line %d of many) Tj ET" % (n, n) for n in range(lines)
    )
    bodies = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R"
        b"/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n" % len(drawn) + drawn + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, start=1):
        offsets.append(len(data))
        data += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(data)
    data += b"xref\n0 6\n0000000000 65535 f \n" + table
    path.write_bytes(data + b"trailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % start)


def long_text(path: Path) -> None:
    path.write_text("\n\n".join(f"Rule {n} says to keep it short. " * 20 for n in range(2000)))


def short_texts(folder: Path) -> None:
    for n in range(400):
        (folder / f"{n:03}.md").write_text(f"# Page {n}\n\n" + f"The rule of page {n}. " * 30)


CASES = {
    "reading a PDF": (Stage.READING, lambda folder: slow_pdf(folder / "slow.pdf")),
    "embedding a text": (Stage.EMBEDDING, lambda folder: long_text(folder / "long.txt")),
    "many documents": (Stage.EMBEDDING, short_texts),
}


def measure(services: bootstrap.Services, folder: Path, stage: Stage) -> tuple[str, float]:
    """Import the folder and cancel in that stage; the final state, and seconds until then."""
    kind = services.source_kinds.get("directory")
    source = kind.add(LOCAL_USER, {"path": str(folder)}).source
    job = services.queue.enqueue(LOCAL_USER, source.id)
    deadline = time.monotonic() + START_S
    while not (job.progress and job.progress.stage is stage):
        if time.monotonic() > deadline or job.ended:
            raise SystemExit(f"{folder.name}: never came to {stage}: {job}")
        time.sleep(0.02)
        job = services.queue.get(LOCAL_USER, job.id)
    time.sleep(1)
    began = time.monotonic()
    services.queue.cancel(LOCAL_USER, job.id)
    while not (job := services.queue.get(LOCAL_USER, job.id)).ended:
        time.sleep(0.01)
    return job.state, time.monotonic() - began


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="footnote-cancel-") as name:
        data_dir = Path(name) / "data"
        services = bootstrap.build_services(load_settings(data_dir=data_dir))
        for case, (stage, write) in CASES.items():
            folder = Path(name) / case.replace(" ", "-")
            folder.mkdir()
            write(folder)
            command = [sys.executable, "cli.py", "worker", "--supervised"]
            environment = os.environ | {"FOOTNOTE_DATA_DIR": str(data_dir)}
            with subprocess.Popen(command, cwd=ROOT, env=environment) as worker:
                state, seconds = measure(services, folder, stage)
                worker.terminate()
            print(f"{case}: {state} after {seconds:.2f} s")


if __name__ == "__main__":
    main()
