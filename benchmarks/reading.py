"""The cost of reading documents in a process of their own, against reading them in the importer.

Both import the same ordinary files with the built-in embedding, in turns, each time in a new
process and into a new library.
"""

import json
import random
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.afresh import call_afresh
from benchmarks.import_run import (
    default_embeddings,
    handbook_sentences,
    prose,
    seconds_of_import,
)
from benchmarks.measure import Report, peak_mib

DIRECT, ISOLATED = "in the importing process", "in a process of their own"
SECTIONS = 5
SMALL = {"files": 1, "rounds": 1}


def measure(*, cache: str, files: int = 2, rounds: int = 3) -> Report:
    default_embeddings(Path(cache)).embed_query("Builds the graph once.")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "documents"
        write_files(folder, files)
        sizes = [file.stat().st_size for file in folder.iterdir()]
        runs: dict[str, list[dict[str, float]]] = {DIRECT: [], ISOLATED: []}
        for _ in range(rounds):
            for way, figures in runs.items():
                figures.append(run(cache, folder, is_direct=way == DIRECT))
    return report_of(runs, len(sizes), sum(sizes))


def run(cache: str, folder: Path, *, is_direct: bool) -> dict[str, float]:
    """The figures of one import into a new library, in a new process."""
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(cache, Path(place) / "cache")
        figures: dict[str, float] = call_afresh(
            "benchmarks.reading:import_files",
            data_dir=place,
            folder=str(folder),
            is_direct=is_direct,
        )
        return figures


def import_files(data_dir: str, folder: str, *, is_direct: bool) -> dict[str, float]:
    """Import the folder, and return seconds and MiB; called in a new process."""
    from loaders import directory_loader, document_reader, formats

    read = formats.read_document if is_direct else document_reader.read_document
    reading: list[float] = []
    peaks = [0.0]

    def timed(name: str, data: bytes) -> Any:
        started = time.perf_counter()
        try:
            return read(name, data)
        finally:
            reading.append(time.perf_counter() - started)
            if not is_direct:
                peaks.append(peak_of_reader(document_reader.DOCUMENTS))

    directory_loader.read_document = timed  # type: ignore[assignment]
    total = seconds_of_import(Path(data_dir), Path(folder))
    return {
        "import": total,
        "reading": sum(reading),
        "first": reading[0],
        "peak": peak_mib(),
        "child": max(peaks),
    }


def peak_of_reader(reader: Any) -> float:
    """The peak resident memory of the process that reads, in MiB."""
    lines = Path(f"/proc/{reader._child._process.pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def report_of(runs: dict[str, list[dict[str, float]]], count: int, size: int) -> Report:
    report = Report(
        "Reading documents in a process of their own",
        f"{count} files (md, html, csv, json, docx, xlsx, pptx, pdf; {size / 2**20:.1f} MiB), "
        f"{len(runs[DIRECT])} imports each, in turns; medians",
    )
    pairs = zip(runs[ISOLATED], runs[DIRECT], strict=True)
    ratios = [one["import"] / other["import"] for one, other in pairs]
    report.ratio("import, process / direct", median(ratios))
    report.ratio("import, process / direct, highest", max(ratios))
    reading = {way: middle(figures, "reading") for way, figures in runs.items()}
    report.ratio("reading alone, process / direct", reading[ISOLATED] / reading[DIRECT])
    for way, figures in runs.items():
        report.add(f"import, {way}", middle(figures, "import"), "s")
        report.add(f"first file, {way}", middle(figures, "first") * 1000, "ms")
        report.add(f"all files, {way}", reading[way] * 1000 / count, "ms per file")
        report.add(f"peak memory of the importing process, {way}", middle(figures, "peak"), "MiB")
    report.add("peak memory of the process that reads", middle(runs[ISOLATED], "child"), "MiB")
    return report


def middle(figures: Sequence[dict[str, float]], name: str) -> float:
    return median(one[name] for one in figures)


def write_files(folder: Path, files: int) -> None:
    """So many files of each format, each with sections of its own."""
    from tests.loaders.formats.files import docx_file, html_page, pdf_file, pptx_file, xlsx_file

    folder.mkdir()
    rng, sentences = random.Random(0), handbook_sentences()
    for number in range(files):
        texts = [prose(rng, sentences) for _ in range(SECTIONS)]
        rows = [["number", "text"], *([str(n), text] for n, text in enumerate(texts))]
        pages = ["# Page\n" + "\n".join(lines_of(text)) for text in texts]
        contents = {
            "md": "\n\n".join(f"## Section\n\n{text}" for text in texts).encode(),
            "html": html_page("".join(f"<h2>Section</h2><p>{text}</p>" for text in texts)),
            "csv": "\n".join(f'{n},"{text}"' for n, text in rows).encode(),
            "json": json.dumps([{"number": n, "text": text} for n, text in rows]).encode(),
            "docx": docx_file(lambda document, texts=texts: [*map(document.add_paragraph, texts)]),
            "xlsx": xlsx_file({"Sheet": rows}),
            "pptx": pptx_file(),
            "pdf": pdf_file(pages),
        }
        for suffix, data in contents.items():
            (folder / f"{number:04}.{suffix}").write_bytes(data)


def lines_of(text: str) -> Iterator[str]:
    words = text.split()
    return (" ".join(words[at : at + 12]) for at in range(0, len(words), 12))
