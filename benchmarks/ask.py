"""Processor time of one question on the command line, no chat model, over the sample documents.

The bound is a process that only imports the libraries which such a question needs. The two take
turns, so that both meet the same weather.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence

from benchmarks.afresh import ROOT, own_environment
from benchmarks.measure import Report

QUESTION = "How many days of annual leave do employees get?"
SMALL = {"rounds": 1}
LIBRARIES = (
    "deeplake, langchain_core.runnables.base, numpy, onnxruntime, pydantic_settings,"
    " sentencepiece, sqlalchemy.orm, tantivy, typer"
)


def measure(*, cache: str, rounds: int = 11) -> Report:
    del cache  # the model is built into the library's own folder
    report = Report(
        "A question on the command line",
        "user and system time of `cli.py ask` with the built-in embedding and no chat model over "
        f"the sample documents, medians of {rounds} processes each; before that, one import and "
        "one question",
    )
    with tempfile.TemporaryDirectory() as folder:
        seconds_of(["cli.py", "import", str(ROOT / "sample_documents"), "--data-dir", folder])
        commands = {
            "question": ["cli.py", "ask", QUESTION, "--data-dir", folder],
            "bound": ["-c", f"import {LIBRARIES}"],
        }
        seconds = in_turns(commands, rounds)
    question, bound = (statistics.median(seconds[name]) for name in commands)
    report.ratio("a question / importing its libraries", question / bound)
    report.add("a question", question, "s")
    report.add("importing its libraries", bound, "s")
    return report


def in_turns(commands: Mapping[str, Sequence[str]], rounds: int) -> dict[str, list[float]]:
    """Processor seconds of each command by round; one round before is a warm-up."""
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds + 1):
        for name, command in commands.items():
            seconds[name].append(seconds_of(command))
    return {name: each[1:] for name, each in seconds.items()}


def seconds_of(arguments: Sequence[str]) -> float:
    """What a Python process with these arguments and its children take of the processor.

    Raises:
        CalledProcessError: It failed; it has printed why.
    """
    before = os.times()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=own_environment(),
        stdout=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    return (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
