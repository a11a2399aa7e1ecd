"""Many clients asking the API at once: added time to the first token, and memory growth.

The library has 10,000 passages and uses the built-in embedding. The scripted chat model and the
clients run in one process each, on the same machine and cores.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.afresh import ROOT, call_afresh
from benchmarks.measure import Report, Times
from benchmarks.page_opening import free_port, wait_until_healthy
from benchmarks.processes import Sample, Watch
from benchmarks.texts import texts_and_questions

SMALL = {"passages": 40, "clients": 4, "seconds": 3.0, "tokens": 5}
FIRST_S, GAP_S, TOKENS = 0.5, 1 / 30, 100
"""A hosted model of middling speed: half a second to its first token, then 30 a second."""
BOUND_MS = 250.0
BURST_S = 1.0
STARTS_WITHIN_S = 120.0
PASSAGE_CHARS = 900
SAMPLED_S = 1.0
AROUND_S = 20.0


def measure(
    *,
    cache: str,
    passages: int = 10_000,
    clients: int = 32,
    seconds: float = 620.0,
    tokens: int = TOKENS,
    processes: int = 4,
) -> Report:
    about = (
        f"{clients} clients over server-sent events for {seconds:.0f} s, {processes} processes of"
        f" the API, {passages:,} passages; the model takes {FIRST_S} s to the first of about"
        f" {tokens} tokens"
    )
    report = Report("API", about)
    with TemporaryDirectory(prefix="footnote-api-") as folder:
        library = call_afresh("benchmarks.api:fill", folder=folder, cache=cache, passages=passages)
        report.note([library["about"]])
        with serving(Path(folder), tokens, processes) as (url, pid):
            watch = Watch([pid], SAMPLED_S)
            results = call_afresh(
                "benchmarks.api_clients:ask_for",
                url=url,
                secret=library["secret"],
                questions=library["questions"],
                clients=clients,
                seconds=seconds,
            )
            watch.end()
    _tell_times(report, results)
    _tell_memory(report, watch.samples, seconds)
    return report


def fill(folder: str, cache: str, passages: int) -> dict[str, Any]:
    """Import `passages` one-passage documents; the secret of an API key, and questions."""
    from bootstrap import build_services
    from domain import LOCAL_USER, ApiScope
    from settings import Settings

    texts, questions, about = texts_and_questions(passages, 200)
    documents, data_dir = Path(folder) / "documents", Path(folder) / "data"
    documents.mkdir()
    data_dir.mkdir()
    (data_dir / "cache").symlink_to(cache)
    for n, text in enumerate(texts):
        (documents / f"{n:05}.txt").write_text(text[:PASSAGE_CHARS], encoding="utf-8")
    services = build_services(Settings(data_dir=data_dir, _env_file=None))
    services.directories.import_directory(LOCAL_USER, documents)
    secret = services.api_keys.create(LOCAL_USER, LOCAL_USER, "benchmark", [ApiScope.ASK]).secret
    return {"secret": secret, "questions": questions, "about": about}


@contextmanager
def serving(folder: Path, tokens: int, processes: int) -> Iterator[tuple[str, int]]:
    """The API over that folder, with the scripted model: its base URL and first process id."""
    model, port = free_port(), free_port()
    script = ["benchmarks.api_model", model, FIRST_S, GAP_S, tokens]
    api = ["cli", "api", "--port", port, "--data-dir", folder / "data", "--processes", processes]
    environment = {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{model}/v1",
        "FOOTNOTE_CHAT_MODEL": "scripted",
        "FOOTNOTE_API_REQUESTS_PER_MINUTE": "100000",
    }
    with _running(script, {}), _running(api, environment) as pid:
        url = f"http://127.0.0.1:{port}"
        wait_until_healthy(f"{url}/api/v1/ready", STARTS_WITHIN_S)
        yield url, pid


@contextmanager
def _running(module: Sequence[Any], environment: Mapping[str, str]) -> Iterator[int]:
    command = [sys.executable, "-m", *map(str, module)]
    process = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | environment, stdout=subprocess.DEVNULL
    )
    try:
        yield process.pid
    finally:
        process.terminate()
        process.wait(timeout=30)


def _around(samples: Sequence[Sample], second: float) -> float:
    """The memory near that second after the first sample: the median, in MiB."""
    near = (one for one in samples if abs(one.at - samples[0].at - second) <= AROUND_S)
    return median(sum(usage.rss for usage in one.usage.values()) for one in near)


def _tell_times(report: Report, results: Mapping[str, Any]) -> None:
    added = Times([milliseconds for _, milliseconds in results["added"]])
    burst = Times([milliseconds for at, milliseconds in results["added"] if at < BURST_S])
    report.ratio("added to the first token, p95 / bound", added.p95 / BOUND_MS)
    report.add("answers", len(results["added"]), "")
    report.add("answers that failed", sum(results["failed"].values()), "")
    report.add("added to the first token, p50", added.p50, "ms")
    report.add("added to the first token, p95", added.p95, "ms")
    report.add("of those asked all at once at the start, p50", burst.p50, "ms")
    report.add("of those asked all at once at the start, p95", burst.p95, "ms")
    report.note(f"failed, {times} times: {what}" for what, times in results["failed"].items())


def _tell_memory(report: Report, samples: Sequence[Sample], seconds: float) -> None:
    first, last = min(60.0, seconds / 3), min(600.0, seconds)
    before, after = _around(samples, first), _around(samples, last)
    report.ratio(f"memory at {last:.0f} s / at {first:.0f} s", after / before)
    report.add(f"memory of the API at {first:.0f} s", before, "MiB")
    report.add(f"memory of the API at {last:.0f} s", after, "MiB")
